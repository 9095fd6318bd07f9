// One task per connection: who is it, and what does it say.
#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/equal_tokens.hpp"
#include "job_manager/job_manager_state.hpp"
#include "protocol/graph_messages.hpp"
#include "protocol/protocol_version.hpp"

namespace hummer {
namespace {

constexpr std::size_t max_handshakes = 1000;
constexpr Nanoseconds accept_pause_ns = milliseconds(100);
// For a refused peer to read why, and to close.
constexpr Nanoseconds farewell_ns = seconds(1);
// A client that says nothing for so long is gone; a live one connects again.
constexpr Nanoseconds client_idle_ns = seconds(600);

// Clients speak HTTP, also at this port: no magic begins so.
bool is_http(std::string_view bytes) {
  constexpr std::string_view methods[] = {"GET /", "POST /", "PUT /", "HEAD /"};
  return std::any_of(std::begin(methods), std::end(methods),
                     [&](std::string_view method) { return bytes.starts_with(method); });
}

bool is_garbage(const Status& status) {
  return status.code() == ErrorCode::protocol_error || status.code() == ErrorCode::tls_failed;
}

}  // namespace

Task<void> JobManager::State::accept_all(State* self) {
  bool told = false;
  while (true) {
    Result<std::unique_ptr<ByteStream>> stream = co_await self->listener_->accept();
    if (stream.ok()) {
      told = false;
      self->executor_->spawn(serve(self, std::move(*stream)));
      // A crowd at the door must not keep those inside waiting.
      co_await yield();
      continue;
    }
    if (stream.status().code() == ErrorCode::cancelled) co_return;
    if (!std::exchange(told, true)) self->log().error(stream.status().to_string());
    co_await sleep_for(accept_pause_ns);
  }
}

void JobManager::State::list_handshake(Handshake& handshake) {
  if (handshakes_.size() >= max_handshakes) {
    Handshake& oldest = *handshakes_.front();
    unlist_handshake(oldest);
    oldest.stream->close();
  }
  handshake.place = handshakes_.insert(handshakes_.end(), &handshake);
  handshake.listed = true;
}

void JobManager::State::unlist_handshake(Handshake& handshake) {
  if (std::exchange(handshake.listed, false)) handshakes_.erase(handshake.place);
}

Task<void> JobManager::State::serve(State* self, std::unique_ptr<ByteStream> connection) {
  MessageStream::Options options;
  options.faults = self->options_.faults;
  options.max_queued_bytes = 2 * max_message_bytes;
  if (self->options_.tls != nullptr) {
    connection = self->options_.tls->accepted(std::move(connection));
  }
  auto stream = std::make_shared<MessageStream>(*self->executor_, std::move(connection), options);
  ++self->counts_.connections;
  Result<wire::Hello> hello = co_await greet(self, stream);
  if (hello.ok()) {
    stream->set_limit(max_message_bytes);
    if (hello->has_registration()) {
      wire::Registration registration = std::move(*hello->mutable_registration());
      hello->Clear();
      co_await serve_worker(self, stream, std::move(registration));
    } else {
      co_await serve_client(self, stream);
    }
  } else if (is_http(stream->foreign_bytes())) {
    std::string begun(stream->foreign_bytes());
    co_await self->rest_server_->take_over(stream->release(), std::move(begun));
  }
  stream->close();
  --self->counts_.connections;
}

Status JobManager::State::check_hello(const wire::Hello& hello) const {
  if (hello.protocol_version() != control_protocol_version) {
    return {
        ErrorCode::protocol_error,
        fmt::format("the JobManager speaks version {} of the control protocol, the other side "
                    "(hummer {}) version {}; use one version of hummer in a cluster",
                    control_protocol_version, hello.engine_version(), hello.protocol_version())};
  }
  if (hello.token().empty() && !options_.token.empty()) {
    return {ErrorCode::permission_denied,
            "the JobManager needs its token: give --token-file or HUMMER_TOKEN (one that was made "
            "is found only by who runs as the same user on the same machine)"};
  }
  if (!equal_tokens(hello.token(), options_.token)) {
    return {ErrorCode::permission_denied, "the token is not the JobManager's"};
  }
  return {};
}

Task<Result<wire::Hello>> JobManager::State::greet(State* self,
                                                   std::shared_ptr<MessageStream> stream) {
  Handshake handshake;
  handshake.stream = stream;
  self->list_handshake(handshake);
  const Nanoseconds deadline = self->executor_->now() + self->options_.handshake_timeout_ns;
  Result<wire::Envelope> first = co_await stream->receive(deadline);
  self->unlist_handshake(handshake);
  if (!first.ok()) {
    const bool garbage = is_garbage(first.status()) && !is_http(stream->foreign_bytes());
    if (garbage) self->garbage_came(first.status(), stream->peer_address());
    co_return first.status();
  }
  if (!first->has_hello()) {
    const Status why(ErrorCode::protocol_error, "the first message was no hello");
    self->garbage_came(why, stream->peer_address());
    co_return why;
  }
  const Status checked = self->check_hello(first->hello());
  if (!checked.ok()) {
    co_await refuse(self, stream, checked, false);
    co_return checked;
  }
  co_return std::move(*first->mutable_hello());
}

Task<void> JobManager::State::refuse(State* self, std::shared_ptr<MessageStream> stream, Status why,
                                     bool may_retry) {
  ++self->counts_.refused;
  self->not_let_in(why, stream->peer_address());
  wire::Envelope message;
  to_message(why, *message.mutable_refusal()->mutable_failure());
  message.mutable_refusal()->set_may_retry(may_retry);
  const Status sent = stream->send(message);
  if (!sent.ok()) co_return;
  const Nanoseconds deadline = self->executor_->now() + farewell_ns;
  const Status flushed = co_await stream->flush(deadline);
  // Closing under bytes that came meanwhile would take the refusal away again (a TCP reset).
  while (flushed.ok()) {
    const Result<wire::Envelope> more = co_await stream->receive(deadline);
    if (!more.ok()) break;
  }
}

void JobManager::State::welcome(MessageStream& stream, std::uint64_t session) {
  wire::Envelope message;
  wire::Welcome& welcome = *message.mutable_welcome();
  welcome.set_session(session);
  welcome.set_job_manager(incarnation_);
  welcome.set_numbering(numbering_);
  const auto in_ms = [](Nanoseconds time) {
    return static_cast<std::uint32_t>(time / milliseconds(1));
  };
  welcome.set_heartbeat_interval_ms(in_ms(options_.heartbeat_interval_ns));
  welcome.set_heartbeat_timeout_ms(in_ms(options_.heartbeat_timeout_ns));
  // A connection that takes no welcome ends in the next receive.
  if (!stream.send(message).ok()) stream.close();
}

Task<void> JobManager::State::serve_worker(State* self, std::shared_ptr<MessageStream> stream,
                                           wire::Registration registration) {
  ClusterState::Refused refused;
  const std::uint64_t session = self->cluster_.register_worker(
      registration, stream->peer_address().to_string(), self->moment(), refused);
  if (session == 0) {
    co_await refuse(self, stream, refused.why, refused.may_retry);
    co_return;
  }
  wire::Registration().Swap(&registration);
  self->sessions_[session] = stream;
  self->welcome(*stream, session);
  self->something_happened();
  Status end;
  while (end.ok()) {
    const Result<wire::Envelope> message = co_await stream->receive();
    end = message.ok() ? self->take_worker_message(*stream, session, *message) : message.status();
  }
  if (is_garbage(end)) self->garbage_came(end, stream->peer_address());
  self->cluster_.connection_ended(session, end, self->moment());
  self->sessions_.erase(session);
  self->something_happened();
}

Status JobManager::State::take_worker_message(MessageStream& stream, std::uint64_t session,
                                              const wire::Envelope& message) {
  if (message.has_task_manager_state()) {
    ++counts_.heartbeats;
    if (!cluster_.take_state(session, message.task_manager_state(), moment())) {
      ++counts_.stale_states;
    }
    something_happened();
    return {};
  }
  if (message.has_library_request()) {
    // It asks again. So at most one piece waits for a TaskManager that reads slowly.
    if (stream.queued_bytes() > 0) return {};
    wire::Envelope answer;
    cluster_.libraries().piece(message.library_request().hash(), message.library_request().offset(),
                               *answer.mutable_library_piece());
    return stream.send(answer);
  }
  if (message.has_hello()) return {};  // repeated on its way
  return {ErrorCode::protocol_error, "a TaskManager sent a message that is none of its own"};
}

Task<void> JobManager::State::serve_client(State* self, std::shared_ptr<MessageStream> stream) {
  auto client = std::make_shared<ClientConnection>();
  client->stream = stream.get();
  self->welcome(*stream, 0);
  while (true) {
    Result<wire::Envelope> message =
        co_await stream->receive(self->executor_->now() + client_idle_ns);
    if (!message.ok()) {
      if (message.status().code() == ErrorCode::timed_out && client->parked > 0) continue;
      if (is_garbage(message.status())) {
        self->garbage_came(message.status(), stream->peer_address());
      }
      break;
    }
    if (message->has_hello()) continue;  // repeated on its way
    if (!message->has_client_request()) {
      self->garbage_came(Status(ErrorCode::protocol_error, "a client sent no request"),
                         stream->peer_address());
      break;
    }
    self->take_client_request(client, std::move(*message->mutable_client_request()));
  }
  client->stream = nullptr;
}

void JobManager::State::take_client_request(const std::shared_ptr<ClientConnection>& client,
                                            wire::ClientRequest request) {
  const Moment at = moment();
  wire::ClientAnswer answer;
  if (answer_request(cluster_, request, patience(request) == 0, at, answer)) {
    send_answer(*client, answer);
  } else {
    const std::uint64_t id = request.id();
    if (!parked_.add(client, std::move(request), at)) {
      answer.set_id(id);
      to_message(Status(ErrorCode::limit_exceeded, "too many requests of this client wait already"),
                 *answer.mutable_failure());
      send_answer(*client, answer);
    }
  }
  something_happened();
}

}  // namespace hummer
