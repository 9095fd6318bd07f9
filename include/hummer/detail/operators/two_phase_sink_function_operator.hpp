// TwoPhaseSinkFunctionOperator: runs a TwoPhaseSinkFunction of the user's own
// (hummer/two_phase_sink_function.hpp) by the protocol of TwoPhaseCommit.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include <hummer/detail/operators/two_phase_commit.hpp>
#include <hummer/two_phase_sink_function.hpp>

namespace hummer {

template <StreamType T>
class TwoPhaseSinkFunctionOperator final : public Operator {
 public:
  // `commits_at_end`: no checkpoint will tell it to commit.
  explicit TwoPhaseSinkFunctionOperator(std::unique_ptr<TwoPhaseSinkFunction<T>> sink,
                                        bool commits_at_end = false)
      : sink_(std::move(sink)), commits_at_end_(commits_at_end) {}

  void declare(Output&) const override {}
  Status restore(ByteReader& in) override { return transactions_.restore(in); }
  Status open() override { return transactions_.open(context()); }

  OperatorResult process(Batch& in, Output&) override {
    if (in.finished()) return OperatorResult::done;
    const OperatorResult answer = waiting(sink_->write(in.values<T>().subspan(in.position())));
    if (answer == OperatorResult::done) in.advance_to(in.size());
    return answer;
  }
  OperatorResult flush(Output&) override {
    const OperatorResult answer = waiting(sink_->flush());
    return answer == OperatorResult::done ? transactions_.flush(context()) : answer;
  }
  OperatorResult end(Output&) override {
    OperatorResult answer = waiting(sink_->flush());
    if (answer == OperatorResult::done) answer = transactions_.end(context());
    if (answer != OperatorResult::done || !commits_at_end_) return answer;
    Status status = transactions_.commit(std::numeric_limits<std::uint64_t>::max());
    return status.ok() ? OperatorResult::done : context().fail(std::move(status));
  }

  std::vector<StateDescription> states() override { return TwoPhaseCommit::states(); }
  Status snapshot(ByteWriter& out) override {
    transactions_.snapshot(out);
    return {};
  }
  Status commit(std::uint64_t epoch) override { return transactions_.commit(epoch); }
  Status close() override {
    sink_->close();
    return {};
  }

 private:
  // A sink has no output that could be full.
  static OperatorResult waiting(OperatorResult answer) {
    return answer == OperatorResult::more ? OperatorResult::blocked : answer;
  }

  std::unique_ptr<TwoPhaseSinkFunction<T>> sink_;
  TwoPhaseCommit transactions_{*sink_};
  const bool commits_at_end_;
};

}  // namespace hummer
