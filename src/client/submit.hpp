// From an environment with a built graph to a job on a cluster.
#pragma once

#include <hummer/environment.hpp>
#include <hummer/status.hpp>

#include "api/environment_impl.hpp"
#include "client/running_job.hpp"
#include "protocol/control.pb.h"

namespace hummer {

// The graph, the library and the arguments go to context.options.job_manager. With
// options.detached the handle's job counts as ended, and its number is printed.
// Errors: no origin (an ordinary main), a graph that is none, what the JobManager says.
Result<JobHandle> submit_to_cluster(const StreamExecutionEnvironment::Impl& impl,
                                    JobContext context);

// What of the options workers must know.
wire::JobOptions job_options(const EnvironmentOptions& options);

}  // namespace hummer
