#include "cli/commands/local.hpp"

#include <algorithm>
#include <array>
#include <deque>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/command_options.hpp"
#include "cli/job_file.hpp"
#include "cli/job_manager_server.hpp"
#include "cli/local_workers.hpp"
#include "cli/server.hpp"
#include "platform/memory_limit.hpp"

namespace hummer {
namespace {

constexpr std::uint64_t descriptors_per_worker = 4096;

std::string count_of(int count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// Where this machine's commands and workers reach who listens at `address`: with the host that was
// asked for, since its certificate may be for that name.
std::string address_to_ask(const std::string& listen, const SocketAddress& address) {
  constexpr std::array<std::uint8_t, 16> any{};
  if (address.bytes == any) {
    return fmt::format("{}:{}", address.is_ipv6 ? "[::1]" : "127.0.0.1", address.port);
  }
  return fmt::format("{}:{}", listen.substr(0, listen.rfind(':')), address.port);
}

// The limit is of the process, and each worker keeps to its part; 0: none.
std::size_t memory_of_each(Platform& platform, const LocalSettings& settings, const Logger& log) {
  const MemoryLimit all = effective_memory_limit(platform, settings.memory_limit_bytes);
  if (all.bytes == 0) return 0;
  const auto workers = static_cast<std::size_t>(settings.workers);
  const std::size_t each = std::max<std::size_t>(all.bytes / workers, 1);
  if (!all.from.empty()) {
    log.info(
        fmt::format("jobs may hold {} MiB in the memory of each worker: its part of {}; "
                    "--memory-limit sets it for all of them",
                    each >> 20, all.from));
  }
  return each;
}

// Each with a name and a log of its own, as if it were a process.
Status add_workers(Platform& platform, const LocalSettings& settings, TaskManagerOptions options,
                   std::deque<ProcessLog>& logs, LocalWorkers& workers) {
  for (int i = 1; i <= settings.workers; ++i) {
    options.id = fmt::format("worker{}", i);
    Result<ProcessLogOptions> log_options =
        process_log_options(settings.job_manager.log, options.id);
    if (!log_options.ok()) return log_options.status();
    ProcessLog& log = logs.emplace_back(platform, *std::move(log_options));
    options.log = &log;
    options.process_log = &log;
    HUMMER_TRY(workers.add(options));
  }
  return {};
}

std::string how_to_submit(const Invocation& invocation, const LocalSettings& settings,
                          const TaskManagerOptions& options) {
  return fmt::format(
      "cluster of {} with {} each at {}; submit with: {} submit{} --job-manager {}\n",
      count_of(settings.workers, "worker"), count_of(options.slots, "slot"), options.job_manager,
      invocation.program, invocation.job == nullptr ? " LIBRARY" : "", options.job_manager);
}

}  // namespace

int run_local(const Invocation& invocation) {
  Platform& platform = invocation.platform;
  CommandLine line(
      "Runs a whole cluster in this process, for development: a JobManager, and workers that are\n"
      "registered with it. When all are there a line on standard output says how to submit.\n"
      "It ends in good order at SIGTERM or Ctrl-C, and at once at a second one.");
  const CommandOptions<LocalSettings> command_options(line);
  line.footer(server_exit_codes_text);
  if (const auto code = line.read(invocation, invocation.words)) return *code;
  LocalSettings settings;
  if (const auto effective = command_options.read(platform, settings); !effective.ok()) {
    return report(platform, effective.status());
  }
  // The workers have the JobManager's certificate, and take data only from who has one.
  CredentialSettings of_workers = settings.job_manager.credentials;
  of_workers.tls.verify_peer = true;
  const Result<Credentials> credentials = find_credentials(platform, of_workers, TlsRole::both);
  if (!credentials.ok()) return report(platform, credentials.status());
  const auto made = JobManagerServer::make(platform, settings.job_manager);
  if (!made.ok()) return report(platform, made.status());
  JobManagerServer& server = **made;
  BuiltInJobLibraries built_in;
  const Result<std::uint64_t> program_hash = add_own_job(invocation, built_in);
  if (!program_hash.ok()) return report(platform, program_hash.status());
  const auto workers_wanted = static_cast<std::uint64_t>(settings.workers);
  (void)platform.raise_descriptor_limit(workers_wanted * descriptors_per_worker);

  const std::unique_ptr<SignalWatch> signals = platform.watch_signals(Hangup::asks_to_reload);
  if (const Status status = server.start(); !status.ok()) return report(platform, status);
  TaskManagerOptions options;
  options.job_manager = address_to_ask(settings.job_manager.listen, server.address());
  options.token = server.credentials().token;
  options.tls = credentials->tls;
  options.slots = settings.slots == 0 ? platform.processors() : settings.slots;
  options.program_hash = *program_hash;
  options.memory_limit_bytes = memory_of_each(platform, settings, server.log());
  options.spill_directory = settings.spill_directory;
  options.rdma_provider = settings.rdma_provider;
  options.rest_address = "127.0.0.1:0";
  std::deque<ProcessLog> logs;  // the workers write to them until they have ended
  JobLibraries& libraries = invocation.job != nullptr ? built_in : invocation.libraries;
  LocalWorkers workers(platform, libraries);
  Status status = add_workers(platform, settings, options, logs, workers);
  const auto interrupted = [&] { return signals->received() != 0; };
  if (status.ok()) status = workers.await_registration(interrupted);
  if (status.ok() && !interrupted()) {
    (void)platform.write_standard(1, how_to_submit(invocation, settings, options));
  }
  const auto look = [&] {
    if (status.ok()) status = server.look();
    if (status.ok()) status = workers.refusal();
    return !status.ok();
  };
  const std::array tls{server.credentials().tls, credentials->tls};
  serve_until(platform, *signals, look, tls, server.log());
  server.log().info("stopping");
  // First who leads: to lose its workers one after the other would cost jobs their restarts.
  server.stop();
  workers.stop();
  return status.ok() ? 0 : report(platform, status);
}

}  // namespace hummer
