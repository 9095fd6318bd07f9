#include "cli/commands/status.hpp"

#include "cli/cluster_session.hpp"
#include "cli/job_text.hpp"
#include "protocol/job_status.hpp"
#include "rest/job_json.hpp"

namespace hummer {
namespace {

constexpr std::uint32_t watch_wait_ms = 1000;

void show(ClusterSession& session, const wire::JobStatus& job) {
  const std::int64_t now_ms = session.platform().wall_time_ms();
  if (session.json()) {
    JsonWriter json;
    json.begin_object();
    write_job(json, job, now_ms);
    json.end_object();
    session.print(std::move(json).finish());
  } else if (session.rows()) {
    Table table({"job", "name", "state", "vertex", "tasks", "operator", "records_in", "records_out",
                 "bytes", "records_late", "remark"});
    const auto add = [&](std::vector<std::string> metrics) {
      std::vector<std::string> row{std::to_string(job.job()), job.name(),
                                   std::string(job_state_name(job.state()))};
      row.insert(row.end(), metrics.begin(), metrics.end());
      row.push_back(remark_of(job));
      table.add(std::move(row));
    };
    for (const VertexSummary& vertex : job_result(job, now_ms).vertices) {
      for (const OperatorSummary& op : vertex.operators) {
        add({vertex.name, std::to_string(vertex.parallelism), op.name,
             std::to_string(op.records_in), std::to_string(op.records_out),
             std::to_string(op.bytes), std::to_string(op.records_late)});
      }
    }
    if (job.vertices_size() == 0) add({"", "", "", "", "", "", ""});
    session.print(table);
  } else {
    session.print(describe_job(job, now_ms));
  }
}

// The job at each change until it has ended.
Result<wire::JobStatus> follow(ClusterSession& session, std::uint64_t job) {
  Platform& platform = session.platform();
  const bool terminal = platform.is_terminal(1) && !session.json();
  const std::unique_ptr<SignalWatch> signals = platform.watch_signals();
  std::uint64_t seen = 0;
  while (true) {
    wire::ClientRequest request;
    request.mutable_job()->set_job(job);
    request.mutable_job()->set_version_seen(seen);
    request.mutable_job()->set_wait_ms(seen == 0 ? 0 : watch_wait_ms);
    Result<wire::ClientAnswer> answer = session.ask(std::move(request));
    if (!answer.ok()) return answer.status();
    if (answer->job().version() != seen) {
      seen = answer->job().version();
      if (terminal) session.print("\x1b[H\x1b[2J");
      show(session, answer->job());
    }
    if (has_ended(answer->job().state())) return std::move(*answer->mutable_job());
    const bool asked_to_end =
        platform.run_until([&] { return signals->received() != 0; },
                           platform.now() + milliseconds(200)) == RunEnd::satisfied;
    if (asked_to_end) return Status(ErrorCode::cancelled, "no longer watched; the job goes on");
  }
}

}  // namespace

int run_status(const Invocation& invocation) {
  CommandLine line(
      "Shows a job: its state, why it waits or failed, metrics per operator.\n"
      "With --watch at each change until it has ended, and the exit code is then that of the job.");
  ClusterSession session(invocation.platform);
  std::string word;
  bool watch = false, explain = false;
  line.argument("JOB", word, "number, or name");
  session.add_options(line);
  session.add_output_options(line);
  line.flag("--watch", watch, "show each change until the job has ended");
  line.flag("--explain", explain, "the job's graphs as they are placed");
  if (const auto code = line.read(invocation, invocation.words)) return *code;
  if (Status status = session.open(); !status.ok()) return report(invocation.platform, status);

  const Result<std::uint64_t> number = session.find_job(word);
  if (!number.ok()) return report(invocation.platform, number.status());
  if (watch) {
    const Result<wire::JobStatus> end = follow(session, *number);
    if (!end.ok()) return report(invocation.platform, end.status());
    return job_result(*end, 0).exit_code();
  }
  const Result<wire::JobStatus> job = session.status_of(*number, explain);
  if (!job.ok()) return report(invocation.platform, job.status());
  if (explain) {
    session.print(job->explanation());
  } else {
    show(session, *job);
  }
  return 0;
}

}  // namespace hummer
