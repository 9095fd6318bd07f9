#include "protocol/metric_messages.hpp"

#include <algorithm>

#include <hummer/detail/user_metrics.hpp>

namespace hummer {
namespace {

void read_buckets(const wire::UserMetric& from, MetricSample& sample) {
  sample.count = 0;
  const int buckets = std::min(from.bucket_numbers_size(), from.bucket_counts_size());
  for (int i = 0; i < buckets; ++i) {
    const std::size_t number = from.bucket_numbers(i);
    if (number >= detail::histogram_buckets) continue;
    if (sample.buckets.size() <= number) sample.buckets.resize(number + 1);
    sample.buckets[number] += from.bucket_counts(i);
    sample.count += from.bucket_counts(i);
  }
}

}  // namespace

void to_message(const std::vector<MetricSample>& metrics, wire::OperatorMetrics& message) {
  for (const MetricSample& sample : metrics) {
    wire::UserMetric& out = *message.add_user();
    out.set_name(sample.name);
    out.set_kind(static_cast<std::uint32_t>(sample.kind));
    out.set_count(sample.count);
    out.set_sum(sample.sum);
    out.set_min(sample.min);
    out.set_max(sample.max);
    if (sample.kind != MetricKind::histogram) continue;
    for (std::size_t i = 0; i < sample.buckets.size(); ++i) {
      if (sample.buckets[i] == 0) continue;
      out.add_bucket_numbers(static_cast<std::uint32_t>(i));
      out.add_bucket_counts(sample.buckets[i]);
    }
    out.set_p50(sample.quantile(0.5));
    out.set_p99(sample.quantile(0.99));
  }
}

std::vector<MetricSample> user_metrics_from(const wire::OperatorMetrics& message) {
  std::vector<MetricSample> metrics;
  constexpr std::size_t most = detail::metrics_per_operator_max + detail::engine_metrics.size();
  for (const wire::UserMetric& from : message.user()) {
    if (metrics.size() == most) break;
    if (from.kind() > static_cast<std::uint32_t>(MetricKind::histogram)) continue;
    MetricSample sample;
    sample.kind = static_cast<MetricKind>(from.kind());
    if (!detail::is_engine_metric(from.name(), sample.kind) &&
        !detail::metric_name_refusal(from.name()).empty())
      continue;
    sample.name = from.name();
    sample.count = from.count();
    if (sample.kind != MetricKind::counter) {
      sample.sum = from.sum();
      sample.max = from.max();
    }
    if (sample.kind == MetricKind::gauge) sample.min = from.min();
    if (sample.kind == MetricKind::histogram) read_buckets(from, sample);
    merge(metrics, {std::move(sample)});
  }
  return metrics;
}

}  // namespace hummer
