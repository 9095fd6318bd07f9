#include "cli/commands/job_manager.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/cluster_session.hpp"
#include "cli/server.hpp"
#include "control/job_manager/job_manager.hpp"

namespace hummer {
namespace {

constexpr const char* default_rest_address = "127.0.0.1:8081";

Nanoseconds in_nanoseconds(double seconds) { return static_cast<Nanoseconds>(seconds * 1e9); }

}  // namespace

int run_job_manager(const Invocation& invocation) {
  Platform& platform = invocation.platform;
  CLI::App app(
      "Runs the JobManager of a cluster: workers register with it, clients submit jobs to it.\n"
      "It ends in good order at SIGTERM or Ctrl-C, and at once at a second one.");
  std::string listen = default_job_manager, rest_listen;
  ClusterAddress address;
  double slot_timeout = 300, heartbeat_interval = 1, heartbeat_timeout = 5;
  bool insecure = false;
  app.add_option("--listen", listen, "host:port where workers and clients reach it; port 0: any")
      ->envname("HUMMER_LISTEN")
      ->capture_default_str();
  app.add_option("--rest-listen", rest_listen,
                 "host:port of its own for the HTTP interface, which --listen answers too: REST, "
                 "/metrics, /healthz [127.0.0.1:8081, where it is free]; none: without it")
      ->envname("HUMMER_REST_LISTEN");
  address.add_credential_options(app);
  app.add_flag("--tls-verify-peer", address.tls.verify_peer,
               "TLS: let in only who has a certificate of the CA, clients too")
      ->envname("HUMMER_TLS_VERIFY_PEER");
  app.add_option("--slot-timeout", slot_timeout, "seconds that a job waits for its slots")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  app.add_option("--heartbeat-interval", heartbeat_interval, "seconds between a worker's states")
      ->check(CLI::Range(0.01, 3600.0))
      ->capture_default_str();
  app.add_option("--heartbeat-timeout", heartbeat_timeout,
                 "seconds of silence after which a worker counts as lost")
      ->check(CLI::Range(0.02, 36000.0))
      ->capture_default_str();
  std::string state_directory;
  app.add_option("--state-dir", state_directory,
                 "directory of its own where it keeps jobs, so that they outlive it [none]")
      ->envname("HUMMER_STATE_DIR");
  add_insecure_option(app, insecure);
  app.footer(server_exit_codes_text);
  if (const auto code = parse_words(app, invocation, invocation.words)) return *code;
  if (heartbeat_timeout < 2 * heartbeat_interval) {
    return report(platform, {ErrorCode::invalid_argument,
                             "--heartbeat-timeout must be at least twice --heartbeat-interval, "
                             "else one late state is a loss"});
  }
  Result<Credentials> credentials = address.credentials(platform, TlsRole::server);
  if (!credentials.ok()) return report(platform, credentials.status());
  const std::shared_ptr<TlsContext> tls = credentials->tls;
  const Admission admission{.by_token = !credentials->token.empty(),
                            .by_certificate = tls != nullptr && address.tls.verify_peer,
                            .insecure = insecure};
  if (Status status = check_exposure(platform, "--listen", listen, admission); !status.ok()) {
    return report(platform, status);
  }
  const bool rest_by_default = rest_listen.empty();
  if (rest_by_default) rest_listen = default_rest_address;
  if (rest_listen == "none") rest_listen.clear();
  if (!rest_listen.empty()) {
    const Status status = check_exposure(platform, "--rest-listen", rest_listen, admission);
    if (!status.ok()) return report(platform, status);
  }

  ServerLog log(platform, "jobmanager");
  JobManagerOptions options;
  options.listen_address = listen;
  options.rest_address = rest_listen;
  options.rest_may_be_missing = rest_by_default;
  options.token = std::move(credentials->token);
  options.tls = tls;
  options.state_directory = std::move(state_directory);
  options.slot_timeout_ns = in_nanoseconds(slot_timeout);
  options.heartbeat_interval_ns = in_nanoseconds(heartbeat_interval);
  options.heartbeat_timeout_ns = in_nanoseconds(heartbeat_timeout);
  options.log = &ServerLog::write;
  options.log_context = &log;
  const std::unique_ptr<SignalWatch> signals = platform.watch_signals();
  JobManager job_manager(platform, std::move(options));
  if (Status status = job_manager.start(); !status.ok()) {
    return report(platform, explain_listen_failure(std::move(status), "--listen"));
  }
  log.line("listening on " + job_manager.address().to_string());
  if (const auto rest = job_manager.rest_address()) {
    log.line(fmt::format("HTTP interface at {}://{}/v1/overview", tls != nullptr ? "https" : "http",
                         rest->to_string()));
    warn_of_plain_text(log, *rest, tls != nullptr);
  }
  warn_of_plain_text(log, job_manager.address(), tls != nullptr);
  serve_until(platform, [&] { return signals->received() != 0; }, tls.get(), log);
  log.line("stopping");
  job_manager.stop();
  return 0;
}

}  // namespace hummer
