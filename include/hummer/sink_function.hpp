// SinkFunction: a sink of the user's own.
//
//   class Queue : public SinkFunction<Order> {
//     OperatorResult write(std::span<const Order> orders) override { ... }
//   };
//   orders.add_sink("queue", [] { return std::make_unique<Queue>(); });
//
// Calls come in the order restore*, open, (write | flush snapshot?)*, end, close, all on
// one thread; none may wait, but for a `flush` that its store gives no other way: it holds its
// slot. The records and their text are valid during the call only. `write` answers
//   done     all of them are taken
//   blocked  none is: called again with the same records after context.wake() or
//            a short while
//   failed   after context.fail(status)
// `end` comes when all records are written: make the result visible. `close`
// comes always; without `end` the job has failed or was cancelled.
//
// Checkpoints: `flush(epoch)` comes at a barrier, behind the records before it, and once ahead of
// `end`; answer `done` when what was written is durable. Until then (`blocked`) the checkpoint
// waits and no record is written; it completes only behind the flushes of all subtasks. So
//   - no record is lost: what a completed checkpoint covers is in the store;
//   - after a restart records come again, those written since the newest complete checkpoint: at
//     least once;
//   - where writing one again has the effect of writing it once, the store ends as without the
//     failure. An upsert has it when the second run writes the keys of the first (none that come
//     from a clock or from randomness). Until the job has caught up, readers see values go back.
// An increment, an append or a message have no such effect: use TwoPhaseSinkFunction
// (two_phase_sink_function.hpp), which also hides what is not complete. A worker that was cut off
// from its cluster may write for a moment beside its successor; a store that can compare
// (context.attempt(), a version in the record) refuses it.
//
// A failure of `flush` fails the job, which begins again as its restart strategy says; the
// checkpoint does not complete. Without checkpoints only the flush ahead of `end` comes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <hummer/operator.hpp>

namespace hummer {

template <StreamType T>
class SinkFunction {
 public:
  virtual ~SinkFunction() = default;
  // `context` lives as long as this object.
  virtual Status open(OperatorContext& /*context*/) { return {}; }
  virtual OperatorResult write(std::span<const T> records) = 0;
  virtual OperatorResult flush(std::uint64_t /*epoch*/) { return OperatorResult::done; }
  virtual OperatorResult end() { return OperatorResult::done; }
  virtual Status close() { return {}; }
  virtual Status snapshot(ByteWriter&) { return {}; }
  // What that writes: see Operator::states.
  virtual std::vector<StateDescription> states() { return {}; }
  virtual Status restore(ByteReader&) { return {}; }
};

}  // namespace hummer
