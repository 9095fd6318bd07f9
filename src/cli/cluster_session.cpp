#include "cli/cluster_session.hpp"

#include <fmt/format.h>
#include <charconv>

#include "client/local_token.hpp"
#include "platform/run_task.hpp"
#include "protocol/job_status.hpp"

namespace hummer {
namespace {

// A command is asked by a person or a script, that rather hear soon that nobody is there.
constexpr Nanoseconds patience_ns = seconds(5);

std::string list_jobs(const std::vector<const wire::JobStatus*>& jobs) {
  std::string text;
  for (const wire::JobStatus* job : jobs) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", job->job(),
                        job_state_name(job->state()));
  }
  return text;
}

}  // namespace

ClusterSession::~ClusterSession() {
  if (executor_) executor_->stop();
}

void ClusterSession::add_options(CommandLine& line) {
  options_ = std::make_unique<CommandOptions<ClientSettings>>(line);
  line.footer(exit_codes_text);
}

void ClusterSession::add_output_options(CommandLine& line) { line.output_options(json_, tsv_); }

Status ClusterSession::open() {
  ClientSettings settings;
  const auto effective = options_->read(platform_, settings);
  if (!effective.ok()) return effective.status();
  Result<Credentials> credentials =
      find_credentials(platform_, settings.credentials, TlsRole::client);
  if (!credentials.ok()) return credentials.status();
  if (credentials->token.empty()) {
    credentials->token = find_local_token(platform_, settings.job_manager);
  }
  open(settings.job_manager, *std::move(credentials));
  return {};
}

void ClusterSession::open(const std::string& job_manager, Credentials credentials) {
  executor_ = platform_.make_executor({.name = "client"});
  client_options_.token = std::move(credentials.token);
  client_options_.tls = std::move(credentials.tls);
  client_options_.over_rest = true;
  client_options_.patience_ns = patience_ns;
  turn_to(job_manager);
}

void ClusterSession::turn_to(const std::string& address) {
  client_options_.job_manager = address;
  client_ = std::make_unique<ClusterClient>(platform_, *executor_, client_options_);
}

Result<wire::ClientAnswer> ClusterSession::ask(wire::ClientRequest request) {
  std::optional<Result<wire::ClientAnswer>> answer =
      run_task(platform_, *executor_, client_->ask(std::move(request)));
  if (!answer) return Status(ErrorCode::internal, "the question can never be answered");
  return std::move(*answer);
}

Result<std::uint64_t> ClusterSession::find_job(const std::string& number_or_name) {
  std::uint64_t number = 0;
  const char* end = number_or_name.data() + number_or_name.size();
  const auto [rest, error] = std::from_chars(number_or_name.data(), end, number);
  if (error == std::errc() && rest == end) return number;

  wire::ClientRequest request;
  request.mutable_list();
  const Result<wire::ClientAnswer> answer = ask(std::move(request));
  if (!answer.ok()) return answer.status();
  std::vector<const wire::JobStatus*> named, live;
  for (const wire::JobStatus& job : answer->list().jobs()) {
    if (job.name() != number_or_name) continue;
    named.push_back(&job);
    if (!has_ended(job.state())) live.push_back(&job);
  }
  if (live.size() == 1) return live.front()->job();
  if (named.size() == 1) return named.front()->job();
  if (named.empty()) {
    return Status(
        ErrorCode::not_found,
        fmt::format("no job has the number or name '{}'; `list` shows them all", number_or_name));
  }
  return Status(ErrorCode::invalid_argument,
                fmt::format("several jobs are called '{}', say which by its number: {}",
                            number_or_name, list_jobs(live.empty() ? named : live)));
}

Result<wire::JobStatus> ClusterSession::status_of(std::uint64_t job, bool with_graph) {
  wire::ClientRequest request;
  request.mutable_job()->set_job(job);
  request.mutable_job()->set_with_graph(with_graph);
  Result<wire::ClientAnswer> answer = ask(std::move(request));
  if (!answer.ok()) return answer.status();
  return std::move(*answer->mutable_job());
}

Result<std::string> ClusterSession::take_savepoint(std::uint64_t job, const std::string& directory,
                                                   bool stop) {
  constexpr std::uint32_t wait_ms = 1000;
  const std::uint64_t request_id = platform_.random().next() | 1;
  for (;;) {
    wire::ClientRequest request;
    wire::TakeSavepoint& savepoint = *request.mutable_savepoint();
    savepoint.set_job(job);
    savepoint.set_request_id(request_id);
    savepoint.set_directory(directory);
    savepoint.set_stop(stop);
    savepoint.set_wait_ms(wait_ms);
    const Result<wire::ClientAnswer> answer = ask(std::move(request));
    if (!answer.ok()) return answer.status();
    if (!answer->savepoint().path().empty()) return answer->savepoint().path();
  }
}

void ClusterSession::print(const Table& table) { print(table.text(!rows())); }

}  // namespace hummer
