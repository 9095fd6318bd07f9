// TwoPhaseSinkFunction: a sink of the user's own whose records become visible once, with the
// checkpoint that they belong to; TwoPhaseSinkFunctionOperator runs it.
//
//   class Ledger : public TwoPhaseSinkFunction<Booking> {
//     Answer write(std::span<const Booking> bookings) override;       // into the open transaction
//     Result<std::string> prepare(std::uint64_t epoch) override;      // durable, has a handle
//     Status commit(const std::string& handle) override;              // visible
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

#include <limits>
#include <memory>
#include <span>
#include <utility>

#include <hummer/operator.hpp>
#include <hummer/operators/two_phase_commit.hpp>

namespace hummer {

template <StreamType T>
class TwoPhaseSinkFunction : public TwoPhaseStore {
 public:
  virtual Answer write(std::span<const T> records) = 0;
  virtual Answer flush() { return Answer::done; }
};

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

  Answer process(Batch& in, Output&) override {
    if (in.finished()) return Answer::done;
    const Answer answer = waiting(sink_->write(in.values<T>().subspan(in.position())));
    if (answer == Answer::done) in.advance_to(in.size());
    return answer;
  }
  Answer flush(Output&) override {
    const Answer answer = waiting(sink_->flush());
    return answer == Answer::done ? transactions_.flush(context()) : answer;
  }
  Answer end(Output&) override {
    Answer answer = waiting(sink_->flush());
    if (answer == Answer::done) answer = transactions_.end(context());
    if (answer != Answer::done || !commits_at_end_) return answer;
    Status status = transactions_.commit(std::numeric_limits<std::uint64_t>::max());
    return status.ok() ? Answer::done : context().fail(std::move(status));
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
  static Answer waiting(Answer answer) { return answer == Answer::more ? Answer::blocked : answer; }

  std::unique_ptr<TwoPhaseSinkFunction<T>> sink_;
  TwoPhaseCommit transactions_{*sink_};
  const bool commits_at_end_;
};

}  // namespace hummer
