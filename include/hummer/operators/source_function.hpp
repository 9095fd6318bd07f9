// SourceFunction: a source of the user's own; SourceFunctionOperator runs it.
//
//   class Ticker : public SourceFunction<Tick> {
//     Answer produce(SourceOutput<Tick>& out) override {
//       while (!out.full() && feed_.has_next()) out.emit(feed_.next());
//       return feed_.ended() ? Answer::done : out.full() ? Answer::more : Answer::blocked;
//     }
//   };
//
// Calls come in the order restore*, open, (produce | snapshot)*, close, all on
// one thread; none may wait. `produce` answers
//   more     there is more at hand
//   blocked  nothing at hand now: called again after context.wake() (from any
//            thread), at the time of context.call_at(when), or, when it has asked for
//            none, after a short while: 0.1 ms, twice as long each time up to 10 ms
//   done     the stream has ended
//   failed   after context.fail(status)
// A watermark follows the records of its call: set it and answer.
// Text: copy it (out.copy), or emit std::string, unless it outlives the job.
//
// Checkpoints: write to `snapshot` where the source is, and go on there after `restore`. One that
// can't, since what it has read is gone (a connection, a sensor), says so: it is not `replayable`,
// and a job with checkpoints warns that a restart loses records.
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
//   Answer produce(SourceOutput<Tick>& out) override {
//     if (ids_.empty()) return Answer::blocked;
//     std::rotate(ids_.begin(), ids_.begin() + 1, ids_.end());
//     for (const SplitId id : ids_) {
//       if (!log_.has(id, offsets_[id]) || !out.split(id)) continue;
//       while (!out.full() && log_.has(id, offsets_[id])) out.emit(log_.at(id, offsets_[id]++));
//       return Answer::more;
//     }
//     return Answer::blocked;
//   }
//
// out.finish_split(id): no record of it comes any more; out.idle_split(id): none for a while, so
// that watermarks need not wait for it. State is by split: snapshot_split writes the position of
// one that is not finished, and restore_split, before open, reads it where the split is now, also
// at another parallelism. `begin` answers false for one that was finished before.
#pragma once

#include <memory>
#include <string>

#include <hummer/operators/batch_run.hpp>
#include <hummer/operators/view_check.hpp>
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

template <StreamType T>
class SourceFunction {
 public:
  virtual ~SourceFunction() = default;
  // `context` lives as long as this object.
  virtual Status open(OperatorContext& /*context*/) { return {}; }
  virtual Answer produce(SourceOutput<T>& out) = 0;
  virtual Status snapshot(ByteWriter&) { return {}; }
  // What that writes: see Operator::states.
  virtual std::vector<StateDescription> states() { return {}; }
  virtual Status restore(ByteReader&) { return {}; }
  virtual Status close() { return {}; }
  // Where the record-th record of the last `produce` comes from, such as "partition 3, offset 512":
  // what a failure further down the chain is said to be at.
  virtual std::string describe_produced(std::size_t /*record*/) const { return {}; }
  // See SourceOperator::replayable.
  virtual bool replayable() const { return true; }

  // With splits: instead of snapshot and restore.
  virtual bool has_splits() const { return false; }
  virtual Status snapshot_split(SplitId, ByteWriter&) { return {}; }
  virtual Status restore_split(SplitId, ByteReader&) { return {}; }
};

template <StreamType T>
class SourceFunctionOperator final : public SourceOperator {
 public:
  explicit SourceFunctionOperator(std::unique_ptr<SourceFunction<T>> source)
      : source_(std::move(source)) {}

  void declare(Output& out) const override { out.add_port(type_of<T>()); }
  bool has_splits() const override { return source_->has_splits(); }
  bool takes_all_pieces() const override { return has_splits(); }
  Status restore(ByteReader& in) override {
    return has_splits() ? restore_splits(in) : source_->restore(in);
  }
  Status open() override { return source_->open(context()); }
  std::vector<StateDescription> states() override { return source_->states(); }
  Status snapshot(ByteWriter& out) override {
    return has_splits() ? snapshot_splits(out) : source_->snapshot(out);
  }
  Status close() override { return source_->close(); }
  bool replayable() const override { return source_->replayable(); }
  std::string describe_produced(std::size_t record) const override {
    return record < used_ ? std::string() : source_->describe_produced(record - used_);
  }

  Answer produce(Output& out) override {
    if (out.full()) return Answer::more;
    const std::size_t used = used_ = out.batch().size();
    if (used == 0) out.batch().set_split(no_split);
    Answer answer = Answer::failed;
    bool refused = false;
    {
      SourceOutput<T> emit(out, context().splits());
      answer = source_->produce(emit);
      refused = emit.has_refused();
    }
    if (const Status views = check_new_views<T>(context(), Batch(), out.batch(), used);
        !views.ok()) {
      return context().fail(views);
    }
    if (!has_splits() || answer == Answer::failed) return answer;
    const bool gave = out.batch().size() > used;
    if (gave && out.batch().split() == no_split) {
      return context().fail({ErrorCode::operator_failed,
                             "source '" + context().name() +
                                 "' has splits and gave records of none: call out.split(id) "
                                 "before out.emit"});
    }
    if (!refused || gave || answer == Answer::done) return answer;
    // Nobody says when the others have caught up.
    context().call_at(context().now() + paused_retry_ns);
    return Answer::blocked;
  }

 private:
  static constexpr std::int64_t paused_retry_ns = 1'000'000;
  static constexpr std::uint8_t state_version = 1;

  Status snapshot_splits(ByteWriter& out) {
    const SourceSplits& splits = *context().splits();
    out.put_value(state_version);
    out.put_value(static_cast<std::uint32_t>(splits.size()));
    for (SplitNumber number = 0; number < splits.size(); ++number) {
      const SplitId id = splits.id(number);
      std::string bytes;
      ByteWriter position(bytes);
      if (!splits.is_finished(id)) HUMMER_TRY(source_->snapshot_split(id, position));
      out.put_value(id);
      out.put_value(static_cast<std::uint8_t>(splits.is_finished(id)));
      out.put_text(position.view());
    }
    return {};
  }

  Status restore_splits(ByteReader& in) {
    SourceSplits& splits = *context().splits();
    std::uint8_t version = 0;
    std::uint32_t count = 0;
    bool valid = in.get_value(version) && version == state_version && in.get_value(count);
    for (std::uint32_t i = 0; valid && i < count; ++i) {
      SplitId id = 0;
      std::uint8_t finished = 0;
      std::string_view bytes;
      valid = in.get_value(id) && in.get_value(finished) && in.get_text(bytes);
      if (!valid || !splits.begin(id)) continue;
      ByteReader position(bytes);
      if (finished != 0) {
        splits.finish(id);
      } else {
        HUMMER_TRY(source_->restore_split(id, position));
      }
    }
    if (valid) return {};
    return {ErrorCode::corrupt_record, "the state of a source with splits makes no sense"};
  }

  std::unique_ptr<SourceFunction<T>> source_;
  std::size_t used_ = 0;  // of the output, ahead of the last call
};

}  // namespace hummer
