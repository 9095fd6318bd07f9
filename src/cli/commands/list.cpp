#include "cli/commands/list.hpp"

#include "cli/cluster_session.hpp"
#include "cli/job_text.hpp"
#include "protocol/job_status.hpp"
#include "rest/job_json.hpp"

namespace hummer {

int run_list(const Invocation& invocation) {
  CommandLine line("Lists the jobs that the JobManager knows, newest first.");
  ClusterSession session(invocation.platform);
  session.add_options(line);
  session.add_output_options(line);
  if (const auto code = line.read(invocation, invocation.words)) return *code;
  if (Status status = session.open(); !status.ok()) return report(invocation.platform, status);

  wire::ClientRequest request;
  request.mutable_list();
  const Result<wire::ClientAnswer> answer = session.ask(std::move(request));
  if (!answer.ok()) return report(invocation.platform, answer.status());
  const std::int64_t now_ms = invocation.platform.wall_time_ms();
  if (session.json()) {
    JsonWriter json;
    json.begin_object();
    json.begin_array("jobs");
    for (const wire::JobStatus& job : answer->list().jobs()) {
      json.begin_object();
      write_job(json, job, now_ms);
      json.end_object();
    }
    json.end_array();
    json.end_object();
    session.print(std::move(json).finish());
    return 0;
  }
  Table table({"job", "name", "state", "slots", "submitted (UTC)", "running", "remark"});
  for (const wire::JobStatus& job : answer->list().jobs()) {
    table.add({std::to_string(job.job()), job.name(), std::string(job_state_name(job.state())),
               std::to_string(job.slots()), format_wall_time(job.submitted_ms()),
               running_time(job, now_ms), remark_of(job)});
  }
  session.print(table);
  return 0;
}

}  // namespace hummer
