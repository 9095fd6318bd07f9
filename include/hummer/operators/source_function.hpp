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
//            thread) or a short while
//   done     the stream has ended
//   failed   after context.fail(status)
// A watermark follows the records of its call: set it and answer.
// Text: copy it (out.copy), or emit std::string, unless it outlives the job.
//
// Checkpoints: write to `snapshot` where the source is, and go on there after `restore`. One that
// can't, since what it has read is gone (a connection, a sensor), says so: it is not `replayable`,
// and a job with checkpoints warns that a restart loses records.
#pragma once

#include <memory>

#include <hummer/operators/batch_run.hpp>
#include <hummer/operators/view_check.hpp>

namespace hummer {

template <StreamType T>
class SourceOutput {
 public:
  explicit SourceOutput(Output& output)
      : output_(output), batch_(output.batch()), collector_(batch_, output.soft_limit()) {}

  template <typename U>
  void emit(U&& value, Timestamp time = no_timestamp) {
    const std::size_t before = collector_.size();
    collector_.emit(std::forward<U>(value));
    stamp(batch_, before, before + 1, time);
  }
  template <typename U>
  void operator()(U&& value) {
    emit(std::forward<U>(value));
  }
  std::string_view copy(std::string_view text) { return collector_.copy(text); }
  bool full() const { return collector_.full(); }
  // No record before `time` comes after this call.
  void watermark(Timestamp time) { output_.set_control(Control::watermark(time)); }

 private:
  Output& output_;
  Batch& batch_;
  Collector<T> collector_;
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
  // See SourceOperator::replayable.
  virtual bool replayable() const { return true; }
};

template <StreamType T>
class SourceFunctionOperator final : public SourceOperator {
 public:
  explicit SourceFunctionOperator(std::unique_ptr<SourceFunction<T>> source)
      : source_(std::move(source)) {}

  void declare(Output& out) const override { out.add_port(type_of<T>()); }
  Status restore(ByteReader& in) override { return source_->restore(in); }
  Status open() override { return source_->open(context()); }
  std::vector<StateDescription> states() override { return source_->states(); }
  Status snapshot(ByteWriter& out) override { return source_->snapshot(out); }
  Status close() override { return source_->close(); }
  bool replayable() const override { return source_->replayable(); }

  Answer produce(Output& out) override {
    if (out.full()) return Answer::more;
    const std::size_t used = out.batch().size();
    Answer answer = Answer::failed;
    {
      SourceOutput<T> emit(out);
      answer = source_->produce(emit);
    }
    if (const Status views = check_new_views<T>(Batch(), out.batch(), used); !views.ok()) {
      return context().fail(views);
    }
    return answer;
  }

 private:
  std::unique_ptr<SourceFunction<T>> source_;
};

}  // namespace hummer
