// SinkFunctionOperator: runs a SinkFunction of the user's own (hummer/sink_function.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <hummer/sink_function.hpp>

namespace hummer {

template <StreamType T>
class SinkFunctionOperator final : public Operator {
 public:
  explicit SinkFunctionOperator(std::unique_ptr<SinkFunction<T>> sink) : sink_(std::move(sink)) {}

  void declare(Output&) const override {}
  Status restore(ByteReader& in) override { return sink_->restore(in); }
  Status open() override {
    flushed_ = context().epoch();
    return sink_->open(context());
  }

  OperatorResult process(Batch& in, Output&) override {
    if (in.finished()) return OperatorResult::done;
    const OperatorResult answer = waiting(sink_->write(in.values<T>().subspan(in.position())));
    if (answer == OperatorResult::done) in.advance_to(in.size());
    return answer;
  }
  // Also comes when the input has become inactive, which is no barrier.
  OperatorResult flush(Output&) override { return flush_for(context().epoch()); }
  OperatorResult end(Output&) override {
    const OperatorResult flushed = flush_for(context().epoch() + 1);
    return flushed == OperatorResult::done ? waiting(sink_->end()) : flushed;
  }
  std::vector<StateDescription> states() override { return sink_->states(); }
  Status snapshot(ByteWriter& out) override { return sink_->snapshot(out); }
  Status close() override { return sink_->close(); }

 private:
  // A sink has no output that could be full.
  static OperatorResult waiting(OperatorResult answer) {
    return answer == OperatorResult::more ? OperatorResult::blocked : answer;
  }

  OperatorResult flush_for(std::uint64_t epoch) {
    if (epoch == flushed_) return OperatorResult::done;
    const OperatorResult answer = waiting(sink_->flush(epoch));
    if (answer == OperatorResult::done) flushed_ = epoch;
    return answer;
  }

  std::unique_ptr<SinkFunction<T>> sink_;
  std::uint64_t flushed_ = 0;  // the last epoch whose flush is done
};

}  // namespace hummer
