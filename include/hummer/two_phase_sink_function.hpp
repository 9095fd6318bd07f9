// TwoPhaseSinkFunction: a sink of the user's own whose records become visible once, with the
// checkpoint that they belong to.
//
//   class Ledger : public TwoPhaseSinkFunction<Booking> {
//     OperatorResult write(std::span<const Booking> bookings) override;  // to the open transaction
//     Result<std::string> prepare(std::uint64_t epoch) override;         // durable, has a handle
//     Status commit(const std::string& handle) override;                 // visible
//     Status abort_all_but(const std::vector<std::string>&) override;
//   };
//   bookings.add_sink("ledger", [] { return std::make_unique<Ledger>(); });
//
// Two calls are its own, below; for the others, and when they come, see TwoPhaseStore
// (two_phase_store.hpp). The protocol is TwoPhaseCommit (two_phase_commit.hpp).
//
//   write   the records and their text are valid during the call only.
//           done     all of them are taken, into the open transaction
//           blocked  none is: called again with the same records after context.wake() or a short
//                    while
//           failed   after context.fail(status)
//   flush   ahead of each prepare, for a store that takes its time: what was written is on its way.
//           blocked: called again, while the slot does other work. It may come without a prepare
//           behind it.
//
// In a job without checkpoints all becomes visible at the end of the stream, per subtask; a job
// that fails leaves nothing visible of the subtasks that had not ended.
//
// Ownership: one object per subtask and attempt. Thread: one.
#pragma once

#include <span>

#include <hummer/operator.hpp>
#include <hummer/two_phase_store.hpp>

namespace hummer {

template <StreamType T>
class TwoPhaseSinkFunction : public TwoPhaseStore {
 public:
  virtual OperatorResult write(std::span<const T> records) = 0;
  virtual OperatorResult flush() { return OperatorResult::done; }
};

}  // namespace hummer
