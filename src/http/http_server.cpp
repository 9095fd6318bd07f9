#include "http/http_server.hpp"

#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "platform/look_up_now.hpp"

namespace hummer {
namespace {

namespace http = boost::beast::http;

constexpr Nanoseconds accept_pause_ns = milliseconds(100);
constexpr std::size_t read_bytes = 16 * 1024;

HttpResponse plain_refusal(int status, std::string_view message) {
  HttpResponse response;
  response.status = status;
  response.content_type = "text/plain";
  response.body = fmt::format("{}\n", message);
  return response;
}

int status_of(const boost::system::error_code& error) {
  if (error == http::error::body_limit) return 413;
  if (error == http::error::header_limit || error == http::error::buffer_overflow) return 431;
  return 400;
}

}  // namespace

class HttpServer::Connection {
 public:
  Connection(HttpServer& server, std::unique_ptr<ByteStream> stream, std::string begun)
      : server_(server), stream_(std::move(stream)) {
    hold(begun);
    std::list<Connection*>& all = server_.connections_;
    while (all.size() >= server_.options_.max_connections) all.front()->close();
    place_ = all.insert(all.end(), this);
    stream_->set_wake_events(server_.executor_, &event_, &event_);
  }
  ~Connection() {
    let_go();
    close();
    stream_->close();
  }

  void close() {
    if (std::exchange(closing_, true)) return;
    server_.connections_.erase(place_);
    event_.notify();
  }

  Task<void> run() {
    bool keep_alive = true;
    while (keep_alive && !closing_) {
      // The list is in the order of last use.
      server_.connections_.splice(server_.connections_.end(), server_.connections_, place_);
      HttpResponse refused;
      const bool whole = co_await read_request(refused);
      let_go();
      if (!whole) {
        if (refused.status != 0) (void)co_await write(format_http_response(refused, true, false));
        co_return;
      }
      keep_alive = parser_->keep_alive();
      const bool with_body = parser_->get().method() != http::verb::head;
      HttpRequest request = take_request(refused);
      HttpResponse response;
      if (refused.status != 0) {
        response = std::move(refused);
      } else {
        response = co_await server_.handler_.handle(std::move(request));
        if (response.status == 401) {
          const Status why(ErrorCode::permission_denied, "HTTP request without the right token");
          server_.not_let_in(why, stream_->peer_address());
        }
      }
      const bool sent = co_await write(format_http_response(response, with_body, keep_alive));
      if (!sent) co_return;
    }
  }

 private:
  // False: the connection is over; `refused` says what to tell the peer, status 0: nothing.
  Task<bool> read_request(HttpResponse& refused) {
    refused.status = 0;
    parser_.emplace();
    parser_->header_limit(server_.options_.max_header_bytes);
    parser_->body_limit(server_.options_.max_body_bytes);
    parser_->eager(true);
    Nanoseconds deadline = server_.executor_.now() + server_.options_.idle_timeout_ns;
    bool begun = false;
    while (true) {
      if (!pending_.empty()) {
        if (!std::exchange(begun, true)) {
          deadline = server_.executor_.now() + server_.options_.request_timeout_ns;
        }
        boost::system::error_code error;
        const std::size_t used =
            parser_->put(boost::asio::buffer(pending_.data(), pending_.size()), error);
        pending_.erase(0, used);
        if (error && error != http::error::need_more) {
          refused = plain_refusal(status_of(error), "this is no request: " + error.message());
          co_return false;
        }
        if (parser_->is_done()) co_return true;
        if (server_.held_bytes_ > server_.options_.max_held_bytes) {
          refused = plain_refusal(503, "too many requests are under way");
          co_return false;
        }
        if (used > 0 && !pending_.empty()) continue;
        if (pending_.size() > server_.options_.max_header_bytes) {
          refused = plain_refusal(431, "the header of the request is too long");
          co_return false;
        }
      }
      const std::size_t got = co_await read_more(deadline);
      if (got == 0) {
        if (begun && !closing_ && server_.executor_.now() >= deadline) {
          refused = plain_refusal(408, "the request took too long to arrive");
        }
        co_return false;
      }
    }
  }

  // As try_read, into pending_. No coroutine: the buffer would lie in the frame of every connection
  // that waits.
  Result<std::size_t> read_now() {
    std::array<char, read_bytes> buffer;
    Result<std::size_t> got = stream_->try_read(buffer);
    if (got.ok() && *got != would_block) {
      hold({buffer.data(), *got});
    }
    return got;
  }

