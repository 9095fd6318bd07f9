#include "cli/commands/job_manager.hpp"

#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/command_options.hpp"
#include "cli/server.hpp"
#include "control/client/credentials.hpp"
#include "control/client/local_token.hpp"
#include "control/job_manager/job_manager.hpp"

namespace hummer {
namespace {

constexpr const char* default_rest_address = "127.0.0.1:8081";

Nanoseconds in_nanoseconds(double seconds) { return static_cast<Nanoseconds>(seconds * 1e9); }

}  // namespace

// What was asked for, so that who may submit code is never decided by an omission.
bool makes_token(const JobManagerSettings& settings, const Admission& admission) {
  return !admission.by_token && !admission.by_certificate && !settings.insecure;
}

// Of a JobManager that runs: makes the token that it has made findable, or says that there is none.
class LocalAccess {
 public:
  LocalAccess(Platform& platform, const JobManager& job_manager, const LocalToken* made)
      : platform_(platform),
        token_(made != nullptr ? made->token : ""),
        addresses_{job_manager.address()} {
    if (const auto rest = job_manager.rest_address()) addresses_.push_back(*rest);
  }

  // The path of the first file.
  Result<std::string> publish() {
    next_ns_ = platform_.now() + publish_interval_ns;
    std::string first;
    for (const SocketAddress& address : addresses_) {
      if (token_.empty()) {
        withdraw_local_token(platform_, address);
        continue;
      }
      Result<std::string> path = publish_local_token(platform_, address, token_);
      if (!path.ok()) return path;
      if (first.empty()) first = std::move(*path);
    }
    return first;
  }
  // What clears away old temporary files may have taken it.
  void publish_when_due() {
    if (!token_.empty() && platform_.now() >= next_ns_) (void)publish();
  }

 private:
  static constexpr Nanoseconds publish_interval_ns = seconds(3600);
  Platform& platform_;
  const std::string token_;  // empty: none was made
  std::vector<SocketAddress> addresses_;
  Nanoseconds next_ns_ = 0;
};

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
  if (settings.heartbeat_timeout_s < 2 * settings.heartbeat_interval_s) {
    return report(platform, {ErrorCode::invalid_argument,
                             "--heartbeat-timeout must be at least twice --heartbeat-interval, "
                             "else one late state is a loss"});
  }
  Result<ProcessLogOptions> log_options = process_log_options(settings.log, "jobmanager");
  if (!log_options.ok()) return report(platform, log_options.status());
  Result<Credentials> credentials =
      find_credentials(platform, settings.credentials, TlsRole::server);
  if (!credentials.ok()) return report(platform, credentials.status());
  const std::shared_ptr<TlsContext> tls = credentials->tls;
  const Admission admission{
      .by_token = !credentials->token.empty(),
      .by_certificate = tls != nullptr && settings.credentials.tls.verify_peer,
      .insecure = settings.insecure};
  if (Status status = check_exposure(platform, "--listen", settings.listen, admission);
      !status.ok()) {
    return report(platform, status);
  }
  std::string rest_listen = settings.rest_listen;
  const bool rest_by_default = rest_listen.empty();
  if (rest_by_default) rest_listen = default_rest_address;
  if (rest_listen == "none") rest_listen.clear();
  if (!rest_listen.empty()) {
    const Status status = check_exposure(platform, "--rest-listen", rest_listen, admission);
    if (!status.ok()) return report(platform, status);
  }

  std::optional<LocalToken> made;
  if (makes_token(settings, admission)) {
    Result<LocalToken> token =
        make_local_token(platform, settings.listen, settings.state_directory);
    if (!token.ok()) return report(platform, token.status().with_context("making a token"));
    made = std::move(*token);
    credentials->token = made->token;
  }

  ProcessLog process_log(platform, *std::move(log_options));
  const Logger log(&process_log, LogRoom::cli);
  JobManagerOptions options;
  options.listen_address = settings.listen;
  options.rest_address = rest_listen;
  options.rest_may_be_missing = rest_by_default;
  options.token = std::move(credentials->token);
  options.tls = tls;
  options.state_directory = settings.state_directory;
  options.slot_timeout_ns = in_nanoseconds(settings.slot_timeout_s);
  options.heartbeat_interval_ns = in_nanoseconds(settings.heartbeat_interval_s);
  options.heartbeat_timeout_ns = in_nanoseconds(settings.heartbeat_timeout_s);
  options.log = Logger(&process_log, LogRoom::control);
  options.process_log = &process_log;
  const std::unique_ptr<SignalWatch> signals = platform.watch_signals(Hangup::asks_to_reload);
  JobManager job_manager(platform, std::move(options));
  if (Status status = job_manager.start(); !status.ok()) {
    return report(platform, explain_listen_failure(std::move(status), "--listen"));
  }
  // Before anybody is told where to ask.
  LocalAccess access(platform, job_manager, made ? &*made : nullptr);
  const Result<std::string> published = access.publish();
  log.info("listening on " + job_manager.address().to_string());
  if (const auto rest = job_manager.rest_address()) {
    log.info(fmt::format("HTTP interface at {}://{}/v1/overview", tls != nullptr ? "https" : "http",
                         rest->to_string()));
    warn_of_plain_text(log, *rest, tls != nullptr);
  }
  warn_of_plain_text(log, job_manager.address(), tls != nullptr);
  if (made && !published.ok() && made->path.empty()) {
    job_manager.stop();
    return report(platform, published.status().with_context(
                                "no --token-file was given, and the token that was made can't be "
                                "left where commands find it; give one, or --state-dir"));
  }
  if (!published.ok()) log.warning(published.status().to_string());
  if (made) {
    log.info(fmt::format(
        "no token was given, so one was made: '{}' holds it (mode 0600). Commands and workers of "
        "this user on this machine find it by themselves; --insecure lets everybody in",
        made->path.empty() ? *published : made->path));
  } else if (!admission.by_token && !admission.by_certificate) {
    log.warning("--insecure: whoever reaches this JobManager may submit code");
  }
  const auto look_after_token = [&] {
    access.publish_when_due();
    return !job_manager.failure().ok();
  };
  serve_until(platform, *signals, look_after_token, tls.get(), log);
  log.info("stopping");
  job_manager.stop();
  const Status failure = job_manager.failure();
  return failure.ok() ? 0 : report(platform, failure);
}

}  // namespace hummer
