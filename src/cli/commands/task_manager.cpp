#include "cli/commands/task_manager.hpp"

#include <utility>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/command_options.hpp"
#include "cli/job_file.hpp"
#include "cli/server.hpp"
#include "client/credentials.hpp"
#include "client/local_token.hpp"
#include "platform/look_up_now.hpp"
#include "platform/loopback.hpp"
#include "platform/run_task.hpp"
#include "task_manager/task_manager.hpp"

namespace hummer {
namespace {

constexpr std::uint64_t wanted_descriptors = 65'536;

// What was given, an address per interface, or the default.
Result<std::vector<std::string>> data_addresses(Platform& platform,
                                                const std::vector<std::string>& given,
                                                const std::vector<std::string>& interfaces) {
  std::vector<std::string> addresses = given;
  for (const std::string& name : interfaces) {
    const Result<SocketAddress> address = platform.network().interface_address(name);
    if (!address.ok()) return address.status().with_context("--data-interface " + name);
    addresses.push_back(name + "=" + address->to_string());
  }
  if (addresses.empty()) addresses.push_back("127.0.0.1:0");
  return addresses;
}

std::string without_interface(const std::string& address) {
  const std::size_t equals = address.find('=');
  return equals == address.npos ? address : address.substr(equals + 1);
}

// Loopback is right for a cluster on one machine only.
Status check_reach(Platform& platform, const std::string& job_manager,
                   const std::vector<std::string>& addresses) {
  const Result<SocketAddress> master = look_up_now(platform, job_manager);
  if (!master.ok()) return master.status().with_context("--job-manager " + job_manager);
  if (is_loopback(*master)) return {};
  for (const std::string& address : addresses) {
    const Result<SocketAddress> own = look_up_now(platform, without_interface(address));
    if (!own.ok()) return own.status().with_context("--data-address " + address);
    if (!is_loopback(*own)) return {};
  }
  return {
      ErrorCode::invalid_argument,
      fmt::format("the JobManager is at {}, but other workers could not send this one data: say "
                  "where they reach it, with --data-address HOST:0 or --data-interface NAME",
                  job_manager)};
}

}  // namespace

Task<bool> reach(Platform& platform, SocketAddress address) {
  const auto stream = co_await platform.network().connect(address, ConnectOptions());
  co_return stream.ok();
}

// Of a JobManager on this machine that was given none. It may come later than its workers, and is
// waited for then; one that can be reached and has left no token was given one, or needs none.
std::string await_local_token(Platform& platform, const std::string& job_manager,
                              SignalWatch& signals, const Logger& log) {
  constexpr Nanoseconds pause_ns = milliseconds(200);
  const Result<SocketAddress> address = platform.network().resolve(job_manager);
  if (!address.ok() || !is_loopback(*address)) return {};
  const std::unique_ptr<Executor> executor = platform.make_executor({.name = "reach"});
  bool reached = false, told = false;
  const auto ends = [&] { return signals.received() != 0; };
  while (!ends()) {
    std::string token = find_local_token(platform, job_manager);
    if (!token.empty() || reached) return token;
    reached = run_task(platform, *executor, reach(platform, *address)).value_or(false);
    if (!reached && !std::exchange(told, true)) {
      log.info(
          fmt::format("no token was given, and nobody listens at {}: waits for the "
                      "JobManager, which makes one",
                      job_manager));
    }
    (void)platform.run_until(ends, platform.now() + pause_ns);
  }
  return {};
}

int run_task_manager(const Invocation& invocation) {
  Platform& platform = invocation.platform;
  CommandLine line(
      "Runs a worker: it registers with the JobManager and runs parts of jobs in its slots.\n"
      "It ends in good order at SIGTERM or Ctrl-C, and at once at a second one. When the "
      "JobManager\n"
      "is gone it cancels what it runs and registers again, for ever.");
  const CommandOptions<TaskManagerSettings> command_options(line);
  line.footer(server_exit_codes_text);
  if (const auto code = line.read(invocation, invocation.words)) return *code;

  TaskManagerSettings settings;
  if (const auto effective = command_options.read(platform, settings); !effective.ok()) {
    return report(platform, effective.status());
  }
  Result<ProcessLogOptions> log_options = process_log_options(settings.log, "taskmanager");
  if (!log_options.ok()) return report(platform, log_options.status());
  // Who sends data is a worker, and has a certificate like this one.
  settings.credentials.tls.verify_peer = true;
  Result<Credentials> credentials = find_credentials(platform, settings.credentials, TlsRole::both);
  if (!credentials.ok()) return report(platform, credentials.status());
  const std::shared_ptr<TlsContext> tls = credentials->tls;
  ProcessLog process_log(platform, *std::move(log_options));
  const Logger log(&process_log, LogModule::cli);
  const std::unique_ptr<SignalWatch> signals = platform.watch_signals(Hangup::asks_to_reload);
  if (credentials->token.empty()) {
    credentials->token = await_local_token(platform, settings.job_manager, *signals, log);
    if (signals->received() != 0) return 0;
  }
  const Admission admission{.by_token = !credentials->token.empty(),
                            .by_certificate = tls != nullptr,
                            .insecure = settings.insecure};
  Result<std::vector<std::string>> addresses =
      data_addresses(platform, settings.data_addresses, settings.data_interfaces);
  if (!addresses.ok()) return report(platform, addresses.status());
  for (const std::string& data : *addresses) {
    if (Status status =
            check_exposure(platform, "--data-address", without_interface(data), admission);
        !status.ok()) {
      return report(platform, status);
    }
  }
  TaskManagerOptions options;
  if (settings.rest_listen != "none") {
    const Status status =
        check_exposure(platform, "--rest-listen", settings.rest_listen, admission);
    if (!status.ok()) return report(platform, status);
    options.rest_address = settings.rest_listen;
  }
  if (Status status = check_reach(platform, settings.job_manager, *addresses); !status.ok()) {
    return report(platform, status);
  }
  BuiltInJobLibraries built_in;
  const Result<std::uint64_t> program_hash = add_own_job(invocation, built_in);
  if (!program_hash.ok()) return report(platform, program_hash.status());
  options.program_hash = *program_hash;

  (void)platform.raise_descriptor_limit(wanted_descriptors);
  options.job_manager = settings.job_manager;
  options.slots = settings.slots == 0 ? platform.processors() : settings.slots;
  options.id = settings.id;
  options.host = settings.host;
  options.memory_limit_bytes = settings.memory_limit_bytes;
  options.spill_directory = settings.spill_directory;
  options.rdma_provider = settings.rdma_provider;
  options.token = std::move(credentials->token);
  options.tls = tls;
  options.data_addresses = *addresses;
  options.log = &process_log;
  options.process_log = &process_log;
  const int slots = options.slots;
  JobLibraries& libraries = invocation.job != nullptr ? built_in : invocation.libraries;
  TaskManager task_manager(platform, libraries, std::move(options));
  if (Status status = task_manager.start(); !status.ok()) {
    return report(platform,
                  explain_listen_failure(std::move(status), "--data-address or --rest-listen"));
  }
  log.info(fmt::format("'{}' with {} slots, JobManager at {}", task_manager.id(), slots,
                       settings.job_manager));
  if (const auto rest = task_manager.rest_address()) {
    log.info(fmt::format("HTTP interface at {}://{}/metrics", tls != nullptr ? "https" : "http",
                         rest->to_string()));
    warn_of_plain_text(log, *rest, tls != nullptr);
  }
  for (const std::string& data : *addresses) {
    const Result<SocketAddress> resolved = look_up_now(platform, without_interface(data));
    if (resolved.ok()) warn_of_plain_text(log, *resolved, tls != nullptr);
  }
  const auto refused = [&] { return !task_manager.refusal().ok(); };
  serve_until(platform, *signals, refused, std::span(&tls, 1), log);
  const Status refusal = task_manager.refusal();
  if (refusal.ok()) log.info("stopping");
  task_manager.stop();
  return refusal.ok() ? 0 : report(platform, refusal);
}

}  // namespace hummer