  void hold(std::string_view bytes) {
    pending_.append(bytes);
    held_bytes_ += bytes.size();
    server_.held_bytes_ += bytes.size();
  }

  // Bytes added to pending_; 0: end, failure, closing or deadline.
  Task<std::size_t> read_more(Nanoseconds deadline) {
    while (!closing_) {
      event_.prepare_wait();
      const Result<std::size_t> got = read_now();
      if (!got.ok() || *got == 0 || *got != would_block) {
        event_.cancel_wait();
        if (got.status().code() == ErrorCode::tls_failed) {
          server_.not_let_in(got.status(), stream_->peer_address());
        }
        if (!got.ok() || *got == 0) co_return 0;
        co_return *got;
      }
      const bool notified = co_await event_.wait_until(deadline);
      if (!notified) co_return 0;
    }
    co_return 0;
  }

  Task<bool> write(std::string text) {
    const Nanoseconds deadline = server_.executor_.now() + server_.options_.request_timeout_ns;
    std::string_view rest = text;
    while (!rest.empty() && !closing_) {
      event_.prepare_wait();
      const Result<std::size_t> moved = stream_->try_write(rest);
      if (!moved.ok() || *moved != would_block) {
        event_.cancel_wait();
        if (!moved.ok()) co_return false;
        rest.remove_prefix(*moved);
        continue;
      }
      const bool notified = co_await event_.wait_until(deadline);
      if (!notified) co_return false;
    }
    co_return rest.empty();
  }

  void let_go() { server_.held_bytes_ -= std::exchange(held_bytes_, 0); }

  HttpRequest take_request(HttpResponse& refused) {
    auto message = parser_->release();
    HttpRequest request;
    request.method = std::string(message.method_string());
    if (!parse_http_target({message.target().data(), message.target().size()}, request)) {
      refused = plain_refusal(400, "the request's target is not a valid path");
      return request;
    }
    const auto header = [&](http::field field) {
      const auto value = message[field];
      return std::string(value.data(), value.size());
    };
    request.authorization = header(http::field::authorization);
    request.host = header(http::field::host);
    request.origin = header(http::field::origin);
    const auto numbering = message[boost::beast::string_view(numbering_header)];
    request.numbering.assign(numbering.data(), numbering.size());
    std::string type = header(http::field::content_type);
    type = type.substr(0, type.find(';'));
    while (!type.empty() && type.back() == ' ') type.pop_back();
    for (char& c : type) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    request.content_type = std::move(type);
    request.body = std::move(message.body());
    return request;
  }

  HttpServer& server_;
  std::unique_ptr<ByteStream> stream_;
  std::list<Connection*>::iterator place_;
  WakeEvent event_;
  bool closing_ = false;
  std::string pending_;
  std::size_t held_bytes_ = 0;  // of the request that is being read
  std::optional<http::request_parser<http::string_body>> parser_;
};

Status HttpServer::start(Platform& platform, std::string_view address) {
  const Result<SocketAddress> resolved = look_up_now(platform, address);
  if (!resolved.ok()) return resolved.status();
  Result<std::unique_ptr<Listener>> listener = platform.network().listen(*resolved);
  if (!listener.ok()) return listener.status();
  listener_ = std::move(*listener);
  address_ = listener_->local_address();
  executor_.spawn(accept_all(this));
  return {};
}

void HttpServer::close() {
  if (listener_ != nullptr) listener_->close();
  while (!connections_.empty()) connections_.front()->close();
}

Task<void> HttpServer::accept_all(HttpServer* self) {
  while (true) {
    Result<std::unique_ptr<ByteStream>> stream = co_await self->listener_->accept();
    if (stream.ok()) {
      if (self->options_.tls != nullptr) *stream = self->options_.tls->accepted(std::move(*stream));
      self->executor_.spawn(serve(self, std::move(*stream), {}));
      // A crowd at the door must not keep those inside waiting.
      co_await yield();
      continue;
    }
    if (stream.status().code() == ErrorCode::cancelled) co_return;
    co_await sleep_for(accept_pause_ns);
  }
}

Task<void> HttpServer::serve(HttpServer* self, std::unique_ptr<ByteStream> stream,
                             std::string begun) {
  Connection connection(*self, std::move(stream), std::move(begun));
  co_await connection.run();
}

}  // namespace hummer
