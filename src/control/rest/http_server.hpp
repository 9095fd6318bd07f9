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

#include <hummer/status.hpp>

#include "control/rest/http_message.hpp"
#include "platform/platform.hpp"
#include "platform/task.hpp"

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
};

class HttpServer {
 public:
  HttpServer(Executor& executor, HttpHandler& handler, HttpServerOptions options)
      : executor_(executor), handler_(handler), options_(options) {}
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer() { close(); }

  Status start(Network& network, std::string_view address);
  // Takes no more connections.
  void close();
  SocketAddress address() const { return address_; }
  std::size_t connections() const { return connections_.size(); }

 private:
  class Connection;

  static Task<void> accept_all(HttpServer* self);
  static Task<void> serve(HttpServer* self, std::unique_ptr<ByteStream> stream);

  Executor& executor_;
  HttpHandler& handler_;
  const HttpServerOptions options_;
  std::unique_ptr<Listener> listener_;
  SocketAddress address_;
  std::list<Connection*> connections_;  // the one idle longest first
};

}  // namespace hummer
