// Operator: the contract between the engine and everything that handles records.
//
// One operator object runs on one thread at a time and never waits. Its calls
// take from an input batch and put into output batches; when it cannot go on it
// says so and is called again later with the same arguments. The chain driver
// (runtime/chain_driver.hpp) is the only one who waits. (The shape is Jet's
// Processor with DuckDB's results: see docs/architecture.md.)
//
// Order of calls:
//
//   restore*  open  ( process | watermark | inactive | active | idle | timer
//                     | snapshot snapshot_rest* | commit )*  end  close
//
//   restore    once per piece that an earlier subtask of this operator wrote, before open, in the
//              order of those subtasks; of one subtask a whole piece, then the deltas on it, as
//              they were written. An operator with keyed state gets all of them on every
//              new subtask, without blocks that hold no key of its own (see key_groups.hpp), and
//              keeps the keys that it owns (owns_key); of any other one the
//              pieces are dealt out, so that a subtask may get none or several (see
//              context().restored()), unless it takes_all_pieces. A large piece is read as it is
//              taken; what was taken stays in memory until ByteReader::let_go.
//   open       once, before any record. A failure fails the job.
//   process    takes `in` from in.position() on, advances it, emits. An operator with several
//              inputs overrides process_input instead, which is what the driver calls; inputs
//              are numbered from 0 in the order in which their edges were written. Batches of
//              different inputs come in any order; watermark, barrier and end are those of all.
//   watermark  no record before `time` comes any more.
//   inactive   all inputs are inactive: no watermark comes for a while. It flushes, where it is not
//              overridden.
//   active     one of them has become active again, without a new watermark. Records have no such
//              effect: those of an inactive input hold no watermark, and may be late.
//   idle       nothing more is at hand for now: emit what would otherwise wait.
//   timer      `now` has reached the time asked for with OperatorContext::call_at.
//   snapshot   writes what restore needs; called between two elements, after flush. Behind `end`
//              it writes what makes a second end emit nothing again. With unaligned checkpoints
//              flush and snapshot also come where process has answered `blocked`: records before
//              in.position() are part of the state, the others come again after a restore. What is
//              large waits:
//   snapshot_rest  right behind snapshot, and again as long as it answers `more`: the rest of the
//              piece, about 64 KiB a call. From the second call on any other call may come between,
//              but for end and close, also while one of them is not done; what is written is the
//              state as it was at `snapshot` all the same: an operator saves what changes before
//              it was written. A snapshot that is never finished is followed by a whole one. Where
//              context().may_write_delta(), a piece may say only what has changed since the
//              operator's last snapshot: then it calls context().wrote_delta() in `snapshot`.
//   commit     the epoch's snapshots are complete everywhere: what was held back for them may
//              become visible. Idempotent; may never come for an epoch, then a later one stands
//              for it too. After a restart it comes again for the epoch that was restored.
//   flush      an epoch ends, or the input becomes inactive: emit partial results, so that no
//              state travels late.
//   end        no input comes any more; emit the rest.
//   close      always called if open was, also after a failure or cancel. No output.
//
// Answers (see OperatorResult). A call that answers `more` or `blocked` is made again,
// `more` with an empty output; a call that emits checks `out.full()` between two
// records and answers `more`. Only the expansion of one record may exceed the limit.
//   failed     after context().fail(status); the job fails with that status.
// A user function may throw: the driver turns it into a failure with the
// operator's name and the record's position (advance `in` up to that record).
//
// Ownership: `in` belongs to the driver; an operator reads it, or moves values
// out of it while in.unique(). It keeps no view beyond the call without keeping
// the buffers (Batch::keep_buffers_of) or copying. Values emitted may point into
// the input's buffers: the driver keeps them alive for output types with views.
//
// Control: the driver forwards a watermark, barrier or end only after the call
// for it has answered `done` and all output before it has gone. An operator that
// makes watermarks of its own says so (makes_watermarks); it hands them on with
// out.set_control from any call, also with `more`, and from `flush` and `end` only with that; those
// of its input end with it, as do inactive and active.
//
// Splits: a source may name the parts that it reads, such as files or partitions of a log (see
// source_splits.hpp). Its batches are then of one split each, and so are those of the operators
// fused behind it, as long as each of these keeps_splits.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hummer/batch.hpp>
#include <hummer/bytes.hpp>
#include <hummer/collector.hpp>
#include <hummer/detail/key_hash.hpp>
#include <hummer/detail/operator_place.hpp>
#include <hummer/detail/plan.hpp>
#include <hummer/evolving.hpp>
#include <hummer/status.hpp>

