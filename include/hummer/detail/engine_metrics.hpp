// The engine's own metrics of single operators. They are counted and shown like those of functions
// (hummer/metrics.hpp), beside them and never among them: with a point in their names, which no
// author's metric has, and apart from how many an operator may have.
//
//   Counter passed{detail::records_passed.name};
//
// In /metrics they are hummer_operator_pre_aggregation_records_passed_total and so on, each a row
// of docs/metrics.md. A new one needs its rows in src/observability/metrics_table.cpp.
#pragma once

#include <array>
#include <string_view>

#include <hummer/detail/metric_kind.hpp>

namespace hummer::detail {

struct EngineMetric {
  std::string_view name;
  MetricKind kind;
};

// Of operators that fold ahead of an exchange: see FoldingChoice.
inline constexpr EngineMetric epochs_folded{"pre_aggregation.epochs_folded", MetricKind::counter};
inline constexpr EngineMetric epochs_passed{"pre_aggregation.epochs_passed", MetricKind::counter};
inline constexpr EngineMetric epochs_probed{"pre_aggregation.epochs_probed", MetricKind::counter};
inline constexpr EngineMetric folds_now{"pre_aggregation.folds", MetricKind::gauge};
inline constexpr EngineMetric parts_handed_on{"pre_aggregation.parts", MetricKind::counter};
inline constexpr EngineMetric parts_per_record{"pre_aggregation.parts_per_record",
                                               MetricKind::gauge};
inline constexpr EngineMetric records_folded{"pre_aggregation.records_folded", MetricKind::counter};
inline constexpr EngineMetric records_passed{"pre_aggregation.records_passed", MetricKind::counter};

inline constexpr std::array engine_metrics{epochs_folded,  epochs_passed,   epochs_probed,
                                           folds_now,      parts_handed_on, parts_per_record,
                                           records_folded, records_passed};

constexpr bool is_engine_metric(std::string_view name, MetricKind kind) {
  for (const EngineMetric& metric : engine_metrics) {
    if (metric.name == name && metric.kind == kind) return true;
  }
  return false;
}

}  // namespace hummer::detail
