#include "client/message_link.hpp"

#include <algorithm>

#include "job_library/engine_abi.hpp"
#include "protocol/graph_messages.hpp"
#include "protocol/protocol_version.hpp"

namespace hummer {

void MessageLink::close() {
  closed_ = true;
  if (stream_) stream_->close();
}

Task<Status> MessageLink::connect(Nanoseconds give_up) {
  Result<std::unique_ptr<ByteStream>> stream = co_await open_stream(give_up);
  if (!stream.ok()) co_return stream.status();
  MessageStream::Options options;
  options.faults = options_.faults;
  stream_ = std::make_unique<MessageStream>(executor_, std::move(*stream), options);
  co_return co_await greet(give_up);
}

Task<Status> MessageLink::greet(Nanoseconds give_up) {
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
    if (answer.status().code() == ErrorCode::tls_failed) co_return refused(answer.status());
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
    co_return refused({ErrorCode::protocol_error, "the handshake was answered by something else"});
  }
  stream_->set_limit(max_message_bytes);
  numbering_ = answer->welcome().numbering();
  co_return Status();
}

Task<Result<wire::ClientAnswer>> MessageLink::exchange(wire::ClientRequest& request,
                                                       std::uint64_t numbered_by,
                                                       Nanoseconds give_up) {
  if (numbered_by != 0 && numbering_ != numbered_by) {
    wire::ClientAnswer unknown;
    to_message(Status(ErrorCode::not_found,
                      "the JobManager was started again and knows nothing of this job"),
               *unknown.mutable_failure());
    co_return unknown;
  }
  request.set_id(++last_id_);
  wire::Envelope envelope;
  *envelope.mutable_client_request() = request;
  if (Status status = stream_->send(envelope); !status.ok()) co_return status;
  const Nanoseconds deadline =
      std::min(give_up, executor_.now() + options_.answer_timeout_ns + wait_of(request));
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

}  // namespace hummer