namespace hummer {

enum class OperatorResult : std::uint8_t {
  done,     // the element is dealt with; for a source: the stream has ended
  more,     // the output is full, or a source can go on: call again
  blocked,  // cannot go on now: call again after context().wake(), or a short while that grows
  failed,   // context().fail(status) said why
};

// The output batches of one operator, one per port: 0 is the main output, 1 and
// up are side outputs. The driver empties them between calls.
class Output {
 public:
  explicit Output(std::uint32_t soft_limit = default_batch_records) : soft_limit_(soft_limit) {}

  // Declares the next port. Batches are allocated when first written to.
  void add_port(const TypeDescriptor& type) { ports_.push_back({&type, Batch()}); }
  std::size_t port_count() const { return ports_.size(); }
  const TypeDescriptor& type(std::size_t port) const { return *ports_[port].type; }

  Batch& batch(std::size_t port = 0) {
    Port& p = ports_[port];
    if (!p.batch.has_storage()) p.batch = Batch(*p.type, soft_limit_);
    return p.batch;
  }
  template <typename T>
  Collector<T> collector(std::size_t port = 0) {
    return Collector<T>(batch(port), soft_limit_);
  }

  // Of the main output; 0 where there is none.
  std::size_t size() const { return ports_.empty() ? 0 : ports_.front().batch.size(); }
  bool full(std::size_t port = 0) const { return ports_[port].batch.size() >= soft_limit_; }
  bool any_full() const {
    for (std::size_t port = 0; port < ports_.size(); ++port) {
      if (full(port)) return true;
    }
    return false;
  }
  std::uint32_t soft_limit() const { return soft_limit_; }
  void set_soft_limit(std::uint32_t records) { soft_limit_ = records; }

  // Of sources and of operators that make watermarks: the control that follows this output.
  void set_control(Control control) { control_ = control; }
  Control take_control() { return std::exchange(control_, Control{}); }

 private:
  struct Port {
    const TypeDescriptor* type;
    Batch batch;
  };
  std::vector<Port> ports_;
  std::uint32_t soft_limit_;
  Control control_;
};

// What an operator may know and ask of its surroundings. Owned by the driver,
// lives as long as the operator. Thread: that of the operator, but wake().
class OperatorContext {
 public:
  virtual ~OperatorContext() = default;

  const std::string& name() const { return place_.name; }
  // Names the operator in its job, in all runs of it.
  const std::string& uid() const { return place_.uid; }
  int subtask() const { return place_.subtask; }
  int parallelism() const { return place_.parallelism; }
  int key_groups() const { return place_.key_groups; }
  // Whether this operator has earlier state, also where no piece of it fell to this subtask.
  bool restored() const { return place_.restored; }
  // In restore: deltas on this piece follow, so what it holds must be at hand.
  bool delta_follows() const { return place_.delta_follows; }
  // Whether a key's state belongs to this subtask.
  template <typename K>
  bool owns_key(const K& key) const {
    return place_.owns(key_hash(key));
  }
  // The same in all attempts of one run of the job, and drawn anew for another.
  std::uint64_t run() const { return place_.run; }
  // How often the job was started before, by a failure.
  std::uint32_t attempt() const { return place_.attempt; }
  // In flush: that of the barrier in hand. Else the last one: before the first barrier, the one
  // that was restored.
  std::uint64_t epoch() const { return place_.epoch; }
  // The job goes back behind what it has committed, since the state that belonged to it is damaged:
  // what was committed with epochs above the restored one, up to this one, is written again. 0: no.
  std::uint64_t superseded_epoch() const { return place_.superseded_epoch; }
  // In snapshot: the last one is complete everywhere, so that this one may build on it.
  bool may_write_delta() const { return place_.may_write_delta; }
  void wrote_delta() {
    HUMMER_ASSERT(may_write_delta());
    report_.wrote_delta = true;
  }
  // How much one call of snapshot_rest writes, about.
  std::size_t snapshot_step_bytes() const { return place_.snapshot_step_bytes; }
  // Views that leave user functions are looked at: see hummer/detail/operators/view_check.hpp.
  bool checks_views() const { return place_.checks_views; }
  // Some of what the chain puts out goes through a network task: to another process, or to files.
  bool leaves_memory() const { return place_.leaves_memory; }
  // Every source of the job ends: results may be held back until then.
  bool bounded() const { return place_.bounded; }
  // Those of the source at the head of this chain; null: it has none, or what stands between does
  // not keep them.
  SourceSplits* splits() const { return place_.splits; }
  // What the operator holds is counted here; null: nobody counts. Where state goes that has no room
  // in memory: a directory on disk.
  MemoryAccount* memory() const { return place_.memory.get(); }
  const std::string& spill_directory() const { return place_.spill_directory; }

