// A JobManager for tests of clients: greets, and answers each request as the test says.
//
// Lives on one executor of a simulated node; destroy it before its platform. `on_request` may
// answer nothing (the JobManager hangs) or end the connection.
#pragma once

#include <functional>
#include <list>
#include <string>
#include <vector>

#include "platform/platform.hpp"
#include "protocol/graph_messages.hpp"
#include "protocol/message_stream.hpp"

namespace hummer {

class AnsweringJobManager {
 public:
  enum class Deed { answer, keep_silent, hang_up };
  using OnRequest = std::function<Deed(const wire::ClientRequest&, wire::ClientAnswer&)>;

  AnsweringJobManager(Platform& platform, std::uint16_t port, OnRequest on_request)
      : platform_(platform),
        on_request_(std::move(on_request)),
        executor_(platform.make_executor({.name = "scripted"})) {
    SocketAddress address;
    address.port = port;
    Result<std::unique_ptr<Listener>> listener = platform.network().listen(address);
    HUMMER_ASSERT(listener.ok());
    listener_ = std::move(*listener);
    executor_->spawn(accept(*this));
  }
  ~AnsweringJobManager() { executor_->stop(); }

  std::uint64_t incarnation = 1;
  std::string token;       // that a client must have
  Status refuse_with;      // every handshake
  bool may_retry = false;  // after refuse_with
  int connections = 0;
  std::vector<wire::ClientRequest> requests;

 private:
  static Task<void> accept(AnsweringJobManager& self) {
    while (true) {
      Result<std::unique_ptr<ByteStream>> stream = co_await self.listener_->accept();
      if (!stream.ok()) co_return;
      ++self.connections;
      self.streams_.push_back(std::make_unique<MessageStream>(*self.executor_, std::move(*stream),
                                                              MessageStream::Options{}));
      self.executor_->spawn(serve(self, *self.streams_.back()));
    }
  }

  static Task<void> serve(AnsweringJobManager& self, MessageStream& stream) {
    const Result<wire::Envelope> hello = co_await stream.receive();
    if (!hello.ok()) co_return;
    wire::Envelope handshake;
    if (!self.refuse_with.ok() || hello->hello().token() != self.token) {
      const Status why = self.refuse_with.ok() ? Status(ErrorCode::permission_denied, "wrong token")
                                               : self.refuse_with;
      to_message(why, *handshake.mutable_refusal()->mutable_failure());
      handshake.mutable_refusal()->set_may_retry(self.may_retry);
      (void)stream.send(handshake);
      co_return;
    }
    handshake.mutable_welcome()->set_numbering(self.incarnation);
    (void)stream.send(handshake);
    stream.set_limit(max_message_bytes);
    while (true) {
      const Result<wire::Envelope> message = co_await stream.receive();
      if (!message.ok()) co_return;
      self.requests.push_back(message->client_request());
      wire::Envelope answer;
      answer.mutable_client_answer()->set_id(message->client_request().id());
      switch (self.on_request_(message->client_request(), *answer.mutable_client_answer())) {
        case Deed::answer: (void)stream.send(answer); break;
        case Deed::keep_silent: break;
        case Deed::hang_up: stream.close(); co_return;
      }
    }
  }

  Platform& platform_;
  OnRequest on_request_;
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<Listener> listener_;
  std::list<std::unique_ptr<MessageStream>> streams_;
};

}  // namespace hummer
