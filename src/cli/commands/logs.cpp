#include "cli/commands/logs.hpp"

#include <fmt/format.h>

#include "cli/cluster_session.hpp"
#include "observability/log_line.hpp"

namespace hummer {
namespace {

constexpr std::uint32_t follow_wait_ms = 1000;
constexpr Nanoseconds look_interval_ns = milliseconds(500);

int copy_log(ClusterSession& session, std::uint64_t job, bool follow) {
  std::uint64_t next = 0;
  while (true) {
    wire::ClientRequest request;
    request.mutable_log()->set_job(job);
    request.mutable_log()->set_from_line(next);
    request.mutable_log()->set_wait_ms(follow ? follow_wait_ms : 0);
    const Result<wire::ClientAnswer> answer = session.ask(std::move(request));
    if (!answer.ok()) return report(session.platform(), answer.status());
    const wire::LogPage& page = answer->log();
    if (page.lines_size() > 0 && page.first_line() > next) {
      session.print(fmt::format("({} lines are gone)\n", page.first_line() - next));
    }
    std::string text;
    for (const wire::LogLine& line : page.lines()) {
      text += fmt::format("{}.{:03} {}\n", format_wall_time(line.wall_time_ms()),
                          line.wall_time_ms() % 1000, line.text());
    }
    if (!text.empty()) session.print(text);
    next = std::max(next, page.first_line() + static_cast<std::uint64_t>(page.lines_size()));
    if (page.lines_size() == 0 && (page.ended() || !follow)) return 0;
  }
}

LogLine line_of(const wire::ProcessLogLine& from) {
  LogLine line;
  line.number = from.number();
  line.wall_time_ms = from.wall_time_ms();
  line.level = find_log_level(from.level()).value_or(LogLevel::info);
  line.module = find_log_module(from.module()).value_or(LogModule::cluster);
  line.job = from.job();
  if (from.has_attempt()) line.attempt = from.attempt();
  line.task = from.task();
  line.text = from.text();
  return line;
}

// What is asked of a process's log.
struct ProcessLogQuery {
  std::string level;
  std::uint64_t job = 0;
  bool follow = false;
  LogFormat format = LogFormat::text;
};

int copy_process_log(ClusterSession& session, const ProcessLogQuery& query) {
  Platform& platform = session.platform();
  std::uint64_t after = 0;
  while (true) {
    wire::ClientRequest request;
    request.mutable_process_log()->set_after(after);
    request.mutable_process_log()->set_level(query.level);
    request.mutable_process_log()->set_job(query.job);
    const Result<wire::ClientAnswer> answer = session.ask(std::move(request));
    if (!answer.ok()) return report(platform, answer.status());
    const wire::ProcessLogPage& page = answer->process_log();
    if (page.last() < after) {  // another process, which counts anew
      after = 0;
      continue;
    }
    std::string text;
    if (after != 0 && page.first() > after + 1) {
      text += fmt::format("({} lines are gone)\n", page.first() - after - 1);
    }
    for (const wire::ProcessLogLine& line : page.lines()) {
      text += format_log_line(line_of(line), page.process(), query.format);
    }
    if (!text.empty()) session.print(text);
    const bool news = page.last() > after;
    after = page.last();
    if (news) continue;
    if (!query.follow) return 0;
    (void)platform.run_until([] { return false; }, platform.now() + look_interval_ns);
  }
}

// Whether `word` names a process rather than a job; then the session asks that one.
Result<bool> find_process(ClusterSession& session, const std::string& word) {
  if (word == "jobmanager") return true;
  if (word.find(':') != word.npos) {
    session.turn_to(word);
    return true;
  }
  wire::ClientRequest request;
  request.mutable_task_managers();
  const Result<wire::ClientAnswer> answer = session.ask(std::move(request));
  if (!answer.ok()) return answer.status();
  for (const wire::TaskManagerStatus& worker : answer->task_managers().task_managers()) {
    if (worker.id() != word) continue;
    if (worker.lost()) {
      return Status(ErrorCode::not_found,
                    fmt::format("TaskManager '{}' is lost: {}", word, worker.reason()));
    }
    if (worker.rest_address().empty()) {
      return Status(ErrorCode::not_found,
                    fmt::format("TaskManager '{}' has no HTTP interface to read its log from; "
                                "start it without --rest-listen none",
                                word));
    }
    session.turn_to(worker.rest_address());
    return true;
  }
  return false;
}

}  // namespace

int run_logs(const Invocation& invocation) {
  CommandLine line(
      "Prints what a job has logged, or a process: the JobManager or a TaskManager. Times are "
      "UTC.");
  ClusterSession session(invocation.platform);
  ProcessLogQuery query;
  std::string word;
  bool json = false;
  line.argument("JOB|PROCESS", word,
                "a job's number or name; or jobmanager, a TaskManager's id, or the host:port of a "
                "process's HTTP interface");
  line.option("--level", query.level, "of a process: the least grave lines that are wanted",
              {"error", "warning", "info", "debug"});
  line.option("--job", query.job, "of a process: only lines about the job of this number");
  line.flag("--json", json, "of a process: one JSON object for each line");
  line.flag("--follow,-f", query.follow, "go on; with a job: until it has ended");
  session.add_options(line);
  if (const auto code = line.read(invocation, invocation.words)) return *code;
  if (json) query.format = LogFormat::json;
  if (Status status = session.open(); !status.ok()) return report(invocation.platform, status);
  const Result<bool> process = find_process(session, word);
  if (!process.ok()) return report(invocation.platform, process.status());
  if (*process) return copy_process_log(session, query);
  const Result<std::uint64_t> job = session.find_job(word);
  if (!job.ok()) return report(invocation.platform, job.status());
  return copy_log(session, *job, query.follow);
}

}  // namespace hummer
