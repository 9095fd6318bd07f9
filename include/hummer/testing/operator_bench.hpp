// OperatorBench<In>: an operator on the bench: push elements by hand, look at what comes out.
//
//   OperatorBench<Reading> bench(keyed_operator<Reading, Alert>(&Reading::sensor, Alarm{}));
//   bench.record({.sensor = 7, .value = 20.5}, 1'000);
//   bench.watermark(61'000);
//   EXPECT_EQ(bench.take<Alert>(), (std::vector<Alert>{{7, 20.5}}));
//   const std::string snapshot = bench.snapshot();            // a barrier: flush, then snapshot
//   OperatorBench<Reading> again(keyed_operator<Reading, Alert>(&Reading::sensor, Alarm{}));
//   ASSERT_TRUE(again.restore(snapshot).ok());
//
// For what an operator does. How it bears awkward schedules is what OperatorHarness runs; both need
// no test framework. The bench opens the operator before the first element, calls it as the driver
// does until it is done, and closes it when it is destroyed. Its clock stands still but for
// advance_ms, which fires what falls due on the way.
//
// An element that fails leaves the reason in status(), and further ones do nothing. Two inputs: the
// second's records come by record_of. Thread: one; wakes of other threads are waited for by
// resume(), which calls a blocked operator again. Records taken are valid as long as the bench.
#pragma once

#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <hummer/detail/operators/factory.hpp>
#include <hummer/detail/operators/keyed_process.hpp>
#include <hummer/detail/testing/fake_operator_context.hpp>
#include <hummer/detail/testing/take_snapshot.hpp>
#include <hummer/metrics.hpp>
#include <hummer/operator.hpp>

namespace hummer {

// What `stream.key_by(key_of).process(user)` makes. In: the records; Out: of the function's output.
template <typename In, typename Out, typename KeyOf, typename User>
std::shared_ptr<const OperatorFactory> keyed_operator(KeyOf key_of, User user,
                                                      RestoreOptions options = {}) {
  using Key = Stored<std::remove_cvref_t<std::invoke_result_t<KeyOf&, const In&>>>;
  using Input = KeyedInput<In, KeyOf>;
  return make_operator_factory([key_of, user, options] {
    return std::make_unique<KeyedProcessOperator<Key, Out, User, Input>>(user, Input{key_of},
                                                                         options);
  });
}

template <StreamType In>
class OperatorBench {
 public:
  explicit OperatorBench(const std::shared_ptr<const OperatorFactory>& factory,
                         const FakeOperatorContext::Place& place = {})
      : context_(place) {
    const detail::MetricsScope scope(&context_.user_metrics());
    operator_ = factory->make();
    operator_->set_context(context_);
    operator_->declare(output_);
    taken_.resize(output_.port_count());
  }
  OperatorBench(const OperatorBench&) = delete;
  OperatorBench& operator=(const OperatorBench&) = delete;
  ~OperatorBench() {
    if (opened_) (void)operator_->close();
  }

  // Before the first element; a piece that snapshot() made, of any version of the operator.
  Status restore(std::string_view snapshot) {
    HUMMER_ASSERT(!opened_);
    context_.set_restored(true);
    ByteReader in(snapshot);
    std::vector<StateDescription> saved;
    if (!decode_states(in, saved)) {
      return {ErrorCode::corrupt_record, "this is no snapshot of an operator"};
    }
    HUMMER_TRY(check_states(saved, operator_->states()));
    const detail::SavedLayouts layouts(saved, operator_->states());
    if (!layouts.empty()) in.set_layouts(&layouts);
    return operator_->restore(in);
  }

