#include "base/metric_sample.hpp"

#include <algorithm>
#include <tuple>

#include <hummer/detail/histogram_buckets.hpp>

namespace hummer {
namespace {

bool comes_before(const MetricSample& a, const MetricSample& b) {
  return std::tie(a.name, a.kind) < std::tie(b.name, b.kind);
}

}  // namespace

void MetricSample::add(const MetricSample& other) {
  if (kind == MetricKind::gauge) min = std::min(min, other.min);
  if (kind != MetricKind::counter) max = std::max(max, other.max);
  count += other.count;
  sum += other.sum;
  if (buckets.size() < other.buckets.size()) buckets.resize(other.buckets.size());
  for (std::size_t i = 0; i < other.buckets.size(); ++i) buckets[i] += other.buckets[i];
}

double MetricSample::quantile(double share) const {
  std::uint64_t all = 0;
  for (const std::uint64_t in_bucket : buckets) all += in_bucket;
  const double wanted = share * static_cast<double>(all);
  double before = 0;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const auto here = static_cast<double>(buckets[i]);
    if (here == 0 || before + here < wanted) {
      before += here;
      continue;
    }
    if (i + 1 >= detail::histogram_buckets) return max;
    const double begin = i == 0 ? 0 : detail::histogram_bound(i - 1);
    const double end = detail::histogram_bound(i);
    return std::min(max, begin + (end - begin) * (wanted - before) / here);
  }
  return max;
}

std::string_view to_string(MetricKind kind) {
  switch (kind) {
    case MetricKind::counter: return "counter";
    case MetricKind::gauge: return "gauge";
    case MetricKind::histogram: return "histogram";
  }
  return "unknown";
}

void merge(std::vector<MetricSample>& all, const std::vector<MetricSample>& more) {
  for (const MetricSample& sample : more) {
    const auto at = std::lower_bound(all.begin(), all.end(), sample, comes_before);
    if (at != all.end() && !comes_before(sample, *at)) {
      at->add(sample);
    } else {
      all.insert(at, sample);
    }
  }
}

}  // namespace hummer
