// TextSinkOperator<T>: the end of a stream as lines of text.
//
// Formats records (format.hpp), one per line, into a buffer that is reused, and
// hands it to a TextWriter at 64 KiB, when the input pauses (idle), when an
// epoch ends (flush), and at the end, before commit. A TextBlock is written as it
// is, with a line end after it where it lacks one; a FormattedText as it is, and it counts as
// the records that it holds. A large one is handed over without a copy.
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
#include <hummer/format.hpp>
#include <hummer/operator.hpp>

namespace hummer {

// What all of them have in common, whatever they format.
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
  explicit TextSinkBase(std::unique_ptr<TextWriter> writer) : writer_(std::move(writer)) {}
  OperatorResult hand_over();

  std::unique_ptr<TextWriter> writer_;
  std::string text_;
};

template <typename T>
class TextSinkOperator final : public TextSinkBase {
 public:
  explicit TextSinkOperator(std::unique_ptr<TextWriter> writer) : TextSinkBase(std::move(writer)) {}

  OperatorResult process(Batch& in, Output&) override {
    const auto records = in.values<T>();
    std::size_t i = in.position();
    std::size_t complete = text_.size();
    try {
      for (; i < records.size(); ++i) {
        if (text_.size() >= buffer_bytes) {
          in.advance_to(i);
          if (const OperatorResult answer = hand_over(); answer != OperatorResult::done)
            return answer;
          complete = 0;
        }
        if constexpr (std::is_same_v<T, FormattedText>) {
          if (records[i].text.size() >= large_bytes) {
            in.advance_to(i);
            if (const OperatorResult answer = hand_over(); answer != OperatorResult::done)
              return answer;
            const OperatorResult answer = writer_->write(records[i].text);
            if (answer != OperatorResult::done) return answer;
            context().count_records(records[i].records - 1);
            complete = 0;
            continue;
          }
        }
        add(records[i]);
        complete = text_.size();
      }
    } catch (...) {
      text_.resize(complete);
      in.advance_to(i);
      throw;
    }
    in.advance_to(i);
    return OperatorResult::done;
  }

 private:
  static constexpr std::size_t large_bytes = 8 << 10;

  void add(const T& record) {
    if constexpr (std::is_same_v<T, FormattedText>) {
      text_.append(record.text);
      context().count_records(record.records - 1);
      return;
    } else {
      format_record(record, text_);
    }
    if constexpr (std::is_same_v<T, TextBlock>) {
      if (record.size == 0 || record.data[record.size - 1] == '\n') return;
    }
    text_.push_back('\n');
  }
};

}  // namespace hummer
