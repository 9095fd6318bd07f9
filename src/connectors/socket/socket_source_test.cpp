#include "connectors/socket/socket_source.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "connectors/connector_test_context.hpp"
#include "platform/task.hpp"

namespace hummer::socket_source_test {
namespace {

// What the peer sends, a pause behind each piece; then it closes.
Task<void> serve(Listener& listener, std::vector<std::string> pieces, bool stay_open) {
  Result<std::unique_ptr<ByteStream>> stream = co_await listener.accept();
  HUMMER_ASSERT(stream.ok());
  for (const std::string& piece : pieces) {
    const Status sent = co_await (*stream)->write_all(piece);
    if (!sent.ok()) co_return;
    co_await sleep_for(milliseconds(100));
  }
  if (stay_open) co_await sleep_for(seconds(1000));
  (*stream)->close();
}

struct Outcome {
  std::string text;
  std::vector<std::string> blocks;
  std::vector<Nanoseconds> times;
  Status failure;
  bool ended = false;
  bool finished = false;
};

// A task that drives the source as the engine does, sleeping while it is blocked.
Task<void> drive(SocketSource& source, ConnectorTestContext& context, Outcome& outcome,
                 int stop_after_blocks) {
  Output out(4);
  source.set_context(context);
  source.declare(out);
  outcome.failure = source.open();
  while (outcome.failure.ok()) {
    // Announced before the look, so that no arrival is slept over.
    context.wake_event().prepare_wait();
    const OperatorResult answer = source.produce(out);
    for (const TextBlock& block : out.batch().values<TextBlock>()) {
      EXPECT_EQ(block.offset, outcome.text.size());
      outcome.blocks.emplace_back(block.view());
      outcome.times.push_back(context.now());
      outcome.text += block.view();
    }
    out.batch().clear();
    if (answer == OperatorResult::blocked) {
      co_await context.wake_event().wait();
      continue;
    }
    context.wake_event().cancel_wait();
    if (answer == OperatorResult::failed) outcome.failure = context.failure();
    if (answer == OperatorResult::done) outcome.ended = true;
    if (answer != OperatorResult::more) break;
    if (static_cast<int>(outcome.blocks.size()) == stop_after_blocks) break;
  }
  EXPECT_TRUE(source.close().ok());
  outcome.finished = true;
}

Outcome run(std::vector<std::string> pieces, std::size_t max_line_bytes = 1000,
            std::uint64_t seed = 1, bool stay_open = false, int stop_after_blocks = -1,
            int parallelism = 1) {
  auto platform = make_simulated_platform({.seed = seed});
  const auto executor = platform->make_executor({.name = "slot"});
  auto listener = platform->network().listen(*parse_socket_address("127.0.0.1:7777"));
  HUMMER_ASSERT(listener.ok());
  ConnectorTestContext context(*platform, 0, parallelism, executor.get());
  SocketSource source("127.0.0.1:7777", max_line_bytes);
  Outcome outcome;
  executor->spawn(serve(**listener, std::move(pieces), stay_open));
  executor->spawn(drive(source, context, outcome, stop_after_blocks));
  EXPECT_EQ(platform->run_until([&] { return outcome.finished; }, seconds(60)), RunEnd::satisfied);
  executor->stop();
  return outcome;
}

TEST(SocketSource, HandsOnWholeLinesWhenTheyArrive) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Outcome outcome = run({"one\ntw", "o\n\nthr", "ee", "\nlast without end"}, 1000, seed);
    EXPECT_TRUE(outcome.ended) << outcome.failure.to_string();
    EXPECT_EQ(outcome.text, "one\ntwo\n\nthree\nlast without end");
    for (std::size_t i = 0; i + 1 < outcome.blocks.size(); ++i) {
      EXPECT_EQ(outcome.blocks[i].back(), '\n');
    }
    // The first line did not wait for the rest of the second.
    ASSERT_GE(outcome.blocks.size(), 4u);
    EXPECT_EQ(outcome.blocks[0], "one\n");
    EXPECT_LT(outcome.times[0], milliseconds(90));
  }
}

