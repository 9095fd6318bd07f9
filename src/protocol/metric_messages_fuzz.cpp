// Bytes → wire::OperatorMetrics → metrics of an author's functions. What is read keeps the limits,
// and is the same after the way back.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <hummer/detail/user_metrics.hpp>

#include "protocol/metric_messages.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  hummer::wire::OperatorMetrics message;
  if (!message.ParseFromArray(data, static_cast<int>(size))) return 0;
  const std::vector<hummer::MetricSample> metrics = hummer::user_metrics_from(message);
  require(metrics.size() <=
          hummer::detail::metrics_per_operator_max + hummer::detail::engine_metrics.size());
  for (const hummer::MetricSample& metric : metrics) {
    require(hummer::detail::is_engine_metric(metric.name, metric.kind) ||
            hummer::detail::metric_name_refusal(metric.name).empty());
    require(metric.buckets.size() <= hummer::detail::histogram_buckets);
    (void)metric.quantile(0.99);
  }
  hummer::wire::OperatorMetrics again;
  hummer::to_message(metrics, again);
  hummer::wire::OperatorMetrics last;
  hummer::to_message(hummer::user_metrics_from(again), last);
  require(last.SerializeAsString() == again.SerializeAsString());
  return 0;
}
