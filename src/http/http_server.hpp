// HttpServer: HTTP/1.1 over the platform's byte streams, one task per connection.
//
// Reads requests within limits (bytes of header and body, seconds per request, connections), hands
// each to the handler, and sends what it answers. Connections are kept open between requests. A
// request that is none gets 400 and the end of its connection; the connection that has been idle
// longest makes room when there are too many.
//
// Lifecycle: start() listens; the server outlives its tasks, so stop the executor before it is
// destroyed. Thread: the executor's. Parser: Boost.Beast.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <utility>

#include <hummer/status.hpp>

#include "http/http_message.hpp"
#include "platform/platform.hpp"
#include "platform/task.hpp"
#include "platform/tls.hpp"

namespace hummer {

class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  virtual Task<HttpResponse> handle(HttpRequest request) = 0;
};

struct HttpServerOptions {
  std::size_t max_connections = 1000;
  std::uint32_t max_header_bytes = 16 * 1024;
  std::uint64_t max_body_bytes = std::uint64_t{8} << 20;
  Nanoseconds request_timeout_ns = seconds(20);  // from its first byte to its last
  Nanoseconds idle_timeout_ns = seconds(60);     // between two requests
  // Of all connections together, in requests that are not complete yet: 503 above it.
  std::size_t max_held_bytes = std::size_t{64} << 20;
  std::shared_ptr<TlsContext> tls;  // null: plain
  // Told of connections that TLS refused and requests without the right token. On the executor.
  void (*not_let_in)(void* context, const Status& why, const SocketAddress& from) = nullptr;
  void* context = nullptr;
};

class HttpServer {
 public:
  HttpServer(Executor& executor, HttpHandler& handler, HttpServerOptions options)
      : executor_(executor), handler_(handler), options_(std::move(options)) {}
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer() { close(); }

  Status start(Platform& platform, std::string_view address);
  // Goes on with a connection on which a request has begun: `begun` are its first bytes. Needs no
  // start(), and the listener of another door.
  Task<void> take_over(std::unique_ptr<ByteStream> stream, std::string begun) {
    return serve(this, std::move(stream), std::move(begun));
  }
  // Takes no more connections.
  void close();
  SocketAddress address() const { return address_; }
  std::size_t connections() const { return connections_.size(); }

 private:
  class Connection;

  static Task<void> accept_all(HttpServer* self);
  static Task<void> serve(HttpServer* self, std::unique_ptr<ByteStream> stream, std::string begun);
  void not_let_in(const Status& why, const SocketAddress& from) const {
    if (options_.not_let_in != nullptr) options_.not_let_in(options_.context, why, from);
  }

  Executor& executor_;
  HttpHandler& handler_;
  const HttpServerOptions options_;
  std::unique_ptr<Listener> listener_;
  SocketAddress address_;
  std::list<Connection*> connections_;  // the one idle longest first
  std::size_t held_bytes_ = 0;
};

}  // namespace hummer
