// MetricSample: what a metric of an author's functions (hummer/metrics.hpp) shows at one moment, of
// one subtask or of several together.
//
//   std::vector<MetricSample> all;
//   for (...) merge(all, metrics.sample());     // over the subtasks of an operator
//   all.front().quantile(0.99)
//
// Thread: a value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/detail/metric_kind.hpp>

namespace hummer {

struct MetricSample {
  std::string name;
  MetricKind kind = MetricKind::counter;
  std::uint64_t count = 0;  // a counter's value; a histogram's values; the subtasks of a gauge
  double sum = 0;           // of a gauge or histogram
  double min = 0;           // of a gauge
  double max = 0;           // of a gauge or histogram
  // Of a histogram, by bucket (histogram_buckets.hpp); empty buckets at the end are left out.
  std::vector<std::uint64_t> buckets;

  friend bool operator==(const MetricSample&, const MetricSample&) = default;
  // REQUIRES: `other` is of the same name and kind.
  void add(const MetricSample& other);
  // Of a histogram: below which value this share of its values lies.
  double quantile(double share) const;
};

std::string_view to_string(MetricKind kind);

// Adds each to that of its name and kind; `all` is kept in the order of these.
void merge(std::vector<MetricSample>& all, const std::vector<MetricSample>& more);

}  // namespace hummer
