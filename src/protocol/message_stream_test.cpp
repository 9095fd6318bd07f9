#include "protocol/message_stream.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

#include "platform/simulation.hpp"
#include "platform/task.hpp"
#include "protocol/message_frame.hpp"

namespace hummer::message_stream_test {
namespace {

wire::Envelope message(std::uint64_t number, std::size_t padding = 0) {
  wire::Envelope envelope;
  envelope.mutable_library_piece()->set_offset(number);
  envelope.mutable_library_piece()->set_bytes(std::string(padding, 'x'));
  return envelope;
}

std::string frame(const wire::Envelope& envelope) {
  std::string bytes;
  EXPECT_TRUE(append_frame(envelope, bytes).ok());
  return bytes;
}

class ScriptedFaults final : public MessageFaults {
 public:
  Verdict next(const wire::Envelope&) override {
    if (verdicts.empty()) return {};
    const Verdict verdict = verdicts.front();
    verdicts.pop_front();
    return verdict;
  }
  std::deque<Verdict> verdicts;
};

// Two ends of one simulated connection: `a` speaks messages, the other end bytes or messages.
class Link {
 public:
  explicit Link(std::uint64_t seed, SimulationOptions simulation = {}) {
    simulation.seed = seed;
    platform = make_simulated_platform(simulation);
    executor = platform->make_executor({.name = "test"});
  }
  ~Link() { executor->stop(); }

  Task<void> connect(MessageStream::Options options = {}) {
    SocketAddress address = platform->address();
    address.port = 7000;
    Result<std::unique_ptr<Listener>> listener = platform->network().listen(address);
    ConnectOptions connecting;
    Result<std::unique_ptr<ByteStream>> near =
        co_await platform->network().connect(address, connecting);
    Result<std::unique_ptr<ByteStream>> other = co_await (*listener)->accept();
    a = std::make_unique<MessageStream>(*executor, std::move(*near), options);
    raw = std::move(*other);
  }
  // From now on the other end speaks messages too.
  void make_b(MessageStream::Options options = {}) {
    b = std::make_unique<MessageStream>(*executor, std::move(raw), options);
  }

  void run(Task<void> script) {
    executor->spawn(watch(std::move(script), &done));
    EXPECT_EQ(platform->run_until([this] { return done; }, platform->now() + seconds(600)),
              RunEnd::satisfied)
        << "the script hangs";
  }
  static Task<void> watch(Task<void> script, bool* finished) {
    co_await std::move(script);
    *finished = true;
  }

