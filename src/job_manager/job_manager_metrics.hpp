// The JobManager's /metrics: its TaskManagers and jobs, with the metrics that they have reported.
#pragma once

#include <string>

#include "job_manager/cluster_state.hpp"

namespace hummer {

std::string job_manager_metrics(ClusterState& cluster, const JobManagerCounts& counts, Moment at,
                                const JobManagerOptions& options);

}  // namespace hummer
