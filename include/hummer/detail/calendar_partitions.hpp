// Partition, and those of days and hours: see hummer/files.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include <hummer/batch.hpp>
#include <hummer/detail/captured_values.hpp>

namespace hummer {

struct Partition {
  std::string path;  // in the directory of the sink; empty: that itself
  // No record of it is expected once the watermark is there.
  Timestamp ends_at = end_of_time;
};

namespace detail {

// "dt=2026-11-26", and behind it "/hour=11" where `width_ms` is an hour.
Partition calendar_partition(Timestamp begin, std::int64_t width_ms);

template <typename TimeOf>
class CalendarPartition {
 public:
  CalendarPartition(TimeOf time_of, std::int64_t width_ms)
      : captured_values(hummer::captured_values(time_of).and_also(encoded_values(width_ms))),
        time_of_(std::move(time_of)),
        width_ms_(width_ms) {}

  template <typename T>
    requires std::is_invocable_v<const TimeOf&, const T&>
  const Partition& operator()(const T& record) {
    const Timestamp time = std::invoke(time_of_, record);
    if (time < begin_ || time >= end_) turn_to(time);
    return partition_;
  }

  CapturedValues captured_values;  // what client and workers compare

 private:
  void turn_to(Timestamp time) {
    const Timestamp rest = time % width_ms_;
    begin_ = time - (rest < 0 ? rest + width_ms_ : rest);
    end_ = begin_ + width_ms_;
    partition_ = calendar_partition(begin_, width_ms_);
  }

  TimeOf time_of_;
  std::int64_t width_ms_;
  Timestamp begin_ = 0;  // of the last one; none: an empty stretch
  Timestamp end_ = 0;
  Partition partition_;
};

}  // namespace detail
}  // namespace hummer