  std::unique_ptr<SimulatedPlatform> platform;
  std::unique_ptr<Executor> executor;
  std::unique_ptr<MessageStream> a;
  std::unique_ptr<MessageStream> b;
  std::unique_ptr<ByteStream> raw;
  bool done = false;
};

class MessageStreamTest : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, MessageStreamTest, testing::Range<std::uint64_t>(1, 6));

Task<void> order_script(Link& link) {
  MessageStream::Options options;
  options.limit_bytes = max_message_bytes;
  co_await link.connect(options);
  link.make_b(options);
  for (std::uint64_t i = 0; i < 200; ++i) {
    EXPECT_TRUE(link.b->send(message(i, i % 7 == 0 ? 100'000 : i)).ok());
  }
  for (std::uint64_t i = 0; i < 200; ++i) {
    const Result<wire::Envelope> got = co_await link.a->receive();
    EXPECT_TRUE(got.ok()) << got.status().to_string();
    if (!got.ok()) co_return;
    EXPECT_EQ(got->library_piece().offset(), i);
    EXPECT_EQ(got->library_piece().bytes().size(), i % 7 == 0 ? 100'000 : i);
  }
  const Status flushed = co_await link.b->flush(link.executor->now() + seconds(1));
  EXPECT_TRUE(flushed.ok());
  EXPECT_EQ(link.b->queued_bytes(), 0u);
  link.b->close();
  const Result<wire::Envelope> end = co_await link.a->receive();
  EXPECT_EQ(end.status().code(), ErrorCode::peer_gone);
}

TEST_P(MessageStreamTest, MessagesArriveWholeAndInOrder) {
  SimulationOptions simulation;
  simulation.partial_transfer_rate = 0.5;
  Link link(GetParam(), simulation);
  link.run(order_script(link));
}

Task<void> bytewise_script(Link& link) {
  co_await link.connect();
  const std::string bytes = frame(message(7, 50)) + frame(message(8));
  for (const char byte : bytes) {
    const Status put = co_await link.raw->write_all({&byte, 1});
    EXPECT_TRUE(put.ok());
    co_await sleep_for(milliseconds(1));
  }
  for (std::uint64_t i = 7; i < 9; ++i) {
    const Result<wire::Envelope> got = co_await link.a->receive();
    EXPECT_TRUE(got.ok());
    if (!got.ok()) co_return;
    EXPECT_EQ(got->library_piece().offset(), i);
  }
}

TEST_P(MessageStreamTest, ASlowPeerMaySendByteByByte) {
  Link link(GetParam());
  link.run(bytewise_script(link));
}

Task<void> expect_refusal(Link& link, std::string bytes) {
  co_await link.connect();
  const Status put = co_await link.raw->write_all(bytes);
  EXPECT_TRUE(put.ok());
  const Result<wire::Envelope> got = co_await link.a->receive(link.executor->now() + seconds(5));
  EXPECT_EQ(got.status().code(), ErrorCode::protocol_error) << got.status().to_string();
}

TEST_P(MessageStreamTest, GarbageIsRefused) {
  Link link(GetParam());
  link.run(expect_refusal(link, "GET / HTTP/1.1\r\nHost: jobmanager\r\n\r\n"));
}

TEST_P(MessageStreamTest, ADamagedMessageIsRefused) {
  std::string bytes = frame(message(1, 100));
  bytes[60] ^= 1;
  Link link(GetParam());
  link.run(expect_refusal(link, bytes));
}

TEST_P(MessageStreamTest, AnOversizeMessageIsRefusedByItsHeaderAlone) {
  const std::string bytes = frame(message(1, max_handshake_bytes));
  Link link(GetParam());
  link.run(expect_refusal(link, bytes.substr(0, message_header_bytes)));
}

TEST_P(MessageStreamTest, AWellSealedPayloadThatIsNoEnvelopeIsRefused) {
  // Field 1 (Hello) announced longer than it is.
  wire::Envelope carrier;
  carrier.mutable_library_piece()->set_bytes("abc");
  std::string bytes = frame(carrier);
  std::string payload = bytes.substr(message_header_bytes);
  payload[1] = 100;
  FrameDecoder decoder(1000);
  wire::Envelope out;
  bytes.replace(message_header_bytes, std::string::npos, payload);
  std::string_view view = bytes;
  EXPECT_EQ(decoder.next(view, out).status().code(), ErrorCode::protocol_error);
}

Task<void> half_a_frame_script(Link& link) {
  co_await link.connect();
  const std::string bytes = frame(message(5, 1000));
  const Status half = co_await link.raw->write_all(std::string_view(bytes).substr(0, 500));
  EXPECT_TRUE(half.ok());
  const Nanoseconds deadline = link.executor->now() + seconds(2);
  const Result<wire::Envelope> late = co_await link.a->receive(deadline);
  EXPECT_EQ(late.status().code(), ErrorCode::timed_out);
  EXPECT_GE(link.executor->now(), deadline);
  // Usable still: the other half completes it.
  const Status rest = co_await link.raw->write_all(std::string_view(bytes).substr(500));
  EXPECT_TRUE(rest.ok());
  const Result<wire::Envelope> whole = co_await link.a->receive();
  EXPECT_TRUE(whole.ok());
  const Status again = co_await link.raw->write_all(std::string_view(bytes).substr(0, 20));
  EXPECT_TRUE(again.ok());
  link.raw->close();
  const Result<wire::Envelope> cut = co_await link.a->receive();
  EXPECT_EQ(cut.status().code(), ErrorCode::connection_lost);
}

TEST_P(MessageStreamTest, HalfAFrameThenSilence) {
  Link link(GetParam());
  link.run(half_a_frame_script(link));
}

Task<void> queue_script(Link& link) {
  MessageStream::Options options;
  options.max_queued_bytes = 300'000;
  co_await link.connect(options);
  Status last;
  int sent = 0;
  while (last.ok() && sent < 100) {
    last = link.a->send(message(static_cast<std::uint64_t>(sent), 50'000));
    if (last.ok()) ++sent;
  }
  EXPECT_EQ(last.code(), ErrorCode::limit_exceeded);
  EXPECT_LE(link.a->queued_bytes(), 300'000u);
  const Status stuck = co_await link.a->flush(link.executor->now() + seconds(1));
  EXPECT_EQ(stuck.code(), ErrorCode::timed_out);
  // Those that were accepted arrive when the peer reads.
  MessageStream::Options reading;
  reading.limit_bytes = max_message_bytes;
  link.make_b(reading);
  for (int i = 0; i < sent; ++i) {
    const Result<wire::Envelope> got = co_await link.b->receive();
    EXPECT_TRUE(got.ok());
    if (!got.ok()) co_return;
    EXPECT_EQ(got->library_piece().offset(), static_cast<std::uint64_t>(i));
  }
  const Status flushed = co_await link.a->flush(link.executor->now() + seconds(1));
  EXPECT_TRUE(flushed.ok());
}

TEST_P(MessageStreamTest, APeerThatDoesNotReadCostsOnlyTheLimit) {
  Link link(GetParam());
  link.run(queue_script(link));
}

Task<void> close_soon(Link& link) {
  co_await sleep_for(milliseconds(5));
  link.a->close();
}

Task<void> close_script(Link& link) {
  co_await link.connect();
  link.executor->spawn(close_soon(link));
  const Result<wire::Envelope> got = co_await link.a->receive();
  EXPECT_EQ(got.status().code(), ErrorCode::cancelled);
  EXPECT_EQ(link.a->send(message(1)).code(), ErrorCode::cancelled);
  const Status flushed = co_await link.a->flush(never);
  EXPECT_EQ(flushed.code(), ErrorCode::cancelled);
}

TEST_P(MessageStreamTest, CloseEndsAWaitingReceive) {
  Link link(GetParam());
  link.run(close_script(link));
}

Task<void> destroy_soon(Link& link) {
  co_await sleep_for(milliseconds(5));
  link.a.reset();
}

Task<void> destroy_script(Link& link) {
  co_await link.connect();
  link.executor->spawn(destroy_soon(link));
  const Result<wire::Envelope> got = co_await link.a->receive();
  EXPECT_EQ(got.status().code(), ErrorCode::cancelled);
}

TEST_P(MessageStreamTest, MayBeDestroyedUnderAWaitingReceive) {
  Link link(GetParam());
  link.run(destroy_script(link));
}

Task<void> faults_script(Link& link, ScriptedFaults& faults) {
  using Fate = MessageFaults::Fate;
  MessageStream::Options options;
  options.faults = &faults;
  co_await link.connect(options);
  link.make_b();
  faults.verdicts = {{Fate::send, 0},
                     {Fate::lose, 0},
                     {Fate::repeat, 0},
                     {Fate::delay, milliseconds(100)},
                     {Fate::send, 0}};
  for (std::uint64_t i = 0; i < 5; ++i) EXPECT_TRUE(link.a->send(message(i)).ok());
  std::vector<std::uint64_t> seen;
  while (seen.size() < 5) {
    const Result<wire::Envelope> got = co_await link.b->receive(link.executor->now() + seconds(1));
    if (!got.ok()) break;
    seen.push_back(got->library_piece().offset());
  }
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{0, 2, 2, 4, 3}));
}

TEST_P(MessageStreamTest, FaultsLoseRepeatAndDelay) {
  ScriptedFaults faults;
  Link link(GetParam());
  link.run(faults_script(link, faults));
}

Task<void> count_others(int& others, const bool& stop) {
  while (!stop) {
    ++others;
    co_await yield();
  }
}

Task<void> flood_script(Link& link) {
  co_await link.connect();
  std::string flood;
  for (std::uint64_t i = 0; i < 2000; ++i) flood += frame(message(i));
  link.executor->spawn([](Link& to, std::string bytes) -> Task<void> {
    const Status unused = co_await to.raw->write_all(bytes);
    EXPECT_TRUE(unused.ok());
  }(link, std::move(flood)));
  int others = 0;
  bool stop = false;
  link.executor->spawn(count_others(others, stop));
  for (int i = 0; i < 2000; ++i) {
    const Result<wire::Envelope> got = co_await link.a->receive();
    EXPECT_TRUE(got.ok());
  }
  EXPECT_GT(others, 20);
  stop = true;
  co_await sleep_for(milliseconds(1));
}

TEST_P(MessageStreamTest, APeerThatFloodsLeavesOthersTheirTurn) {
  Link link(GetParam());
  link.run(flood_script(link));
}

TEST(MessageFrameTest, TooLongToBeSent) {
  std::string out = "before";
  EXPECT_EQ(append_frame(message(1, max_message_bytes), out).code(), ErrorCode::limit_exceeded);
  EXPECT_EQ(out, "before");
}

}  // namespace
}  // namespace hummer::message_stream_test
