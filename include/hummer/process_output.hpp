// ProcessOutput<Out>: where a process function puts its results.
//
//   out.emit(value);              with the time of the record in hand
//   out.emit(value, time);
//   out.emit({key, value});       in braces, of which an Out is made
//   out.side(late, value);        to a side output, with the same time
//   if (out.full()) ...           hooks that put out many records stop here
//
// Text: as Collector<T>: views must point into the input or into memory that
// outlives the job; a std::string is copied; copy() copies. In side outputs views
// must point into text records or literals: what a record owns is copied in the main one only.
//
// Thread: that of the operator; valid during one call only. The operator's batch learns of what was
// emitted when this goes.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include <hummer/detail/operators/batch_run.hpp>
#include <hummer/side_output.hpp>

namespace hummer {

template <typename Out>
class ProcessOutput {
 public:
  ProcessOutput(Output& output, const SideOutputPorts& sides, Timestamp watermark)
      : output_(output),
        sides_(sides),
        batch_(output.batch()),
        main_(output.collector<Out>()),
        watermark_(watermark),
        sides_are_full_(!sides.empty() && side_is_full()),
        has_times_(batch_.has_timestamps()) {}
  ProcessOutput(const ProcessOutput&) = delete;
  ProcessOutput& operator=(const ProcessOutput&) = delete;

  template <typename U = Out>
  void emit(U&& value) {
    emit(std::forward<U>(value), time_);
  }
  template <typename U = Out>
  void emit(U&& value, Timestamp time) {
    if constexpr (detail::check_emitted<Out, U>()) {
      main_.emit(std::forward<U>(value));
      if (time != no_timestamp || has_times_) {
        has_times_ = true;
        stamp_last(main_, batch_, time);
      }
    }
  }
  template <typename U = Out>
  void operator()(U&& value) {
    emit(std::forward<U>(value));
  }

  template <typename T, typename U = T>
  void side(const SideOutput<T>& tag, U&& value) {
    // Checked here as well, for an error that names this call.
    if constexpr (detail::check_emitted<T, U>()) side(tag, std::forward<U>(value), time_);
  }
  template <typename T, typename U = T>
  void side(const SideOutput<T>& tag, U&& value, Timestamp time) {
    Batch& batch = batch_of(tag);
    Collector<T> collector(batch, output_.soft_limit());
    if constexpr (detail::check_emitted<T, U>()) {
      collector.emit(std::forward<U>(value));
      if (time != no_timestamp || batch.has_timestamps()) stamp_last(collector, batch, time);
    }
    sides_are_full_ |= collector.full();
  }

  // A copy of the text that lives as long as the main output's batch.
  std::string_view copy(std::string_view text) { return batch_.copy_text(text); }

  bool full() const { return main_.full() || sides_are_full_; }
  // Event time of the record in hand; no_timestamp when there is none.
  Timestamp time() const { return time_; }
  // The last watermark seen by this operator; no_timestamp before the first.
  Timestamp watermark() const { return watermark_; }

  void set_time(Timestamp time) { time_ = time; }

 private:
  template <typename T>
  Batch& batch_of(const SideOutput<T>& tag) {
    const std::size_t port = side_output_port(sides_, tag.name, type_of<T>());
    if (port == 0) [[unlikely]]
      unknown_side(tag.name);
    return output_.batch(port);
  }
  // The record that was emitted last.
  template <typename T>
  static void stamp_last(const Collector<T>& collector, Batch& batch, Timestamp time) {
    const std::size_t before = collector.size() - 1;
    if (batch.timestamps().size() == before) [[likely]] {
      batch.timestamps().push_back(time);
    } else {
      stamp_records(batch, before, before + 1, time);
    }
  }
  bool side_is_full() const {
    for (std::size_t port = 1; port < output_.port_count(); ++port) {
      if (output_.full(port)) return true;
    }
    return false;
  }
  [[noreturn]] static void unknown_side(std::string_view name) {
    throw std::logic_error("side output '" + std::string(name) +
                           "' of this type is not listed in side_outputs(...)");
  }

  Output& output_;
  const SideOutputPorts& sides_;
  Batch& batch_;
  Collector<Out> main_;
  Timestamp time_ = no_timestamp;
  Timestamp watermark_;
  bool sides_are_full_;  // one of them
  bool has_times_;       // the main output's batch
};

}  // namespace hummer
