// ProcessOutput<Out>: where a process function puts its results.
//
//   out.emit(value);              with the time of the record in hand
//   out.emit(value, time);
//   out.side(late, value);        to a side output, with the same time
//   if (out.full()) ...           hooks that put out many records stop here
//
// Text: as Collector<T>: views must point into the input or into memory that
// outlives the job; a std::string is copied; copy() copies. In side outputs views
// must point into text records or literals: what a record owns is copied in the main one only.
//
// Thread: that of the operator; valid during one call only.
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
      : output_(output), sides_(sides), batch_(output.batch()), watermark_(watermark) {}
  ProcessOutput(const ProcessOutput&) = delete;
  ProcessOutput& operator=(const ProcessOutput&) = delete;

  template <typename U>
  void emit(U&& value) {
    put<Out>(batch_, std::forward<U>(value), time_);
  }
  template <typename U>
  void emit(U&& value, Timestamp time) {
    put<Out>(batch_, std::forward<U>(value), time);
  }
  template <typename U>
  void operator()(U&& value) {
    emit(std::forward<U>(value));
  }

  template <typename T, typename U>
  void side(const SideOutput<T>& tag, U&& value) {
    side(tag, std::forward<U>(value), time_);
  }
  template <typename T, typename U>
  void side(const SideOutput<T>& tag, U&& value, Timestamp time) {
    const std::size_t port = side_output_port(sides_, tag.name, type_of<T>());
    if (port == 0) [[unlikely]]
      unknown_side(tag.name);
    put<T>(output_.batch(port), std::forward<U>(value), time);
  }

  // A copy of the text that lives as long as the main output's batch.
  std::string_view copy(std::string_view text) { return batch_.copy_text(text); }

  bool full() const { return output_.any_full(); }
  // Event time of the record in hand; no_timestamp when there is none.
  Timestamp time() const { return time_; }
  // The last watermark seen by this operator; no_timestamp before the first.
  Timestamp watermark() const { return watermark_; }

  void set_time(Timestamp time) { time_ = time; }

 private:
  template <typename T, typename U>
  void put(Batch& batch, U&& value, Timestamp time) {
    const std::size_t before = batch.size();
    {
      Collector<T> collector(batch, output_.soft_limit());
      collector.emit(std::forward<U>(value));
    }
    if (time != no_timestamp || batch.has_timestamps()) stamp(batch, before, before + 1, time);
  }
  [[noreturn]] static void unknown_side(std::string_view name) {
    throw std::logic_error("side output '" + std::string(name) +
                           "' of this type is not listed in side_outputs(...)");
  }

  Output& output_;
  const SideOutputPorts& sides_;
  Batch& batch_;
  Timestamp time_ = no_timestamp;
  Timestamp watermark_;
};

}  // namespace hummer
