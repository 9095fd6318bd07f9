// TextSinkOperator: the end of a stream as lines of text.
//
// Formats records (format_text.hpp), one per line, into a buffer that is reused, and
// hands it to a TextWriter at 64 KiB, when the input pauses (idle), when an
// epoch ends (flush), and at the end, before commit. `head` comes ahead of the first record.
//
// FormattedTextSinkOperator takes a FormattedText as it is, and counts the records that it holds. A
// large one is handed over without a copy.
//
// Memory: 64 KiB and one record. When the writer answers `blocked`, the operator
// does, and goes on with the record at in.position().
//
// Errors: those of the writer. A format_record that throws leaves out the whole
// record and `in` at its position. Thread: that of the operator.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <hummer/detail/connector_factories.hpp>
#include <hummer/detail/operators/format_text.hpp>
#include <hummer/operator.hpp>

namespace hummer {

// The part that both have in common.
class TextSinkBase : public Operator {
 public:
  static constexpr std::size_t buffer_bytes = 64 << 10;

  void declare(Output&) const override {}
  Status open() override;
  OperatorResult idle(Output&) override { return hand_over(); }
  OperatorResult flush(Output&) override { return hand_over(); }
  OperatorResult end(Output&) override;
  Status close() override;

 protected:
  TextSinkBase(std::unique_ptr<TextWriter> writer, std::string head)
      : writer_(std::move(writer)), text_(std::move(head)) {}
  OperatorResult hand_over();

  std::unique_ptr<TextWriter> writer_;
  std::string text_;
};

class TextSinkOperator final : public TextSinkBase {
 public:
  TextSinkOperator(std::unique_ptr<TextWriter> writer, AppendLines append, std::string head = {})
      : TextSinkBase(std::move(writer), std::move(head)), append_(append) {}
  OperatorResult process(Batch& in, Output&) override;

 private:
  const AppendLines append_;
};

class FormattedTextSinkOperator final : public TextSinkBase {
 public:
  explicit FormattedTextSinkOperator(std::unique_ptr<TextWriter> writer, std::string head = {})
      : TextSinkBase(std::move(writer), std::move(head)) {}
  OperatorResult process(Batch& in, Output&) override;

 private:
  static constexpr std::size_t large_bytes = 8 << 10;
};

}  // namespace hummer
