// Until api/job_build.hpp is here: the same interface.
#pragma once

#include <span>
#include <string>

#include <hummer/job.hpp>

#include "graph/stream_graph.hpp"

namespace hummer {

struct BuiltJob {
  StreamGraph graph;
  EnvironmentOptions options;
};

Result<BuiltJob> build_job(JobFunction function, const std::vector<std::string>& arguments,
                           EnvironmentOptions defaults);

}  // namespace hummer
