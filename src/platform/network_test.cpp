#include "platform/network.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "platform/linux_stream.hpp"
#include "platform/platform.hpp"
#include "platform/run_task.hpp"
#include "platform/simulation.hpp"

namespace hummer::network_test {
namespace {

using Stream = std::unique_ptr<ByteStream>;

const ConnectOptions defaults;

SocketAddress local_port(std::uint16_t port) {
  SocketAddress address = *parse_socket_address("127.0.0.1:0");
  address.port = port;
  return address;
}

// Every test runs on both forms, with client and server on executors of their own.
class NetworkTest : public testing::TestWithParam<bool> {
 protected:
  NetworkTest() {
    if (GetParam()) {
      platform_ = make_simulated_platform({.seed = 11});
    } else {
      platform_ = make_linux_platform();
    }
    client_ = platform_->make_executor({.name = "client"});
    server_ = platform_->make_executor({.name = "server"});
    auto listener = network().listen(local_port(0));
    EXPECT_TRUE(listener.ok()) << listener.status().to_string();
    listener_ = std::move(*listener);
    address_ = listener_->local_address();
  }
  ~NetworkTest() override {
    stop();
    listener_.reset();
  }
  // Before the sockets go that a thread of these has looked at.
  void stop() {
    client_->stop();
    server_->stop();
  }
  Network& network() { return platform_->network(); }