TEST(SocketSource, LongTextInPiecesOfAnySize) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += std::string(i % 97, 'a' + i % 26) + "\n";
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Outcome outcome = run({text}, 200, seed);
    EXPECT_TRUE(outcome.ended) << outcome.failure.to_string();
    EXPECT_TRUE(outcome.text == text);
  }
}

TEST(SocketSource, ALineAboveTheLimitFailsAndOneAtTheLimitPasses) {
  const std::string line(100, 'x');
  EXPECT_TRUE(run({"a\n" + line + "\n" + line}, 100).ended);
  const Status failure = run({"a\n" + line + "x\n"}, 100).failure;
  EXPECT_EQ(failure.code(), ErrorCode::limit_exceeded);
  for (const char* part : {"127.0.0.1:7777", "byte 2", "max_line_bytes"}) {
    EXPECT_NE(failure.message().find(part), std::string::npos) << failure.message();
  }
}

TEST(SocketSource, NobodyListens) {
  auto platform = make_simulated_platform({});
  const auto executor = platform->make_executor({.name = "slot"});
  ConnectorTestContext context(*platform, 0, 1, executor.get());
  SocketSource source("127.0.0.1:9", 100);
  Outcome outcome;
  executor->spawn(drive(source, context, outcome, -1));
  EXPECT_EQ(platform->run_until([&] { return outcome.finished; }, seconds(60)), RunEnd::satisfied);
  EXPECT_EQ(outcome.failure.code(), ErrorCode::connection_refused);
  EXPECT_NE(outcome.failure.message().find("127.0.0.1:9"), std::string::npos);
  executor->stop();
}

TEST(SocketSource, AConnectionThatDiesNamesTheAddress) {
  auto platform = make_simulated_platform({});
  const auto executor = platform->make_executor({.name = "slot"});
  auto listener = platform->network().listen(*parse_socket_address("127.0.0.1:7777"));
  ConnectorTestContext context(*platform, 0, 1, executor.get());
  SocketSource source("127.0.0.1:7777", 100);
  Outcome outcome;
  executor->spawn(serve(**listener, {"one\n", "two\n", "three\n"}, true));
  executor->spawn(drive(source, context, outcome, -1));
  static_cast<void>(platform->run_until([&] { return !outcome.blocks.empty(); }, seconds(60)));
  platform->simulation().options().connection_death_rate = 1;
  EXPECT_EQ(platform->run_until([&] { return outcome.finished; }, seconds(60)), RunEnd::satisfied);
  EXPECT_EQ(outcome.failure.code(), ErrorCode::connection_lost);
  EXPECT_NE(outcome.failure.message().find("127.0.0.1:7777"), std::string::npos);
  executor->stop();
}

TEST(SocketSource, CanBeClosedInTheMiddle) {
  const Outcome outcome = run({"one\n", "two\n"}, 100, 1, true, 1);
  EXPECT_FALSE(outcome.ended);
  EXPECT_EQ(outcome.blocks.size(), 1u);
}

TEST(SocketSource, ClosedWhileItConnects) {
  auto platform = make_simulated_platform({});
  const auto executor = platform->make_executor({.name = "slot"});
  auto listener = platform->network().listen(*parse_socket_address("127.0.0.1:7777"));
  {
    ConnectorTestContext context(*platform, 0, 1, executor.get());
    SocketSource source("127.0.0.1:7777", 100);
    source.set_context(context);
    ASSERT_TRUE(source.open().ok());
    ASSERT_TRUE(source.close().ok());
  }
  static_cast<void>(platform->run_until([&] { return executor->live_tasks() == 0; }, seconds(60)));
  EXPECT_EQ(executor->live_tasks(), 0u);
  executor->stop();
}

TEST(SocketSource, HasOneReader) {
  EXPECT_EQ(run({}, 100, 1, false, -1, 2).failure.code(), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace hummer::socket_source_test
