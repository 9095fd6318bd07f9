// SourceFunction: a source of the user's own.
//
//   class Ticker : public SourceFunction<Tick> {
//     OperatorResult produce(SourceOutput<Tick>& out) override {
//       while (!out.full() && feed_.has_next()) out.emit(feed_.next());
//       if (feed_.ended()) return OperatorResult::done;
//       return out.full() ? OperatorResult::more : OperatorResult::blocked;
//     }
//   };
//
// Calls come in the order restore*, open, (produce | snapshot | commit)*, close, all on one thread;
// none may wait. `produce` answers
//   more     there is more at hand
//   blocked  nothing at hand now: called again after context.wake() (from any thread), at the time
//            of context.call_at(when), or, when it has asked for none, after 0.1 to 10 ms
//   done     the stream has ended
//   failed   after context.fail(status)
// A watermark follows the records of its call: set it and answer.
// Text: copy it (out.copy), or emit std::string, unless it outlives the job.
//
// Checkpoints: write to `snapshot` where the source is, and go on there after `restore`. One that
// can't (a connection, a sensor) says so: it is not `replayable`, and a job with checkpoints warns
// that a restart loses records.
//
// With splits (see hummer/source_splits.hpp): has_splits answers true, open begins those of this
// subtask, and each run of records names its split first. A batch is of one split, so out.split(id)
// refuses another one until the next call; it also refuses one that is too far ahead of its
// alignment. Begin with another split each time, or with the one that is furthest behind:
//
//   Status open(OperatorContext& context) override {
//     for (SplitId id = 0; id < log_.partitions(); ++id) {
//       if (context.splits()->begin(id)) ids_.push_back(id);  // from offsets_[id] on
//     }
//     return {};
//   }
//   OperatorResult produce(SourceOutput<Tick>& out) override {
//     if (ids_.empty()) return OperatorResult::blocked;
//     std::rotate(ids_.begin(), ids_.begin() + 1, ids_.end());
//     for (const SplitId id : ids_) {
//       if (!log_.has(id, offsets_[id]) || !out.split(id)) continue;
//       while (!out.full() && log_.has(id, offsets_[id])) out.emit(log_.at(id, offsets_[id]++));
//       return OperatorResult::more;
//     }
//     return OperatorResult::blocked;
//   }
//
// out.finish_split(id): no record of it comes any more; out.idle_split(id): none for a while, so
// that watermarks need not wait for it. State is by split: snapshot_split writes the position of
// one that is not finished, and restore_split, before open, reads it where the split is now, also
// at another parallelism. `begin` answers false for one that was finished before.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <hummer/detail/operators/batch_run.hpp>
#include <hummer/operator.hpp>
#include <hummer/source_splits.hpp>

namespace hummer {

template <StreamType T>
class SourceOutput {
 public:
  explicit SourceOutput(Output& output, SourceSplits* splits = nullptr)
      : output_(output),
        batch_(output.batch()),
        collector_(batch_, output.soft_limit()),
        splits_(splits) {}

  template <typename U = T>
  void emit(U&& value, Timestamp time = no_timestamp) {
    const std::size_t before = collector_.size();
    collector_.emit(std::forward<U>(value));
    stamp(batch_, before, before + 1, time);
  }
  template <typename U = T>
  void operator()(U&& value) {
    emit(std::forward<U>(value));
  }
  // For what writes many records at once, such as a read of a file of structs: room for at least
  // one, and how many were written there. They have no timestamps.
  std::span<T> room()
    requires std::is_trivially_copyable_v<T>
  {
    return collector_.room();
  }
  void wrote(std::size_t count) {
    const std::size_t before = collector_.size();
    collector_.wrote(count);
    stamp(batch_, before, before + count, no_timestamp);
  }
  std::string_view copy(std::string_view text) { return collector_.copy(text); }
  bool full() const { return collector_.full(); }
  // No record before `time` comes after this call.
  void watermark(Timestamp time) { output_.set_control(Control::watermark(time)); }

  // ---- with splits ----

  // The records that follow are of this one. False: not in this call.
  bool split(SplitId id) {
    const SplitNumber number = splits_->number(id);
    if (collector_.size() > 0 && batch_.split() != number) return false;
    if (splits_->paused(id)) {
      refused_ = true;
      return false;
    }
    splits_->activate(number);
    batch_.set_split(number);
    return true;
  }
  void finish_split(SplitId id) { splits_->finish(id); }
  void idle_split(SplitId id) { splits_->set_idle(id); }
  bool paused(SplitId id) const { return splits_->paused(id); }
  // Whether split() has refused one that is paused.
  bool has_refused() const { return refused_; }

 private:
  Output& output_;
  Batch& batch_;
  Collector<T> collector_;
  SourceSplits* splits_;
  bool refused_ = false;
};

// The calls that are the same whatever the records are.
class SourceFunctionBase {
 public:
  virtual ~SourceFunctionBase() = default;
  // `context` lives as long as this object.
  virtual Status open(OperatorContext& /*context*/) { return {}; }
  virtual Status snapshot(ByteWriter&) { return {}; }
  // What that writes: see Operator::states.
  virtual std::vector<StateDescription> states() { return {}; }
  virtual Status restore(ByteReader&) { return {}; }
  // The checkpoint of this epoch is complete: see Operator::commit. context.epoch() in snapshot.
  virtual Status commit(std::uint64_t /*epoch*/) { return {}; }
  virtual Status close() { return {}; }
  // Where the record-th record of the last `produce` comes from, such as "partition 3, offset 512":
  // what a failure further down the chain is said to be at.
  virtual std::string describe_produced(std::size_t /*record*/) const { return {}; }
  virtual bool replayable() const { return true; }  // see SourceOperator

  // With splits: instead of snapshot and restore.
  virtual bool has_splits() const { return false; }
  virtual Status snapshot_split(SplitId, ByteWriter&) { return {}; }
  virtual Status restore_split(SplitId, ByteReader&) { return {}; }
};

template <StreamType T>
class SourceFunction : public SourceFunctionBase {
 public:
  virtual OperatorResult produce(SourceOutput<T>& out) = 0;
};

}  // namespace hummer
