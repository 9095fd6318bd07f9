#include "control/client/cluster_client.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "control/client/job_status.hpp"
#include "control/job_library/engine_abi.hpp"
#include "control/protocol/graph_messages.hpp"
#include "control/protocol/protocol_version.hpp"

namespace hummer {
namespace {

constexpr Nanoseconds first_pause_ns = milliseconds(50);
constexpr Nanoseconds longest_pause_ns = seconds(1);
constexpr Nanoseconds connect_timeout_ns = seconds(3);
constexpr std::size_t piece_bytes = std::size_t{1} << 20;
constexpr std::uint32_t watch_wait_ms = 1000;

// How long the JobManager may take by what the request itself says.
std::uint32_t wait_ms_of(const wire::ClientRequest& request) {
  if (request.has_job()) return request.job().wait_ms();
  if (request.has_log()) return request.log().wait_ms();
  return 0;
}

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
        numbered_by_(options_.numbered_by) {}

  std::uint64_t numbered_by() const { return numbered_by_; }
  Task<Result<wire::ClientAnswer>> ask(wire::ClientRequest request);
  Task<Result<std::uint64_t>> submit(wire::SubmitJob job, std::string library);
  Task<Result<wire::JobStatus>> watch(std::uint64_t job,
                                      void (*on_change)(void*, const wire::JobStatus&),
                                      void* context);
  void close();

 private:
  // `refused_` afterwards: another attempt would end no better.
  Task<Status> connect(Nanoseconds give_up);
  Task<Status> greet(Nanoseconds give_up);
  Task<Result<wire::ClientAnswer>> exchange(wire::ClientRequest& request, Nanoseconds give_up);
  Task<void> pause(Nanoseconds until);
  Status refused(Status status) {
    refused_ = true;
    return status;
  }

  Platform& platform_;
  Executor& executor_;
  const ClusterClientOptions options_;
  std::unique_ptr<MessageStream> stream_;  // null: not connected
  std::uint64_t last_id_ = 0;
  std::uint64_t answering_ = 0;    // which JobManager process is connected
  std::uint64_t numbered_by_ = 0;  // and which numbered the jobs; 0: whichever
  bool refused_ = false;
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
  if (stream_) stream_->close();
  closed_event_.notify();
}

Task<Status> ClusterClient::State::connect(Nanoseconds give_up) {
  Network& network = platform_.network();
  const Result<SocketAddress> address = network.resolve(options_.job_manager);
  if (!address.ok()) co_return refused(address.status());
  ConnectOptions connecting;
  connecting.timeout_ns = std::min(connect_timeout_ns, give_up - executor_.now());
  Result<std::unique_ptr<ByteStream>> stream = co_await network.connect(*address, connecting);
  if (!stream.ok()) co_return stream.status();
  if (closed_) co_return Status(ErrorCode::cancelled, "closed");
  MessageStream::Options options;
  options.faults = options_.faults;
  stream_ = std::make_unique<MessageStream>(executor_, std::move(*stream), options);
  co_return co_await greet(give_up);
}

Task<Status> ClusterClient::State::greet(Nanoseconds give_up) {
  wire::Envelope envelope;
  wire::Hello& hello = *envelope.mutable_hello();
  hello.set_protocol_version(control_protocol_version);
  hello.set_engine_version(std::string(engine_version()));
  hello.set_token(options_.token);
  if (Status status = stream_->send(envelope); !status.ok()) co_return status;
  const Nanoseconds deadline = std::min(give_up, executor_.now() + options_.answer_timeout_ns);
  Result<wire::Envelope> answer = co_await stream_->receive(deadline);
  if (!answer.ok()) {
    // A web server or a data plane answers nonsense the next time, too.
    if (answer.status().code() == ErrorCode::protocol_error) {
      co_return refused(answer.status().with_context("what listens there is no JobManager"));
    }
    if (answer.status().code() == ErrorCode::timed_out) {
      co_return Status(ErrorCode::timed_out, "it does not answer");
    }
    co_return answer.status();
  }
  if (answer->has_refusal()) {
    Status status = status_from(answer->refusal().failure());
    if (status.ok()) status = Status(ErrorCode::protocol_error, "refused without a reason");
    if (!answer->refusal().may_retry()) refused_ = true;
    co_return status;
  }
  if (!answer->has_welcome()) {
    co_return refused({ErrorCode::protocol_error, "the greeting was answered by something else"});
  }
  stream_->set_limit(max_message_bytes);
  answering_ = answer->welcome().job_manager();
  co_return Status();
}

Task<Result<wire::ClientAnswer>> ClusterClient::State::exchange(wire::ClientRequest& request,
                                                                Nanoseconds give_up) {
  request.set_id(++last_id_);
  wire::Envelope envelope;
  *envelope.mutable_client_request() = request;
  if (Status status = stream_->send(envelope); !status.ok()) co_return status;
  const Nanoseconds deadline =
      std::min(give_up, executor_.now() + options_.answer_timeout_ns +
                            milliseconds(static_cast<std::int64_t>(wait_ms_of(request))));
  while (true) {
    Result<wire::Envelope> answer = co_await stream_->receive(deadline);
    if (!answer.ok()) {
      if (answer.status().code() != ErrorCode::timed_out) co_return answer.status();
      co_return Status(ErrorCode::timed_out, "it does not answer");
    }
    if (answer->has_refusal()) {
      Status status = status_from(answer->refusal().failure());
      if (status.ok()) status = Status(ErrorCode::connection_lost, "it ended the connection");
      co_return status;
    }
    // Others are late or repeated answers to earlier requests.
    if (!answer->has_client_answer() || answer->client_answer().id() != request.id()) continue;
    co_return std::move(*answer->mutable_client_answer());
  }
}

Task<Result<wire::ClientAnswer>> ClusterClient::State::ask(wire::ClientRequest request) {
  const Nanoseconds give_up = executor_.now() + options_.patience_ns +
                              milliseconds(static_cast<std::int64_t>(wait_ms_of(request)));
  Nanoseconds pause_ns = first_pause_ns;
  while (true) {
    refused_ = false;
    Status failure;
    if (stream_ == nullptr) failure = co_await connect(give_up);
    if (failure.ok() && numbered_by_ != 0 && answering_ != numbered_by_ && names_a_job(request)) {
      co_return Status(ErrorCode::not_found,
                       "the JobManager was started again and knows nothing of this job");
    }
    if (failure.ok()) {
      Result<wire::ClientAnswer> answer = co_await exchange(request, give_up);
      if (answer.ok()) {
        // What the JobManager says needs no address.
        Status said = status_from(answer->failure());
        if (!said.ok()) co_return said;
        co_return answer;
      }
      failure = answer.status();
    }
    stream_.reset();
    if (closed_) co_return Status(ErrorCode::cancelled, "the client was closed");
    const Nanoseconds next = executor_.now() + pause_ns;
    if (refused_ || next >= give_up) {
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
      numbered_by_ = answering_;
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
