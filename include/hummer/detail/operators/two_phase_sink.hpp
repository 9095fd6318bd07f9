// TwoPhaseSinkOperator<T>: lines of text that become visible once, with the checkpoint that they
// belong to: see two_phase_commit.hpp.
//
// Formats records (format.hpp), one per line, into a buffer that is reused, and hands it to a
// TwoPhaseWriter at 64 KiB and before a transaction is prepared.
//
// State: that of TwoPhaseCommit. Errors: those of the writer. A format_record that throws leaves
// out the whole record and `in` at its position. Thread: that of the operator.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <hummer/detail/connector_factories.hpp>
#include <hummer/detail/operators/format_text.hpp>
#include <hummer/detail/operators/two_phase_commit.hpp>
#include <hummer/format.hpp>
#include <hummer/operator.hpp>

namespace hummer {

// What all of them have in common, whatever they format.
class TwoPhaseSinkBase : public Operator {
 public:
  static constexpr std::size_t buffer_bytes = 64 << 10;

  void declare(Output&) const override {}
  Status restore(ByteReader& in) override { return transactions_.restore(in); }
  Status open() override { return transactions_.open(context()); }
  OperatorResult flush(Output&) override;
  OperatorResult end(Output&) override;
  std::vector<StateDescription> states() override { return TwoPhaseCommit::states(); }
  Status snapshot(ByteWriter& out) override;
  Status commit(std::uint64_t epoch) override { return transactions_.commit(epoch); }
  Status close() override;

 protected:
  explicit TwoPhaseSinkBase(std::unique_ptr<TwoPhaseWriter> writer) : writer_(std::move(writer)) {}
  OperatorResult hand_over();

  std::unique_ptr<TwoPhaseWriter> writer_;
  TwoPhaseCommit transactions_{*writer_};
  std::string text_;
};

template <typename T>
class TwoPhaseSinkOperator final : public TwoPhaseSinkBase {
 public:
  explicit TwoPhaseSinkOperator(std::unique_ptr<TwoPhaseWriter> writer)
      : TwoPhaseSinkBase(std::move(writer)) {}

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
  void add(const T& record) {
    if constexpr (std::is_same_v<T, FormattedText>) {
      text_.append(record.text);
      context().count_records(record.records - 1);
    } else {
      format_record(record, text_);
      text_.push_back('\n');
    }
  }
};

}  // namespace hummer
