#include "job_manager/user_metrics.hpp"

#include <algorithm>

#include "job_manager/job.hpp"
#include "protocol/metric_messages.hpp"

namespace hummer {

bool take_user_metrics(const JobGraph& graph, const wire::AttemptReport& report,
                       JobUserMetrics& metrics) {
  if (report.metrics().empty()) return false;
  JobUserMetrics reported;
  for (const wire::VertexMetrics& vertex : report.metrics()) {
    if (vertex.vertex() >= graph.vertices.size()) continue;
    const std::size_t operators = graph.vertices[vertex.vertex()].chain.size();
    const auto told = static_cast<std::size_t>(vertex.operators_size());
    for (std::uint32_t i = 0; i < std::min(operators, told); ++i) {
      std::vector<MetricSample> all = user_metrics_from(vertex.operators(static_cast<int>(i)));
      if (!all.empty()) reported[{vertex.vertex(), i}] = std::move(all);
    }
  }
  if (reported == metrics) return false;
  metrics = std::move(reported);
  return true;
}

JobUserMetrics user_metrics_of(const Job& job) {
  const PlacedAttempt* const placed = job.placed();
  if (placed == nullptr) return job.user_metrics;
  JobUserMetrics sums;
  for (const JobPart& part : placed->parts) {
    for (const auto& [at, metrics] : part.user_metrics) merge(sums[at], metrics);
  }
  return sums;
}

}  // namespace hummer
