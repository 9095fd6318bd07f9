// UserMetrics of a job: what its TaskManagers say of the metrics in its author's functions.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/metric_sample.hpp"
#include "graph/job_graph.hpp"
#include "protocol/control.pb.h"

namespace hummer {

struct Job;

// By vertex, and the operator's place in its chain; those that have none are missing.
using JobUserMetrics = std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<MetricSample>>;

// Replaces a part's by those of its report, where it has metrics at all. Whether they differ.
bool take_user_metrics(const JobGraph& graph, const wire::AttemptReport& report,
                       JobUserMetrics& metrics);

// Over all parts; of a job that has ended, over those that it had.
JobUserMetrics user_metrics_of(const Job& job);

}  // namespace hummer