  // Remembers why and answers `failed`: `return context().fail({...});`
  OperatorResult fail(Status status) {
    report_.failure = std::move(status);
    return OperatorResult::failed;
  }

  // Monotonic nanoseconds, read at most once per driver round.
  virtual std::int64_t now() const = 0;
  // The same clock without the time in which the task left its input where it was: blocked behind
  // others, held back for a barrier or a pause. How long nothing has come is measured by it.
  virtual std::int64_t input_now() const { return now(); }
  // Asks for a call of timer() at `when` (of now()); a new call replaces the old.
  virtual void call_at(std::int64_t when) = 0;
  // Milliseconds since 1970 of the same moment: goes on evenly with now() while the task lives,
  // and is what processing time means in state that outlives it.
  virtual Timestamp wall_time_ms() const { return now() / 1'000'000; }
  // Any thread: a blocked operator can go on.
  virtual void wake() = 0;

  // The object that all operators of this job in this slot find under `name`; made by the
  // first that asks. For halves of one operator that run in the same slot.
  virtual std::shared_ptr<void> slot_local(const std::string& /*name*/,
                                           const std::function<std::shared_ptr<void>()>& make) {
    return make();
  }

  // Metrics for progress and results: bytes read or written, and of how many.
  void count_bytes(std::uint64_t bytes) { report_.bytes += bytes; }
  void expect_bytes(std::uint64_t total) { report_.bytes_expected += total; }
  // Records in beyond those that are in the input batch when process() is done: of one that stands
  // for several, or that the operator has moved out.
  void count_records(std::uint64_t further) { report_.further_records += further; }
  // Records that came too late to be used.
  void count_late(std::uint64_t records) { report_.late_records += records; }

 protected:
  OperatorPlace place_;
  OperatorReport report_;

 private:
  friend class ConnectorContext;  // the one class that derives from it
  OperatorContext() = default;
  explicit OperatorContext(OperatorPlace place) : place_(std::move(place)) {}
};

class Operator {
 public:
  virtual ~Operator() = default;

  // Declares the output ports. Called once, before restore and open.
  virtual void declare(Output& out) const = 0;

  virtual Status restore(ByteReader&) { return {}; }
  virtual Status open() { return {}; }
  virtual OperatorResult process(Batch& in, Output& out) = 0;
  // The same with the input that the batch came by. Only the head of a chain may have several;
  // their types may differ.
  virtual OperatorResult process_input(int /*input*/, Batch& in, Output& out) {
    return process(in, out);
  }
  virtual OperatorResult watermark(Timestamp, Output&) { return OperatorResult::done; }
  virtual OperatorResult inactive(Output& out) { return flush(out); }
  virtual OperatorResult active(Output&) { return OperatorResult::done; }
  virtual OperatorResult idle(Output&) { return OperatorResult::done; }
  virtual OperatorResult timer(std::int64_t /*now*/, Output&) { return OperatorResult::done; }
  virtual OperatorResult flush(Output&) { return OperatorResult::done; }
  virtual Status snapshot(ByteWriter&) { return {}; }
  virtual OperatorResult snapshot_rest(ByteWriter&) { return OperatorResult::done; }
  virtual Status commit(std::uint64_t /*epoch*/) { return {}; }
  virtual OperatorResult end(Output&) { return OperatorResult::done; }
  virtual Status close() { return {}; }

