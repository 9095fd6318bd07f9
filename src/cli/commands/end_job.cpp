#include "cli/commands/end_job.hpp"

#include <fmt/format.h>

#include "cli/cluster_session.hpp"
#include "cli/job_text.hpp"
#include "protocol/job_status.hpp"

namespace hummer {
namespace {

constexpr std::uint32_t watch_wait_ms = 1000;

Result<wire::JobStatus> wait_for_end(ClusterSession& session, std::uint64_t job) {
  std::uint64_t seen = 0;
  while (true) {
    wire::ClientRequest request;
    request.mutable_job()->set_job(job);
    request.mutable_job()->set_version_seen(seen);
    request.mutable_job()->set_wait_ms(seen == 0 ? 0 : watch_wait_ms);
    Result<wire::ClientAnswer> answer = session.ask(std::move(request));
    if (!answer.ok()) return answer.status();
    seen = answer->job().version();
    if (has_ended(answer->job().state())) return std::move(*answer->mutable_job());
  }
}

// The savepoint that a job ends with.
int stop_with_savepoint(ClusterSession& session, std::uint64_t job, const std::string& directory) {
  const Result<std::string> path = session.take_savepoint(job, directory, true);
  if (!path.ok()) return report(session.platform(), path.status());
  session.print(*path + "\n");
  const Result<wire::JobStatus> end = wait_for_end(session, job);
  if (!end.ok()) return report(session.platform(), end.status());
  if (end->state() == wire::JOB_FINISHED) return 0;
  return report(session.platform(), job_result(*end, 0).status);
}

int end_job(const Invocation& invocation, const char* help, wire::DesiredState desired_state) {
  CommandLine line(help);
  ClusterSession session(invocation.platform);
  std::string word;
  bool no_wait = false;
  std::string savepoint;
  line.argument("JOB", word, "number, or name");
  bool with_savepoint = false;
  if (desired_state == wire::DESIRED_STOP) {
    line.option_or_flag("--savepoint", "[DIR]", savepoint, with_savepoint,
                        "save the job's state below DIR (or where its checkpoints are), and end "
                        "there: nothing behind it is processed");
  }
  session.add_options(line);
  line.flag("--no-wait", no_wait, "return when the JobManager has been told");
  if (const auto code = line.read(invocation, invocation.words)) return *code;
  if (Status status = session.open(); !status.ok()) return report(invocation.platform, status);

  const Result<std::uint64_t> job = session.find_job(word);
  if (!job.ok()) return report(invocation.platform, job.status());
  if (with_savepoint) return stop_with_savepoint(session, *job, savepoint);
  wire::ClientRequest request;
  request.mutable_end()->set_job(*job);
  request.mutable_end()->set_desired_state(desired_state);
  const Result<wire::ClientAnswer> answer = session.ask(std::move(request));
  if (!answer.ok()) return report(invocation.platform, answer.status());
  if (no_wait) return 0;
  const Result<wire::JobStatus> end = wait_for_end(session, *job);
  if (!end.ok()) return report(invocation.platform, end.status());
  session.print(fmt::format("job {} {}\n", *job, job_state_name(end->state())));
  // It was to end, and it has: also when it had finished before it could be cancelled.
  if (end->state() != wire::JOB_FAILED) return 0;
  return report(invocation.platform, job_result(*end, 0).status);
}

}  // namespace

int run_cancel(const Invocation& invocation) {
  return end_job(invocation,
                 "Cancels a job: its tasks end as soon as they notice, what is under way is lost.",
                 wire::DESIRED_CANCEL);
}

int run_stop(const Invocation& invocation) {
  return end_job(invocation,
                 "Stops a job in good order: its sources end, and what is under way is finished.",
                 wire::DESIRED_STOP);
}

}  // namespace hummer
