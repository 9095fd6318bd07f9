// TaskSamples: what the tasks, channels and slots of a deployment show at one moment.
//
// Copied out of counters that the slots publish as they go, so taking one costs the slots nothing.
// Thread: a value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/metric_sample.hpp"
#include "platform/time.hpp"

namespace hummer {

// Where a time has gone; all but idle and stalled was busy.
struct TimeShares {
  Nanoseconds busy_ns = 0;
  Nanoseconds idle_ns = 0;     // nothing to do
  Nanoseconds stalled_ns = 0;  // others were to take what was ready: back-pressure

  TimeShares& operator+=(const TimeShares& other) {
    busy_ns += other.busy_ns;
    idle_ns += other.idle_ns;
    stalled_ns += other.stalled_ns;
    return *this;
  }
};

// The metrics of an operator's functions.
struct UserMetricsSample {
  std::string operator_name;
  std::vector<MetricSample> metrics;
};

struct TaskSample {
  std::string name;  // "count[1]", "sender of count[1]"
  int slot = 0;
  int vertex = -1;  // whose chain it runs; -1: it moves data over a network
  std::uint64_t records_in = 0;
  std::uint64_t records_out = 0;
  std::uint64_t bytes_in = 0;  // by sources, or from the network
  std::uint64_t bytes_out = 0;
  TimeShares time;
  std::vector<UserMetricsSample> user;  // of those operators that have any
};

struct ChannelSample {
  std::string from;
  std::string to;
  std::uint64_t occupancy = 0;  // elements
  std::uint64_t credits = 0;
};

struct SlotSample {
  int number = 0;
  TimeShares time;
};

struct TaskSamples {
  std::vector<TaskSample> tasks;
  std::vector<ChannelSample> channels;
  std::vector<SlotSample> slots;
};

}  // namespace hummer