  // Parts of the state with the names of their types, as of the job at hand; asked before restore
  // and at each snapshot, which keeps them. A part of the same name that was of a type that this
  // one can't read (hummer/evolving.hpp) fails the restore before restore() is called.
  virtual std::vector<StateDescription> states() { return {}; }

  // Whether watermarks of the input end here, and inactive and active: see Control above.
  virtual bool makes_watermarks() const { return false; }

  // Whether what `process` puts out is made of its input batch alone, and all of it by the time it
  // answers `done`: then an output batch is of the split that its input is of.
  virtual bool keeps_splits() const { return false; }

  // Whether each subtask gets every piece, and keeps of them what is its own, also where its state
  // is not by key. Asked before restore.
  virtual bool takes_all_pieces() const { return false; }

  // Whether it waits for others of its group in this process (WatermarkAlignment).
  virtual bool is_aligned() const { return false; }

  // Where the record at in.position() comes from, for failure messages; empty: unknown,
  // and the driver asks those ahead of it in the chain, else names the record's number.
  virtual std::string describe_position(const Batch&) const { return {}; }
  // The same of the record-th one that the last call of `process` has put out; `in`: its input.
  virtual std::string describe_output(const Batch& /*in*/, std::size_t /*record*/) const {
    return {};
  }
  // Whether the records that one call of `process` puts out are made of those that it has taken,
  // one of each, in order.
  virtual bool one_for_one() const { return false; }

  // Whether process may be called again, behind the record, when a function has thrown with `in` at
  // it: what is before it is dealt with, and put out. See hummer/failure_policy.hpp.
  virtual bool can_skip_record() const { return false; }
  // Steps over the record at in.position(), or over a part of it, whose text is the answer.
  virtual std::string_view skip_record(Batch& in) {
    in.advance_to(in.position() + 1);
    return {};
  }

  OperatorContext& context() const { return *context_; }
  void set_context(OperatorContext& context) { context_ = &context; }

 private:
  OperatorContext* context_ = nullptr;
};

// The head of a chain that has no input. Fills the output up to its soft limit;
// hands on fewer records when it has nothing more at hand (then `blocked`), so
// batching never adds waiting time. A watermark goes with out.set_control.
class SourceOperator : public Operator {
 public:
  // more: call again; blocked: nothing at hand now; done: the stream has ended.
  virtual OperatorResult produce(Output& out) = 0;
  // Whether, restored, it hands out again all that came behind the snapshot. Asked of one that is
  // neither restored nor opened, when the job is executed; a job with checkpoints warns of false.
  virtual bool replayable() const { return true; }
  // Whether its batches are of splits, which it names in context().splits().
  virtual bool has_splits() const { return false; }
  // Whether it wakes its task, or has asked for a call, each time that it has answered `blocked`.
  // Any other one that has asked for no call is called again all the same, after a delay that grows
  // to about 10 ms; JobHandle::stuck names it when it has given nothing for long.
  virtual bool wakes_itself() const { return false; }
  // For failure messages of those behind it: where the record-th record of the last produce() comes
  // from, such as an offset; empty: unknown.
  virtual std::string describe_produced(std::size_t /*record*/) const { return {}; }
  OperatorResult process(Batch&, Output&) final { return OperatorResult::done; }
};

// Makes the operator of one subtask. Shared by all subtasks of a vertex and read
// from several threads: make() is const and what it captures is immutable.
class OperatorFactory {
 public:
  virtual ~OperatorFactory() = default;
  virtual std::unique_ptr<Operator> make() const = 0;
  // Once, when the job is executed: the factory to take in this plan; null: itself.
  virtual std::shared_ptr<const OperatorFactory> planned(const Plan&) const { return nullptr; }
};

}  // namespace hummer
