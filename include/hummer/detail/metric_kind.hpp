// MetricKind: which of the metrics in hummer/metrics.hpp.
#pragma once

#include <cstdint>

namespace hummer {

enum class MetricKind : std::uint8_t { counter, gauge, histogram };

}  // namespace hummer
