#include "cli/job_manager_server.hpp"

#include <utility>

#include <fmt/format.h>

namespace hummer {
namespace {

constexpr const char* default_rest_address = "127.0.0.1:8081";
constexpr Nanoseconds publish_interval_ns = seconds(3600);

Nanoseconds in_nanoseconds(double seconds) { return static_cast<Nanoseconds>(seconds * 1e9); }

JobManagerOptions job_manager_options(const JobManagerSettings& settings,
                                      const std::string& rest_listen) {
  JobManagerOptions options;
  options.listen_address = settings.listen;
  options.rest_address = rest_listen;
  options.rest_may_be_missing = settings.rest_listen.empty();
  options.state_directory = settings.state_directory;
  options.slot_timeout_ns = in_nanoseconds(settings.slot_timeout_s);
  options.heartbeat_interval_ns = in_nanoseconds(settings.heartbeat_interval_s);
  options.heartbeat_timeout_ns = in_nanoseconds(settings.heartbeat_timeout_s);
  return options;
}

}  // namespace

JobManagerServer::JobManagerServer(Platform& platform, ProcessLogOptions log,
                                   Credentials credentials, std::optional<LocalToken> made)
    : platform_(platform),
      process_log_(platform, std::move(log)),
      log_(&process_log_, LogModule::cli),
      credentials_(std::move(credentials)),
      made_(std::move(made)) {}

Result<std::unique_ptr<JobManagerServer>> JobManagerServer::make(
    Platform& platform, const JobManagerSettings& settings) {
  if (settings.heartbeat_timeout_s < 2 * settings.heartbeat_interval_s) {
    return Status(ErrorCode::invalid_argument,
                  "--heartbeat-timeout must be at least twice --heartbeat-interval, "
                  "else one late state is a loss");
  }
  Result<ProcessLogOptions> log_options = process_log_options(settings.log, "jobmanager");
  if (!log_options.ok()) return log_options.status();
  Result<Credentials> credentials =
      find_credentials(platform, settings.credentials, TlsRole::server);
  if (!credentials.ok()) return credentials.status();
  const Admission admission{
      .by_token = !credentials->token.empty(),
      .by_certificate = credentials->tls != nullptr && settings.credentials.tls.verify_peer,
      .insecure = settings.insecure};
  HUMMER_TRY(check_exposure(platform, "--listen", settings.listen, admission));
  std::string rest_listen = settings.rest_listen;
  if (rest_listen.empty()) rest_listen = default_rest_address;
  if (rest_listen == "none") rest_listen.clear();
  if (!rest_listen.empty()) {
    HUMMER_TRY(check_exposure(platform, "--rest-listen", rest_listen, admission));
  }
  std::optional<LocalToken> made;
  if (!admission.by_token && !admission.by_certificate && !admission.insecure) {
    Result<LocalToken> token =
        make_local_token(platform, settings.listen, settings.state_directory);
    if (!token.ok()) return token.status().with_context("making a token");
    made = std::move(*token);
    credentials->token = made->token;
  }

  std::unique_ptr<JobManagerServer> server(new JobManagerServer(
      platform, *std::move(log_options), *std::move(credentials), std::move(made)));
  server->open_to_all_ = !server->made_ && !admission.by_token && !admission.by_certificate;
  JobManagerOptions options = job_manager_options(settings, rest_listen);
  options.token = server->credentials_.token;
  options.tls = server->credentials_.tls;
  options.log = Logger(&server->process_log_, LogModule::cluster);
  options.process_log = &server->process_log_;
  server->job_manager_ = std::make_unique<JobManager>(platform, std::move(options));
  return server;
}

Status JobManagerServer::start() {
  if (Status status = job_manager_->start(); !status.ok()) {
    return explain_listen_failure(std::move(status), "--listen");
  }
  const bool tls = credentials_.tls != nullptr;
  const std::optional<SocketAddress> rest = job_manager_->rest_address();
  addresses_.push_back(address());
  if (rest) addresses_.push_back(*rest);
  // Before anybody is told where to ask.
  const Result<std::string> published = publish();
  log_.info("listening on " + address().to_string());
  if (rest) {
    log_.info(fmt::format("HTTP interface at {}://{}/v1/overview", tls ? "https" : "http",
                          rest->to_string()));
    warn_of_plain_text(log_, *rest, tls);
  }
  warn_of_plain_text(log_, address(), tls);
  if (made_ && !published.ok() && made_->path.empty()) {
    stop();
    return published.status().with_context(
        "no --token-file was given, and the token that was made can't be left where commands find "
        "it; give one, or --state-dir");
  }
  if (!published.ok()) log_.warning(published.status().to_string());
  if (made_) {
    log_.info(fmt::format(
        "no token was given, so one was made: '{}' holds it (mode 0600). Commands and workers of "
        "this user on this machine find it by themselves; --insecure lets everybody in",
        made_->path.empty() ? *published : made_->path));
  } else if (open_to_all_) {
    log_.warning("--insecure: whoever reaches this JobManager may submit code");
  }
  return {};
}

Status JobManagerServer::look() {
  // What clears away old temporary files may have taken it.
  if (made_ && platform_.now() >= next_publication_ns_) (void)publish();
  return job_manager_->failure();
}

void JobManagerServer::stop() { job_manager_->stop(); }

Result<std::string> JobManagerServer::publish() {
  next_publication_ns_ = platform_.now() + publish_interval_ns;
  std::string first;
  for (const SocketAddress& address : addresses_) {
    if (!made_) {
      withdraw_local_token(platform_, address);
      continue;
    }
    Result<std::string> path = publish_local_token(platform_, address, made_->token);
    if (!path.ok()) return path;
    if (first.empty()) first = std::move(*path);
  }
  return first;
}

}  // namespace hummer
