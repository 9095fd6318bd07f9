// SinkFunction: a sink of the user's own; SinkFunctionOperator runs it.
//
//   class Queue : public SinkFunction<Order> {
//     Answer write(std::span<const Order> orders) override { ... }
//   };
//
// Calls come in the order restore?, open, (write | snapshot)*, end, close, all on
// one thread; none may wait. The records and their text are valid during the
// call only. `write` answers
//   done     all of them are taken
//   blocked  none is: called again with the same records after context.wake() or
//            a short while
//   failed   after context.fail(status)
// `end` comes when all records are written: make the result visible. `close`
// comes always; without `end` the job has failed or was cancelled.
#pragma once

#include <algorithm>
#include <memory>
#include <span>

#include <hummer/operator.hpp>

namespace hummer {

template <StreamType T>
class SinkFunction {
 public:
  virtual ~SinkFunction() = default;
  // `context` lives as long as this object.
  virtual Status open(OperatorContext& /*context*/) { return {}; }
  virtual Answer write(std::span<const T> records) = 0;
  virtual Answer end() { return Answer::done; }
  virtual Status close() { return {}; }
  virtual Status snapshot(ByteWriter&) { return {}; }
  // What that writes: see Operator::states.
  virtual std::vector<StateDescription> states() { return {}; }
  virtual Status restore(ByteReader&) { return {}; }
};

template <StreamType T>
class SinkFunctionOperator final : public Operator {
 public:
  explicit SinkFunctionOperator(std::unique_ptr<SinkFunction<T>> sink) : sink_(std::move(sink)) {}

  void declare(Output&) const override {}
  Status restore(ByteReader& in) override { return sink_->restore(in); }
  Status open() override { return sink_->open(context()); }

  Answer process(Batch& in, Output&) override {
    if (in.finished()) return Answer::done;
    const Answer answer = sink_->write(in.values<T>().subspan(in.position()));
    if (answer == Answer::done) in.advance_to(in.size());
    return answer == Answer::more ? Answer::blocked : answer;
  }
  Answer end(Output&) override {
    const Answer answer = sink_->end();
    return answer == Answer::more ? Answer::blocked : answer;
  }
  std::vector<StateDescription> states() override { return sink_->states(); }
  Status snapshot(ByteWriter& out) override { return sink_->snapshot(out); }
  Status close() override { return sink_->close(); }

 private:
  std::unique_ptr<SinkFunction<T>> sink_;
};

}  // namespace hummer
