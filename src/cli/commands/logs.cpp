#include "cli/commands/logs.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/cluster_session.hpp"

namespace hummer {
namespace {

constexpr std::uint32_t follow_wait_ms = 1000;

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

}  // namespace

int run_logs(const Invocation& invocation) {
  CLI::App app("Prints what a job has logged, with times in UTC.");
  ClusterSession session(invocation.platform);
  std::string word;
  bool follow = false;
  app.add_option("JOB", word, "number, or name")->required();
  session.add_options(app);
  app.add_flag("--follow,-f", follow, "go on until the job has ended");
  if (const auto code = parse_words(app, invocation, invocation.words)) return *code;
  if (Status status = session.open(); !status.ok()) return report(invocation.platform, status);
  const Result<std::uint64_t> job = session.find_job(word);
  if (!job.ok()) return report(invocation.platform, job.status());
  return copy_log(session, *job, follow);
}

}  // namespace hummer
