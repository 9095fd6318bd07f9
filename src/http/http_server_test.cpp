#include "http/http_server.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "platform/simulation.hpp"

namespace hummer::http_server_test {
namespace {

// Answers with what it was asked.
class Echo final : public HttpHandler {
 public:
  Task<HttpResponse> handle(HttpRequest request) override {
    HttpResponse response;
    response.content_type = "text/plain";
    response.body = request.method + " " + request.path;
    for (const auto& [name, value] : request.query) response.body += " " + name + "=" + value;
    if (!request.body.empty()) response.body += " [" + request.body + "]";
    co_return response;
  }
};

// A server, and a client that sends bytes as it likes.
class HttpServerTest : public testing::TestWithParam<int> {
 public:
  HttpServerTest() {
    SimulationOptions options;
    options.seed = static_cast<std::uint64_t>(GetParam()) + 1;
    platform_ = make_simulated_platform(options);
    executor_ = platform_->make_executor({.name = "http"});
  }
  ~HttpServerTest() override { executor_->stop(); }

  void start(HttpServerOptions options = {}) {
    server_ = std::make_unique<HttpServer>(*executor_, echo_, options);
    ASSERT_TRUE(server_->start(*platform_, "127.0.0.1:80").ok());
  }

  // All that the server answers until it closes, or until nothing came for `patience`.
  std::string exchange(std::vector<std::string> pieces, Nanoseconds pause = 0,
                       Nanoseconds patience = seconds(5)) {
    std::string answer;
    bool done = false;
    executor_->spawn(talk(this, std::move(pieces), pause, patience, &answer, &done));
    EXPECT_EQ(platform_->run_until([&] { return done; }, platform_->now() + seconds(600)),
              RunEnd::satisfied);
    return answer;
  }

  static Task<void> talk(HttpServerTest* self, std::vector<std::string> pieces, Nanoseconds pause,
                         Nanoseconds patience, std::string* answer, bool* done) {
    ConnectOptions options;
    Result<std::unique_ptr<ByteStream>> stream =
        co_await self->platform_->network().connect(self->server_->address(), options);
    for (const std::string& piece : pieces) {
      const Status sent = co_await (*stream)->write_all(piece);
      if (!sent.ok()) break;
      if (pause > 0) co_await sleep_for(pause);
    }
    WakeEvent event;
    (*stream)->set_wake_events(*self->executor_, &event, &event);
    Nanoseconds deadline = self->executor_->now() + patience;
    while (true) {
      event.prepare_wait();
      std::array<char, 1000> buffer;
      const Result<std::size_t> got = (*stream)->try_read(buffer);
      if (got.ok() && *got == would_block) {
        const bool notified = co_await event.wait_until(deadline);
        if (!notified) break;
        continue;
      }
      event.cancel_wait();
      if (!got.ok() || *got == 0) break;
      answer->append(buffer.data(), *got);
      deadline = self->executor_->now() + patience;
    }
    (*stream)->close();
    *done = true;
  }

  static int count(const std::string& text, const std::string& what) {
    int found = 0;
    for (auto at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++found;
    return found;
  }

  std::unique_ptr<SimulatedPlatform> platform_;
  std::unique_ptr<Executor> executor_;
  Echo echo_;
  std::unique_ptr<HttpServer> server_;
};

INSTANTIATE_TEST_SUITE_P(Seeds, HttpServerTest, testing::Range(0, 10));

TEST_P(HttpServerTest, AnswersARequest) {
  start();
  const std::string answer =
      exchange({"GET /v1/jobs?state=running&x=a%20b HTTP/1.1\r\nHost: h\r\n\r\n"});
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n")) << answer;
  EXPECT_TRUE(answer.ends_with("\r\n\r\nGET /v1/jobs state=running x=a b")) << answer;
}

TEST_P(HttpServerTest, ARequestMayComeByteByByte) {
  start();
  std::vector<std::string> pieces;
  for (const char c : std::string("POST /x HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello")) {
    pieces.emplace_back(1, c);
  }
  EXPECT_TRUE(exchange(pieces, milliseconds(1)).ends_with("POST /x [hello]"));
}

TEST_P(HttpServerTest, SeveralRequestsShareAConnection) {
  start();
  const std::string answer =
      exchange({"GET /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\n\r\nGET /c HTTP/1.1\r\nConnection: "
                "close\r\n\r\n"});
  EXPECT_EQ(count(answer, "HTTP/1.1 200 OK"), 3) << answer;
  EXPECT_LT(answer.find("GET /a"), answer.find("GET /b"));
  EXPECT_LT(answer.find("GET /b"), answer.find("GET /c"));
}

TEST_P(HttpServerTest, HeadGetsNoBody) {
  start();
  const std::string answer = exchange({"HEAD /a HTTP/1.1\r\n\r\n"});
  EXPECT_TRUE(answer.ends_with("\r\n\r\n")) << answer;
  EXPECT_NE(answer.find("Content-Length: 7"), answer.npos);
}

TEST_P(HttpServerTest, WhatIsNoRequestIsRefused) {
  start();
  for (const std::string& bytes :
       {std::string("\x16\x03\x01 hello, this is no HTTP\r\n\r\n"), std::string("HUMC\0\0\0\1", 8),
        std::string("GET no-slash HTTP/1.1\r\n\r\n"), std::string("GET /%zz HTTP/1.1\r\n\r\n")}) {
    const std::string answer = exchange({bytes});
    EXPECT_TRUE(answer.empty() || answer.starts_with("HTTP/1.1 400 ")) << answer;
  }
  EXPECT_TRUE(exchange({"GET /a HTTP/1.1\r\n\r\n"}).ends_with("GET /a"));
}

TEST_P(HttpServerTest, HeadersAndBodiesHaveLimits) {
  HttpServerOptions options;
  options.max_body_bytes = 1000;
  start(options);
  EXPECT_TRUE(
      exchange({"POST /a HTTP/1.1\r\nContent-Length: 1001\r\n\r\n"}).starts_with("HTTP/1.1 413 "));
  EXPECT_TRUE(exchange({"GET /a HTTP/1.1\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n"})
                  .starts_with("HTTP/1.1 431 "));
  EXPECT_TRUE(exchange({"GET /" + std::string(40'000, 'x') + " HTTP/1.1\r\n\r\n"})
                  .starts_with("HTTP/1.1 431 "));
}

TEST_P(HttpServerTest, ASlowRequestIsGivenUp) {
  HttpServerOptions options;
  options.request_timeout_ns = seconds(2);
  start(options);
  EXPECT_TRUE(exchange({"GET /a HT", "TP/1.1\r\n"}, seconds(3)).starts_with("HTTP/1.1 408 "));
  EXPECT_EQ(server_->connections(), 0U);
}

TEST_P(HttpServerTest, TheConnectionIdleLongestMakesRoom) {
  HttpServerOptions options;
  options.max_connections = 3;
  start(options);
  std::array<std::string, 8> answers;
  std::array<bool, 8> done{};
  for (std::size_t i = 0; i < answers.size(); ++i) {
    executor_->spawn(talk(this, {}, 0, seconds(30), &answers[i], &done[i]));
  }
  (void)platform_->run_until([] { return false; }, platform_->now() + seconds(1));
  EXPECT_EQ(server_->connections(), 3U);
  EXPECT_TRUE(exchange({"GET /a HTTP/1.1\r\n\r\n"}).ends_with("GET /a"));
  (void)platform_->run_until([&] { return done[7]; }, platform_->now() + seconds(60));
}

}  // namespace
}  // namespace hummer::http_server_test