  std::unique_ptr<Platform> platform_;
  std::unique_ptr<Executor> client_;
  std::unique_ptr<Executor> server_;
  std::unique_ptr<Listener> listener_;
  SocketAddress address_;
};
INSTANTIATE_TEST_SUITE_P(Forms, NetworkTest, testing::Bool(),
                         [](const auto& form) { return form.param ? "Simulated" : "Linux"; });

std::string long_text() {
  std::string text(1'000'000, ' ');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 7 + i / 251);
  return text;
}

Task<void> serve_echo(Stream stream) {
  std::vector<char> buffer(10'000);
  while (true) {
    const Result<std::size_t> got = co_await stream->read_some(buffer);
    if (!got.ok() || *got == 0) break;
    const Status sent = co_await stream->write_all(std::span(buffer.data(), *got));
    if (!sent.ok()) break;
  }
}

Task<void> accept_loop(Listener& listener) {
  Executor& executor = co_await current_executor();
  while (true) {
    Result<Stream> stream = co_await listener.accept();
    if (!stream.ok()) break;
    executor.spawn(serve_echo(std::move(*stream)));
  }
}

Task<void> send_all(ByteStream& stream, const std::string& text, Status& outcome) {
  outcome = co_await stream.write_all(text);
  if (outcome.ok()) outcome = stream.shutdown_write();
}

Task<std::string> echo(Network& network, SocketAddress address, const std::string& text) {
  Executor& executor = co_await current_executor();
  Result<Stream> stream = co_await network.connect(address, defaults);
  if (!stream.ok()) co_return stream.status().to_string();
  Status sent(ErrorCode::internal, "unset");
  executor.spawn(send_all(**stream, text, sent));
  std::string back;
  std::vector<char> buffer(7'000);
  while (true) {
    const Result<std::size_t> got = co_await (*stream)->read_some(buffer);
    if (!got.ok()) co_return got.status().to_string();
    if (*got == 0) break;
    back.append(buffer.data(), *got);
  }
  co_return sent.ok() ? back : sent.to_string();
}

std::string congestion_control_of(const ByteStream& stream) {
  char name[16] = {};
  socklen_t length = sizeof name;
  const int socket = static_cast<const LinuxByteStream&>(stream).descriptor();
  EXPECT_EQ(::getsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name, &length), 0);
  return name;
}

Task<std::vector<std::string>> congestion_controls(Network& network, SocketAddress address,
                                                   Listener& listener) {
  const Result<Stream> one = co_await network.connect(address, defaults);
  const Result<Stream> other = co_await listener.accept();
  co_return std::vector{congestion_control_of(**one), congestion_control_of(**other)};
}

TEST(LinuxNetwork, ConnectionsWithinAMachineAreNotPaced) {
  std::ifstream allowed("/proc/sys/net/ipv4/tcp_allowed_congestion_control");
  const std::string names((std::istreambuf_iterator<char>(allowed)), {});
  if (names.find("reno") == std::string::npos) GTEST_SKIP() << "may not choose: " << names;
  const auto platform = make_linux_platform();
  const auto executor = platform->make_executor({.name = "both"});
  const auto listener = platform->network().listen(local_port(0));
  ASSERT_TRUE(listener.ok());
  EXPECT_EQ(
      run_task(*platform, *executor,
               congestion_controls(platform->network(), (*listener)->local_address(), **listener)),
      (std::vector<std::string>{"reno", "reno"}));
  executor->stop();
}

TEST_P(NetworkTest, EchoesAMegabyteAndEndsInGoodOrder) {
  server_->spawn(accept_loop(*listener_));
  const std::string text = long_text();
  const auto back = run_task(*platform_, *client_, echo(network(), address_, text));
  EXPECT_TRUE(back == text);
}

Task<void> echo_once(Network& network, SocketAddress address, std::string text, int& right) {
  const std::string back = co_await echo(network, address, text);
  if (back == text) ++right;
}

Task<int> echo_many(Network& network, SocketAddress address, int count) {
  Executor& executor = co_await current_executor();
  int right = 0;
  const std::size_t others = executor.live_tasks();
  for (int i = 0; i < count; ++i) {
    executor.spawn(echo_once(network, address, "text " + std::to_string(i), right));
  }
  while (executor.live_tasks() > others) co_await sleep_for(microseconds(100));
  co_return right;
}

TEST_P(NetworkTest, ManyConnectionsAtOnce) {
  server_->spawn(accept_loop(*listener_));
  EXPECT_EQ(run_task(*platform_, *client_, echo_many(network(), address_, 200)), 200);
}

Task<ErrorCode> connect_code(Network& network, SocketAddress address, ConnectOptions options) {
  const Result<Stream> stream = co_await network.connect(address, options);
  co_return stream.status().code();
}

TEST_P(NetworkTest, NobodyListens) {
  const SocketAddress closed = address_;
  listener_.reset();
  EXPECT_EQ(run_task(*platform_, *client_, connect_code(network(), closed, {})),
            ErrorCode::connection_refused);
}

using Datagrams = std::unique_ptr<DatagramSocket>;

Datagrams open(Network& network, const SocketAddress* peer) {
  Result<Datagrams> socket = network.open_datagrams(local_port(0), peer);
  EXPECT_TRUE(socket.ok()) << socket.status().to_string();
  return std::move(*socket);
}

// What comes, as text; or the failure.
Task<std::string> receive_text(DatagramSocket& socket, Nanoseconds wait_ns, SocketAddress* from) {
  Executor& executor = co_await current_executor();
  std::string buffer(8, '\0');
  const Result<DatagramSocket::Received> got =
      co_await socket.receive(buffer, executor.now() + wait_ns);
  if (!got.ok()) co_return got.status().to_string();
  *from = got->from;
  co_return buffer.substr(0, got->bytes);
}

TEST_P(NetworkTest, DatagramsArriveWholeWithTheirSender) {
  const Datagrams server = open(network(), nullptr);
  const SocketAddress at = server->local_address();
  const Datagrams client = open(network(), &at);
  SocketAddress from;
  ASSERT_TRUE(client->send(std::string("question"), at).ok());
  EXPECT_EQ(run_task(*platform_, *server_, receive_text(*server, seconds(10), &from)), "question");
  EXPECT_EQ(from, client->local_address());
  ASSERT_TRUE(server->send(std::string("a long answer"), from).ok());
  EXPECT_EQ(run_task(*platform_, *client_, receive_text(*client, seconds(10), &from)), "a long a");
  EXPECT_EQ(from, at);
  ASSERT_TRUE(server->send(std::string(), client->local_address()).ok());
  EXPECT_EQ(run_task(*platform_, *client_, receive_text(*client, seconds(10), &from)), "");
  stop();
}

TEST_P(NetworkTest, ADatagramSocketWithAPeerHearsOfNobodyElse) {
  const Datagrams server = open(network(), nullptr);
  const Datagrams stranger = open(network(), nullptr);
  const SocketAddress at = server->local_address();
  const Datagrams client = open(network(), &at);
  SocketAddress from;
  ASSERT_TRUE(stranger->send(std::string("wrong"), client->local_address()).ok());
  EXPECT_EQ(run_task(*platform_, *client_, receive_text(*client, milliseconds(20), &from)),
            "E3006: no answer");
  ASSERT_TRUE(server->send(std::string("right"), client->local_address()).ok());
  EXPECT_EQ(run_task(*platform_, *client_, receive_text(*client, seconds(10), &from)), "right");
  stop();
}

TEST_P(NetworkTest, BindAddress) {
  ConnectOptions options;
  options.bind_address = "127.0.0.1";
  EXPECT_EQ(run_task(*platform_, *client_, connect_code(network(), address_, options)),
            ErrorCode::ok);
  // A request that can't be granted is no failure.
  options.bind_address.clear();
  options.interface = "lo";
  EXPECT_EQ(run_task(*platform_, *client_, connect_code(network(), address_, options)),
            ErrorCode::ok);
}

TEST_P(NetworkTest, PortInUseNamesTheAddress) {
  const auto second = network().listen(address_);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().code(), ErrorCode::address_in_use);
  EXPECT_NE(second.status().message().find(address_.to_string()), std::string::npos);
}

Task<void> close_later(ByteStream& stream) {
  co_await sleep_for(milliseconds(1));
  stream.close();
}

Task<ErrorCode> read_until_closed(Network& network, SocketAddress address) {
  Executor& executor = co_await current_executor();
  Result<Stream> stream = co_await network.connect(address, defaults);
  if (!stream.ok()) co_return stream.status().code();
  executor.spawn(close_later(**stream));
  char byte[1];
  const Result<std::size_t> got = co_await (*stream)->read_some(byte);
  const Result<std::size_t> again = (*stream)->try_read(byte);
  co_return got.status().code() == again.status().code() ? got.status().code()
                                                         : ErrorCode::internal;
}

TEST_P(NetworkTest, CloseEndsAWaitingRead) {
  EXPECT_EQ(run_task(*platform_, *client_, read_until_closed(network(), address_)),
            ErrorCode::cancelled);
}

Task<ErrorCode> write_until_closed(Network& network, SocketAddress address) {
  Executor& executor = co_await current_executor();
  Result<Stream> stream = co_await network.connect(address, defaults);
  if (!stream.ok()) co_return stream.status().code();
  executor.spawn(close_later(**stream));
  const std::string text(64 * 1024 * 1024, 'x');  // more than any buffer: nobody reads
  const Status status = co_await (*stream)->write_all(text);
  co_return status.code();
}

TEST_P(NetworkTest, CloseEndsAWaitingWrite) {
  EXPECT_EQ(run_task(*platform_, *client_, write_until_closed(network(), address_)),
            ErrorCode::cancelled);
}

Task<void> close_listener_later(Listener& listener) {
  co_await sleep_for(milliseconds(1));
  listener.close();
}

Task<ErrorCode> accept_code(Listener& listener) {
  Executor& executor = co_await current_executor();
  executor.spawn(close_listener_later(listener));
  const Result<Stream> stream = co_await listener.accept();
  co_return stream.status().code();
}

TEST_P(NetworkTest, CloseEndsAWaitingAccept) {
  EXPECT_EQ(run_task(*platform_, *server_, accept_code(*listener_)), ErrorCode::cancelled);
}

Task<void> accept_and_drop(Listener& listener) {
  const Result<Stream> stream = co_await listener.accept();
}

Task<ErrorCode> write_to_the_gone(Network& network, SocketAddress address) {
  Result<Stream> stream = co_await network.connect(address, defaults);
  if (!stream.ok()) co_return stream.status().code();
  const std::string text(1000, 'x');
  while (true) {
    const Status status = co_await (*stream)->write_all(text);
    if (!status.ok()) co_return status.code();
    co_await yield();
  }
}

TEST_P(NetworkTest, PeerGoneIsAValue) {
  server_->spawn(accept_and_drop(*listener_));
  EXPECT_EQ(run_task(*platform_, *client_, write_to_the_gone(network(), address_)),
            ErrorCode::connection_lost);
}

// One task that waits for a stream and a flag on one event, through try_read and try_write, or
// try_write_pieces.
Task<std::string> echo_on_one_event(Network& network, SocketAddress address,
                                    const std::string& text, bool in_pieces) {
  Executor& executor = co_await current_executor();
  Result<Stream> connected = co_await network.connect(address, defaults);
  if (!connected.ok()) co_return connected.status().to_string();
  ByteStream& stream = **connected;
  WakeEvent event;
  stream.set_wake_events(executor, &event, &event);
  std::size_t sent = 0;
  std::string back;
  std::vector<char> buffer(5'000);
  while (back.size() < text.size()) {
    event.prepare_wait();
    bool moved = false;
    if (sent < text.size()) {
      const std::string_view rest = std::string_view(text).substr(sent);
      const std::size_t third = rest.size() / 3;
      const std::array pieces{rest.substr(0, third), std::string_view(), rest.substr(third, third),
                              rest.substr(2 * third)};
      const Result<std::size_t> put =
          in_pieces ? stream.try_write_pieces(pieces) : stream.try_write(rest);
      if (!put.ok()) co_return put.status().to_string();
      if (*put != would_block) sent += *put, moved = true;
    }
    const Result<std::size_t> got = stream.try_read(buffer);
    if (!got.ok()) co_return got.status().to_string();
    if (*got != would_block) back.append(buffer.data(), *got), moved = true;
    if (moved) {
      event.cancel_wait();
    } else {
      co_await event.wait();
    }
  }
  stream.detach();
  co_return back;
}

TEST_P(NetworkTest, OneEventForBothDirections) {
  server_->spawn(accept_loop(*listener_));
  const std::string text = long_text();
  for (const bool in_pieces : {false, true}) {
    const auto back =
        run_task(*platform_, *client_, echo_on_one_event(network(), address_, text, in_pieces));
    EXPECT_TRUE(back == text) << in_pieces;
  }
}

Task<bool> exchange_byte(ByteStream& stream) {
  const Status sent = co_await stream.write_all(std::string_view("x"));
  char byte[1] = {};
  const Result<std::size_t> got = co_await stream.read_some(byte);
  stream.detach();
  co_return sent.ok() && got.ok() && *got == 1 && byte[0] == 'x';
}

Task<ByteStream*> connect_raw(Network& network, SocketAddress address) {
  Result<Stream> stream = co_await network.connect(address, defaults);
  co_return stream.ok() ? stream->release() : nullptr;
}

TEST_P(NetworkTest, DetachedStreamMovesToAnotherExecutor) {
  server_->spawn(accept_loop(*listener_));
  const auto raw = run_task(*platform_, *client_, connect_raw(network(), address_));
  ASSERT_TRUE(raw.has_value() && *raw != nullptr);
  Stream stream(*raw);
  EXPECT_EQ(run_task(*platform_, *client_, exchange_byte(*stream)), true);
  EXPECT_EQ(run_task(*platform_, *server_, exchange_byte(*stream)), true);
  EXPECT_EQ(run_task(*platform_, *client_, exchange_byte(*stream)), true);
  EXPECT_EQ(stream->peer_address(), address_);
}

Task<ErrorCode> read_for_ever(Network& network, SocketAddress address) {
  Result<Stream> stream = co_await network.connect(address, defaults);
  char byte[1];
  const Result<std::size_t> got = co_await (*stream)->read_some(byte);
  co_return got.status().code();
}

TEST_P(NetworkTest, StopWithOpenStreams) {
  server_->spawn(accept_loop(*listener_));
  run_task(*platform_, *client_, read_for_ever(network(), address_),
           platform_->now() + milliseconds(20));
  client_->stop();
  EXPECT_EQ(client_->live_tasks(), 0u);
}

TEST(SocketAddress, ParsesAndPrints) {
  for (const char* text :
       {"127.0.0.1:80", "0.0.0.0:0", "255.255.255.255:65535", "[::1]:80", "[::]:1",
        "[2001:db8::1]:7000", "[1:2:3:4:5:6:7:8]:9", "[fe80::a:0:0:b]:1", "[1::]:2"}) {
    const auto address = parse_socket_address(text);
    ASSERT_TRUE(address.ok()) << address.status().to_string();
    EXPECT_EQ(address->to_string(), text);
  }
  EXPECT_EQ(parse_socket_address("localhost:80")->to_string(), "127.0.0.1:80");
  EXPECT_EQ(parse_socket_address("*:80")->to_string(), "0.0.0.0:80");
  EXPECT_EQ(parse_socket_address(":80")->to_string(), "0.0.0.0:80");
  for (const char* text :
       {"", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:x", "127.0.0:80",
        "1.2.3.4.5:80", "256.0.0.1:80", "::1:80", "[::1:80", "[]:80", "[1:2]:80", "[1::2::3]:80",
        "[12345::]:1", "[1:2:3:4:5:6:7:8:9]:1", "1.2.3.:1", "127.0.0.1:-1"}) {
    EXPECT_EQ(parse_socket_address(text).status().code(), ErrorCode::invalid_argument) << text;
  }
  EXPECT_EQ(parse_socket_address("example.org:80").status().code(), ErrorCode::name_not_resolved);
}

}  // namespace
}  // namespace hummer::network_test
