#include "client/running_job.hpp"

#include <fmt/format.h>

namespace hummer {

JobResult JobContext::failed(Status status) const {
  JobResult result;
  result.job_name = job_name;
  result.status = std::move(status);
  return result;
}

void JobContext::keep_and_report(const JobResult& result) const {
  *last_result = result;
  if (!from_command_line || result.ok()) return;
  (void)platform->write_standard(
      2, fmt::format("hummer: {} failed: {}\n", job_name, result.status.to_string()));
}

EndedRun::EndedRun(const JobContext& context, JobResult result) : result_(std::move(result)) {
  context.keep_and_report(result_);
}

}  // namespace hummer