  void record(const In& value, Timestamp time = no_timestamp) { record_of<In>(0, value, time); }
  void records(const std::vector<In>& values) {
    for (const auto& value : values) record(value);
  }
  template <StreamType T>
  void record_of(int input, const T& value, Timestamp time = no_timestamp) {
    Batch& in = inputs_.emplace_back(type_of<T>(), 1);
    {
      Collector<T> collector(in, 1);
      collector(value);
    }
    if (time != no_timestamp) in.timestamps().assign(1, time);
    call([this, input, &in] { return operator_->process_input(input, in, output_); });
  }
  void watermark(Timestamp time) {
    call([this, time] { return operator_->watermark(time, output_); });
    if (!operator_->makes_watermarks()) watermarks_.push_back(time);
  }
  void idle() {
    call([this] { return operator_->idle(output_); });
  }
  void end() {
    watermark(end_of_time);
    call([this] { return operator_->end(output_); });
  }
  void advance_ms(std::int64_t milliseconds) {
    for (; milliseconds > 0; --milliseconds) {
      context_.advance(1'000'000);
      while (context_.take_due_timer()) {
        call([this] { return operator_->timer(context_.now(), output_); });
      }
    }
  }
  // What a barrier does: the operator hands on what it has folded, then writes its state. The
  // first one's epoch is 1, the next one's 2.
  std::string snapshot() {
    context_.set_epoch(context_.epoch() + 1);
    call([this] { return operator_->flush(output_); });
    std::string bytes;
    ByteWriter out(bytes);
    encode_states(operator_->states(), out);
    const Result<std::string> written = take_snapshot(*operator_);
    if (!written.ok()) {
      status_ = written.status();
      return {};
    }
    return std::string(out.view()) + *written;
  }
  void commit(std::uint64_t epoch) {
    if (Status status = operator_->commit(epoch); !status.ok()) status_ = std::move(status);
  }
  // Calls an operator that was blocked again; true: it is done.
  bool resume() {
    if (blocked_) call(std::exchange(blocked_, nullptr));
    return !blocked_;
  }

  // What came out of a port since the last time.
  template <StreamType Out>
  std::vector<Out> take(std::size_t port = 0) {
    std::vector<Out> records;
    for (Batch& batch : taken_[port]) {
      for (const Out& value : batch.values<Out>()) records.push_back(value);
      kept_.push_back(std::move(batch));
    }
    taken_[port].clear();
    return records;
  }
  // That went on to the next operator, in order.
  const std::vector<Timestamp>& watermarks() const { return watermarks_; }
  const Status& status() const { return status_; }
  // What its functions have counted (hummer/metrics.hpp).
  std::uint64_t counter(std::string_view name) const {
    const detail::MetricsScope scope(&context_.user_metrics());
    return Counter(name).value();
  }
  FakeOperatorContext& context() { return context_; }

 private:
  using Call = std::function<OperatorResult()>;

  void call(Call step) {
    const detail::MetricsScope scope(&context_.user_metrics());
    if (!opened_) {
      opened_ = true;
      status_ = operator_->open();
    }
    while (status_.ok()) {
      OperatorResult answer = OperatorResult::failed;
      try {
        answer = step();
        if (answer == OperatorResult::failed) status_ = context_.failure();
        if (const std::string refusal = context_.user_metrics().refusal(); !refusal.empty())
          status_ = {ErrorCode::invalid_argument, refusal};
      } catch (const std::exception& error) {
        status_ = {ErrorCode::user_function_failed, error.what()};
      }
      take_output();
      if (answer == OperatorResult::blocked) blocked_ = std::move(step);
      if (answer != OperatorResult::more) return;
    }
  }
  void take_output() {
    for (std::size_t port = 0; port < output_.port_count(); ++port) {
      Batch& batch = output_.batch(port);
      if (batch.size() != 0) taken_[port].push_back(std::exchange(batch, Batch()));
    }
    const Control control = output_.take_control();
    if (control.kind == Control::Kind::watermark) watermarks_.push_back(control.time);
  }

  FakeOperatorContext context_;
  Output output_;
  std::unique_ptr<Operator> operator_;
  bool opened_ = false;
  Status status_;
  Call blocked_;  // null: it is not
  std::deque<Batch> inputs_;
  std::vector<std::vector<Batch>> taken_;  // by port
  std::vector<Batch> kept_;                // views of records that were taken point into them
  std::vector<Timestamp> watermarks_;
};

}  // namespace hummer
