// WatermarkStrategy: how an operator knows that no earlier records will come.
//
//   stream.assign_timestamps(&Order::time_ms, WatermarkStrategy::bounded(5'000))
//
//   ascending()            times never fall back
//   bounded(ms)            a record may be this much earlier than the latest one before it
//   punctuated(function)   function(const T&, Timestamp) → std::optional<Timestamp>: the watermark
//                          that this record carries
//   generated(generator)   of your own, see below
//
// A watermark t says: no record with a time before t will come (one at t may). It
// follows the batch whose records moved it, at most one per batch.
//
// with_idleness(ms): when no record has come for so long, the input is inactive,
// and the watermarks of others no longer wait for it.
//
// A generator of your own is copied into each subtask:
//
//   struct Generator {
//     void record(const T&, Timestamp time);   each record, in order
//     Timestamp watermark() const;             asked behind each batch; may fall back, which is
//                                              ignored
//     void restore(Timestamp watermark);       optional: goes on behind this watermark
//   };
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include <hummer/batch.hpp>

namespace hummer {

// Difference and sum of times that stop at the ends of time.
constexpr Timestamp time_before(Timestamp time, std::int64_t milliseconds) {
  Timestamp result = 0;
  if (time == no_timestamp || __builtin_sub_overflow(time, milliseconds, &result)) {
    return no_timestamp;
  }
  return result;
}
constexpr Timestamp time_after(Timestamp time, std::int64_t milliseconds) {
  Timestamp result = 0;
  if (__builtin_add_overflow(time, milliseconds, &result)) return end_of_time;
  return result;
}

// The latest time so far, less `out_of_order_ms`.
struct BoundedWatermarks {
  std::int64_t out_of_order_ms = 0;
  Timestamp latest = no_timestamp;

  template <typename T>
  void record(const T&, Timestamp time) {
    latest = std::max(latest, time);
  }
  Timestamp watermark() const { return time_before(latest, out_of_order_ms); }
  void restore(Timestamp watermark) {
    if (watermark != no_timestamp) latest = time_after(watermark, out_of_order_ms);
  }
};

template <typename Function>
struct PunctuatedWatermarks {
  Function function;
  Timestamp latest = no_timestamp;

  template <typename T>
  void record(const T& record, Timestamp time) {
    const std::optional<Timestamp> own = function(record, time);
    if (own) latest = std::max(latest, *own);
  }
  Timestamp watermark() const { return latest; }
  void restore(Timestamp watermark) { latest = watermark; }
};

template <typename Generator>
struct WatermarkSettings {
  Generator generator;
  std::int64_t idle_ms = 0;  // 0: waits for ever

  WatermarkSettings with_idleness(std::int64_t milliseconds) const {
    WatermarkSettings copy = *this;
    copy.idle_ms = milliseconds;
    return copy;
  }
};

struct WatermarkStrategy {
  static WatermarkSettings<BoundedWatermarks> ascending() { return {{}}; }
  static WatermarkSettings<BoundedWatermarks> bounded(std::int64_t out_of_order_ms) {
    return {{.out_of_order_ms = out_of_order_ms}};
  }
  template <typename Function>
  static WatermarkSettings<PunctuatedWatermarks<Function>> punctuated(Function function) {
    return {{.function = std::move(function)}};
  }
  template <typename Generator>
  static WatermarkSettings<Generator> generated(Generator generator) {
    return {std::move(generator)};
  }
};

}  // namespace hummer
