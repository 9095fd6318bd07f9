// What a job with checkpoints should be told about its sources: those that cannot be replayed lose,
// at a restart, what they have handed out since the newest checkpoint.
//
// Pure. Whoever starts the job tells it, once: the embedded run and the client on standard error,
// the JobManager in its log.
#pragma once

#include <string>
#include <vector>

#include "graph/job_graph.hpp"

namespace hummer {

// One text per such source, in the order of the graph; it names the operator and says what to do.
std::vector<std::string> replay_warnings(const JobGraph& graph);

}  // namespace hummer
