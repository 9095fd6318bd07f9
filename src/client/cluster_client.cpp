#include "client/cluster_client.hpp"

#include <algorithm>
#include <utility>

#include "client/message_link.hpp"
#include "client/rest_link.hpp"
#include "protocol/graph_messages.hpp"
#include "protocol/job_status.hpp"

namespace hummer {
namespace {

constexpr Nanoseconds first_pause_ns = milliseconds(50);
constexpr Nanoseconds longest_pause_ns = seconds(1);
constexpr std::size_t piece_bytes = std::size_t{1} << 20;
constexpr std::uint32_t watch_wait_ms = 1000;

bool names_a_job(const wire::ClientRequest& request) {
  return request.has_job() || request.has_log() || request.has_end() || request.has_savepoint();
}

}  // namespace

class ClusterClient::State {
 public:
  State(Platform& platform, Executor& executor, ClusterClientOptions options)
      : platform_(platform),
        executor_(executor),
        options_(std::move(options)),
        numbered_by_(options_.numbered_by) {
    if (options_.over_rest) {
      link_ = std::make_unique<RestLink>(platform_, executor_, options_);
    } else {
      link_ = std::make_unique<MessageLink>(platform_, executor_, options_);
    }
  }

  std::uint64_t numbered_by() const { return numbered_by_; }
  Task<Result<wire::ClientAnswer>> ask(wire::ClientRequest request);
  Task<Result<std::uint64_t>> submit(wire::SubmitJob job, std::string library);
  Task<Result<wire::JobStatus>> watch(std::uint64_t job,
                                      void (*on_change)(void*, const wire::JobStatus&),
                                      void* context);
  void close();

 private:
  Task<void> pause(Nanoseconds until);

  Platform& platform_;
  Executor& executor_;
  const ClusterClientOptions options_;
  std::unique_ptr<JobManagerLink> link_;
  std::uint64_t numbered_by_ = 0;  // the jobs that are asked for; 0: whoever answers
  bool closed_ = false;
  WakeEvent closed_event_;
};

Task<void> ClusterClient::State::pause(Nanoseconds until) {
  while (!closed_ && executor_.now() < until) {
    closed_event_.prepare_wait();
    (void)co_await closed_event_.wait_until(until);
  }
}

void ClusterClient::State::close() {
  closed_ = true;
  link_->close();
  closed_event_.notify();
}

Task<Result<wire::ClientAnswer>> ClusterClient::State::ask(wire::ClientRequest request) {
  const Nanoseconds give_up = executor_.now() + options_.patience_ns + wait_of(request);
  Nanoseconds pause_ns = first_pause_ns;
  while (true) {
    Status failure;
    if (!link_->connected()) failure = co_await link_->connect(give_up);
    if (failure.ok()) {
      const std::uint64_t numbered_by = names_a_job(request) ? numbered_by_ : 0;
      Result<wire::ClientAnswer> answer = co_await link_->exchange(request, numbered_by, give_up);
      if (answer.ok()) {
        // What the JobManager says needs no address.
        Status said = status_from(answer->failure());
        if (!said.ok()) co_return said;
        co_return answer;
      }
      failure = answer.status();
    }
    link_->disconnect();
    if (closed_) co_return closed_here();
    const Nanoseconds next = executor_.now() + pause_ns;
    if (link_->refused() || next >= give_up) {
      co_return failure.with_context("JobManager at " + options_.job_manager);
    }
    co_await pause(next);
    if (closed_) co_return Status(ErrorCode::cancelled, "the client was closed");
    pause_ns = std::min(2 * pause_ns, longest_pause_ns);
  }
}

Task<Result<std::uint64_t>> ClusterClient::State::submit(wire::SubmitJob job, std::string library) {
  if (job.submission_id() == 0) job.set_submission_id(platform_.random().next() | 1);
  // Each round asks what is lacking, and sends it. A JobManager that lost what it had (it started
  // again) asks for it again; one that never has enough is at fault.
  for (int round = 0; round < 4; ++round) {
    wire::ClientRequest request;
    *request.mutable_submit() = job;
    Result<wire::ClientAnswer> answer = co_await ask(std::move(request));
    if (!answer.ok()) co_return answer.status();
    if (answer->submitted().job() != 0) {
      numbered_by_ = link_->numbering();
      co_return answer->submitted().job();
    }
    std::uint64_t offset = answer->submitted().library_offset();
    while (offset < library.size()) {
      wire::ClientRequest upload;
      wire::LibraryPiece& piece = *upload.mutable_upload();
      piece.set_hash(job.library_hash());
      piece.set_offset(offset);
      piece.set_total_bytes(library.size());
      piece.set_bytes(library.substr(offset, piece_bytes));
      Result<wire::ClientAnswer> uploaded = co_await ask(std::move(upload));
      if (!uploaded.ok()) co_return uploaded.status().with_context("sending the job library");
      const std::uint64_t there = uploaded->uploaded().offset();
      if (there <= offset) break;  // another round
      offset = there;
    }
  }
  co_return Status(ErrorCode::protocol_error, "the JobManager asks for the job library for ever");
}

Task<Result<wire::JobStatus>> ClusterClient::State::watch(
    std::uint64_t job, void (*on_change)(void*, const wire::JobStatus&), void* context) {
  std::uint64_t seen = 0;
  while (true) {
    wire::ClientRequest request;
    wire::JobQuery& query = *request.mutable_job();
    query.set_job(job);
    query.set_version_seen(seen);
    query.set_wait_ms(seen == 0 ? 0 : watch_wait_ms);
    Result<wire::ClientAnswer> answer = co_await ask(std::move(request));
    if (!answer.ok()) co_return answer.status();
    wire::JobStatus& status = *answer->mutable_job();
    if (status.version() != seen && on_change != nullptr) on_change(context, status);
    seen = status.version();
    if (has_ended(status.state())) co_return std::move(status);
    // One that answers at once, against the protocol, is not asked without end.
    if (seen == 0) co_await sleep_for(milliseconds(static_cast<std::int64_t>(watch_wait_ms)));
  }
}

ClusterClient::ClusterClient(Platform& platform, Executor& executor, ClusterClientOptions options)
    : state_(std::make_shared<State>(platform, executor, std::move(options))) {}

ClusterClient::~ClusterClient() = default;

Task<Result<wire::ClientAnswer>> ClusterClient::ask(wire::ClientRequest request) {
  return state_->ask(std::move(request));
}

Task<Result<std::uint64_t>> ClusterClient::submit(wire::SubmitJob job, std::string library) {
  return state_->submit(std::move(job), std::move(library));
}

Task<Result<wire::JobStatus>> ClusterClient::watch(std::uint64_t job,
                                                   void (*on_change)(void*, const wire::JobStatus&),
                                                   void* context) {
  return state_->watch(job, on_change, context);
}

std::uint64_t ClusterClient::numbered_by() const { return state_->numbered_by(); }

void ClusterClient::close() { state_->close(); }

}  // namespace hummer
