// Metrics of the author's functions, as messages carry them.
#pragma once

#include <vector>

#include "base/metric_sample.hpp"
#include "protocol/control.pb.h"

namespace hummer {

// With what a client is told of a histogram, its quantiles.
void to_message(const std::vector<MetricSample>& metrics, wire::OperatorMetrics& message);

// By name. What no operator can have made is left out: names that are refused, unknown kinds,
// buckets that do not exist, and what is beyond the number of metrics that an operator may have.
std::vector<MetricSample> user_metrics_from(const wire::OperatorMetrics& message);

}  // namespace hummer
