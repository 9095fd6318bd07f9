// The watermark generators that are built in, and what aligned inputs know of each other
// (hummer/watermarks.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

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

// What aligned inputs know of each other. Thread: any. Cost: a lock per batch.
class WatermarkAlignment {
 public:
  using Member = std::size_t;

  WatermarkAlignment();
  Member join();
  // end_of_time: does not count, for now or for good.
  void set(Member member, Timestamp watermark);
  Timestamp lowest() const;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace hummer
