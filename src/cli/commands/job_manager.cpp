#include "cli/commands/job_manager.hpp"

#include "cli/command.hpp"
#include "cli/command_options.hpp"
#include "cli/job_manager_server.hpp"
#include "cli/server.hpp"

namespace hummer {

int run_job_manager(const Invocation& invocation) {
  Platform& platform = invocation.platform;
  CommandLine line(
      "Runs the JobManager of a cluster: workers register with it, clients submit jobs to it.\n"
      "It ends in good order at SIGTERM or Ctrl-C, and at once at a second one.");
  const CommandOptions<JobManagerSettings> command_options(line);
  line.footer(server_exit_codes_text);
  if (const auto code = line.read(invocation, invocation.words)) return *code;
  JobManagerSettings settings;
  if (const auto effective = command_options.read(platform, settings); !effective.ok()) {
    return report(platform, effective.status());
  }
  const auto made = JobManagerServer::make(platform, settings);
  if (!made.ok()) return report(platform, made.status());
  JobManagerServer& server = **made;
  const std::unique_ptr<SignalWatch> signals = platform.watch_signals(Hangup::asks_to_reload);
  if (const Status status = server.start(); !status.ok()) return report(platform, status);
  const auto over = [&] { return !server.look().ok(); };
  serve_until(platform, *signals, over, std::span(&server.credentials().tls, 1), server.log());
  server.log().info("stopping");
  server.stop();
  const Status failure = server.look();
  return failure.ok() ? 0 : report(platform, failure);
}

}  // namespace hummer
