// TwoPhaseStore: what a sink of two phases asks of the store behind it.
//
// The store keeps what was written apart until it is told that it counts. Transactions of one sink
// subtask come one after the other. Calls come in the order
//
//   open  abort_all_but  ( write* prepare | commit )*  close
//
// all on one thread; `write` is added by who says what is written: TwoPhaseWriter
// lines of text, TwoPhaseSinkFunction<T> (hummer/two_phase_sink_function.hpp) records.
//
//   abort_all_but  forget what earlier attempts of the job began or prepared, but for these
//                  handles: of the earlier subtasks whose number is this one's modulo the
//                  parallelism. Not what a later attempt wrote: a worker that was cut off may be
//                  alive for a moment beside its successor.
//                  context.superseded_epoch() above context.epoch(): what was committed with
//                  epochs in between, above the latter, is written again, since the state that
//                  belonged to it is damaged. Take it back if you can.
//   prepare        the open transaction becomes durable, still invisible; answers its handle, or an
//                  empty one when nothing was written. No other transaction of this subtask that
//                  becomes visible has this epoch. Once it has answered, no failure may keep
//                  `commit` from succeeding later: check here what the store may refuse.
//   commit         the transaction becomes visible. It is called for each handle of a complete
//                  checkpoint, in the order of their epochs, also when it has happened before, by
//                  another object, in another process: a handle is all that `commit` may need, and
//                  what it does the second time must be nothing.
//   close          always; a transaction that is open or prepared and not committed stays
//                  invisible. No commit may be made up for here.
//
// A handle is bytes of the store's own, kept in snapshots: short, and unique among all attempts and
// runs that use the store (context.run(), context.attempt(), a number).
//
// All may wait for the store and hold their slot meanwhile; a prepare holds the checkpoint too.
// Errors fail the job, which begins again as its restart strategy says, with the newest complete
// checkpoint.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <hummer/operator.hpp>

namespace hummer {

class TwoPhaseStore {
 public:
  virtual ~TwoPhaseStore() = default;
  // `context` lives as long as this object.
  virtual Status open(OperatorContext& /*context*/) { return {}; }
  virtual Status abort_all_but(const std::vector<std::string>& handles) = 0;
  virtual Result<std::string> prepare(std::uint64_t epoch) = 0;
  virtual Status commit(const std::string& handle) = 0;
  virtual void close() {}
};

}  // namespace hummer
