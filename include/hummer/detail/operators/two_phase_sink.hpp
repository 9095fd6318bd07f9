// TwoPhaseSinkOperator: lines of text that become visible once, with the checkpoint that they
// belong to: see two_phase_commit.hpp.
//
// Formats records (format_text.hpp), one per line, into a buffer that is reused, and hands it to a
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
#include <hummer/operator.hpp>

namespace hummer {

class TwoPhaseSinkOperator final : public Operator {
 public:
  static constexpr std::size_t buffer_bytes = 64 << 10;

  TwoPhaseSinkOperator(std::unique_ptr<TwoPhaseWriter> writer, AppendLines append)
      : append_(append), writer_(std::move(writer)) {}

  void declare(Output&) const override {}
  Status restore(ByteReader& in) override { return transactions_.restore(in); }
  Status open() override { return transactions_.open(context()); }
  OperatorResult process(Batch& in, Output&) override;
  OperatorResult flush(Output&) override;
  OperatorResult end(Output&) override;
  std::vector<StateDescription> states() override { return TwoPhaseCommit::states(); }
  Status snapshot(ByteWriter& out) override;
  Status commit(std::uint64_t epoch) override { return transactions_.commit(epoch); }
  Status close() override;

 private:
  OperatorResult hand_over();

  const AppendLines append_;
  std::unique_ptr<TwoPhaseWriter> writer_;
  TwoPhaseCommit transactions_{*writer_};
  std::string text_;
};

}  // namespace hummer
