// The engine's own sources under the operator harness: files, sockets, the head of a receiver task.
// Those that wait for a peer get a simulated world of their own in each run, in which time goes on
// while they are blocked.
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <hummer/detail/connector_factories.hpp>
#include <hummer/detail/operators/factory.hpp>
#include <hummer/testing/operator_harness.hpp>

#include "connectors/connector_test_context.hpp"
#include "net/memory_transport.hpp"
#include "net/network_emitter.hpp"
#include "net/network_receiver.hpp"
#include "platform/task.hpp"
#include "shuffle/shuffle_emitter.hpp"
#include "shuffle/shuffle_reader.hpp"

namespace hummer::engine_sources_test {
namespace {

// Lines as blocks of one line each, whatever the schedule.
std::vector<TextBlock> lines_of(std::string_view text, const std::string& origin) {
  std::vector<TextBlock> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    lines.push_back({text.data() + at, end - at, at, &origin});
    at = end;
  }
  return lines;
}

constexpr std::string_view numbers = "one\ntwo\n\nfour and more\nlast without end";
// printf 'one\ntwo\n\nfour and more\nlast without end' | gzip -n9
const std::string packed_numbers(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\xcf\x4b\xe5\x2a\x29\xcf\xe7\xe2\x4a\xcb\x2f"
    "\x2d\x52\x48\xcc\x4b\x51\xc8\xcd\x2f\x4a\xe5\xca\x49\x2c\x2e\x51\x28\xcf\x2c\xc9\xc8\x2f"
    "\x2d\x51\x48\xcd\x4b\x01\x00\x80\x96\x21\xd5\x27\x00\x00\x00",
    59);

class FilesUnderTheHarness : public testing::Test {
 protected:
  FilesUnderTheHarness() {
    put_file(*platform_, "/in/1", numbers);
    put_file(*platform_, "/in/2.gz", packed_numbers);
  }
  HarnessReport run(const std::string& path, FileSourceOptions options,
                    const std::vector<TextBlock>& lines, int subtask = 0, int parallelism = 1) {
    options.block_size_bytes = 1;
    SourceHarness harness(make_file_source(path, options));
    harness.options().place.platform = platform_.get();
    harness.options().place.subtask = subtask;
    harness.options().place.parallelism = parallelism;
    harness.output<TextBlock>().records(lines);
    return harness.run();
  }

  std::unique_ptr<SimulatedPlatform> platform_ = make_simulated_platform({});
  const std::string plain_ = "/in/1";
  const std::string packed_ = "/in/2.gz";
};

TEST_F(FilesUnderTheHarness, GoOnAtTheNextLine) {
  for (const bool mapped : {false, true}) {
    for (const std::size_t split : {5, 1000}) {
      const HarnessReport report =
          run(plain_, {.split_size_bytes = split, .map_files = mapped}, lines_of(numbers, plain_));
      EXPECT_TRUE(report.ok()) << "split " << split << ": " << report.text();
    }
  }
}

TEST_F(FilesUnderTheHarness, CompressedOrNot) {
  std::vector<TextBlock> lines = lines_of(numbers, plain_);
  for (const TextBlock& line : lines_of(numbers, packed_)) lines.push_back(line);
  const HarnessReport report = run("/in", {}, lines);
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST_F(FilesUnderTheHarness, EachSubtaskItsSplits) {
  const std::vector<TextBlock> lines = lines_of(numbers, plain_);
  for (int subtask = 0; subtask < 2; ++subtask) {
    std::vector<TextBlock> own;
    for (const TextBlock& line : lines) {
      if (static_cast<int>(line.offset / 5 % 2) == subtask) own.push_back(line);
    }
    const HarnessReport report = run(plain_, {.split_size_bytes = 5}, own, subtask, 2);
    EXPECT_TRUE(report.ok()) << "subtask " << subtask << ": " << report.text();
  }
}

struct World {
  std::unique_ptr<SimulatedPlatform> platform = make_simulated_platform({});
  std::unique_ptr<Executor> executor = platform->make_executor({.name = "slot"});
  ConnectorTestContext context{*platform, 0, 1, executor.get()};
  std::unique_ptr<Listener> listener;
  std::unique_ptr<ShuffleStore> store;
};

// The source that `make` puts into a world; it is called on the executor there, as a task's is.
class InAWorld final : public SourceOperator {
 public:
  template <typename Make>
  explicit InAWorld(const Make& make) : source_(make(world_)) {
    source_->set_context(world_.context);
  }
  ~InAWorld() override { world_.executor->stop(); }

  void declare(Output& out) const override { source_->declare(out); }
  Status open() override {
    return call([this] { return source_->open(); });
  }
  OperatorResult produce(Output& out) override {
    const OperatorResult answer = call([&] { return source_->produce(out); });
    if (answer == OperatorResult::blocked) {
      const Nanoseconds later = world_.platform->now() + milliseconds(1);
      static_cast<void>(world_.platform->run_until([] { return false; }, later));
    }
    return answer == OperatorResult::failed ? context().fail(world_.context.failure()) : answer;
  }
  Status close() override {
    return call([this] { return source_->close(); });
  }

 private:
  template <typename Function>
  auto call(Function function) -> decltype(function()) {
    std::optional<decltype(function())> result;
    world_.executor->spawn(call_there(function, result));
    const Nanoseconds latest = world_.platform->now() + seconds(60);
    const RunEnd end = world_.platform->run_until([&] { return result.has_value(); }, latest);
    HUMMER_ASSERT(end == RunEnd::satisfied);
    return *result;
  }
  template <typename Function, typename Value>
  static Task<void> call_there(Function function, std::optional<Value>& result) {
    result = function();
    co_return;
  }

  World world_;
  std::unique_ptr<SourceOperator> source_;
};

template <typename Make>
auto in_a_world(Make make) {
  return make_operator_factory([make] { return std::make_unique<InAWorld>(make); });
}

Task<void> serve(Listener& listener, std::vector<std::string> pieces) {
  Result<std::unique_ptr<ByteStream>> stream = co_await listener.accept();
  HUMMER_ASSERT(stream.ok());
  for (const std::string& piece : pieces) {
    if (!(co_await (*stream)->write_all(piece)).ok()) co_return;
    co_await sleep_for(milliseconds(2));
  }
  (*stream)->close();
}

auto lines_from_a_socket(std::vector<std::string> pieces, std::size_t max_line_bytes) {
  return in_a_world([=](World& world) {
    auto listener = world.platform->network().listen(*parse_socket_address("127.0.0.1:7777"));
    HUMMER_ASSERT(listener.ok());
    world.listener = std::move(*listener);
    world.executor->spawn(serve(*world.listener, pieces));
    std::unique_ptr<Operator> source = make_socket_source("127.0.0.1:7777", max_line_bytes)->make();
    return std::unique_ptr<SourceOperator>(dynamic_cast<SourceOperator*>(source.release()));
  });
}

// A socket can't be read again, so there are no snapshots.
TEST(SocketUnderTheHarness, WholeLinesUnderEverySchedule) {
  const std::string origin = "127.0.0.1:7777";
  SourceHarness harness(
      lines_from_a_socket({"one\n", "tw", "o\n", "\n", "four and", " more\n", "last"}, 100));
  harness.options().with_snapshots = false;
  harness.output<TextBlock>().records(lines_of("one\ntwo\n\nfour and more\nlast", origin));
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(SocketUnderTheHarness, ALineTooLongFailsBehindTheLinesBeforeIt) {
  const std::string origin = "127.0.0.1:7777";
  SourceHarness harness(lines_from_a_socket({"one\n", "longer than ten\n"}, 10));
  harness.options().with_snapshots = false;
  harness.expect_failure("max_line_bytes");
  harness.output<TextBlock>().records(lines_of("one\n", origin));
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

// A number, a watermark, and so on; then the end, unless the sender goes away before it.
Task<void> send(std::unique_ptr<TransportSender> transport, bool whole) {
  Executor& executor = co_await current_executor();
  WakeEvent event;
  NetworkEmitter emitter(std::move(transport), type_of<int>(), "the receiver");
  emitter.attach(executor, event);
  std::deque<Element> elements;
  for (int i = 0; i < 8; ++i) {
    Element element;
    element.batch = Batch(type_of<int>(), 1);
    new (element.batch.raw_mutable_values()) int(i);
    element.batch.set_size(1);
    element.control = Control::watermark(i);
    elements.push_back(std::move(element));
  }
  if (whole) elements.push_back({Batch(), Control::end()});
  while (!elements.empty()) {
    event.prepare_wait();
    const OperatorResult answer = emitter.offer(elements.front());
    if (answer == OperatorResult::blocked) {
      co_await event.wait();
      continue;
    }
    event.cancel_wait();
    if (answer == OperatorResult::failed) break;
    elements.pop_front();
    co_await yield();
  }
}

auto numbers_received(bool whole) {
  return in_a_world([whole](World& world) {
    TransportPair pair = make_memory_transport({});
    world.executor->spawn(send(std::move(pair.sender), whole));
    return std::make_unique<NetworkReceiver>(std::move(pair.receiver), type_of<int>(), "map[0]");
  });
}

// What comes over a channel is no state: a restart sends it again.
TEST(ReceiverUnderTheHarness, RecordsAndWatermarksInOrder) {
  SourceHarness harness(numbers_received(true));
  harness.options().with_snapshots = false;
  auto expected = harness.output<int>();
  for (int i = 0; i < 8; ++i) expected.record(i).watermark(i);
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(ReceiverUnderTheHarness, ASenderThatGoesAwayFailsItBehindItsRecords) {
  SourceHarness harness(numbers_received(false));
  harness.options().with_snapshots = false;
  harness.expect_failure("receiving from map[0]");
  auto expected = harness.output<int>();
  for (int i = 0; i < 8; ++i) expected.record(i);
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

// Files of two subtasks, 0 to 3 and 4 to 7; or of the first alone, as the second is lost.
constexpr std::uint32_t numbers_per_file = 4;

ShuffleKey file_of(std::uint32_t subtask) {
  return {.job = 1, .attempt = 1, .region = 0, .edge = 0, .subtask = subtask};
}

void write_numbers(ShuffleStore& store, std::uint32_t subtask) {
  ShuffleOutput output;
  output.store = &store;
  output.key = file_of(subtask);
  output.partitions = 1;
  output.target = "the reader";
  ShuffleEmitter emitter(std::move(output), type_of<int>());
  Element element;
  for (std::uint32_t i = 0; i < numbers_per_file; ++i) {
    element.batch = Batch(type_of<int>(), 1);
    new (element.batch.raw_mutable_values()) int(static_cast<int>(subtask * numbers_per_file + i));
    element.batch.set_size(1);
    HUMMER_ASSERT(emitter.offer(element) == OperatorResult::done);
  }
  element.batch = Batch();
  element.control = Control::end();
  HUMMER_ASSERT(emitter.offer(element) == OperatorResult::done);
}

auto numbers_from_files(std::uint32_t whole) {
  return in_a_world([whole](World& world) {
    world.store = std::make_unique<ShuffleStore>(*world.platform, "/spill", Logger());
    std::vector<ShuffleInput> inputs;
    for (std::uint32_t subtask = 0; subtask < 2; ++subtask) {
      if (subtask < whole) write_numbers(*world.store, subtask);
      ShuffleInput& input = inputs.emplace_back();
      input.key = file_of(subtask);
      input.from = "map[" + std::to_string(subtask) + "]";
    }
    ShuffleAccess access;
    access.platform = world.platform.get();
    access.store = world.store.get();
    return std::make_unique<ShuffleReader>(std::move(access), std::move(inputs), type_of<int>(),
                                           [](const ShuffleKey&) {});
  });
}

// What is read again is whole, so there are no snapshots.
TEST(ShuffleUnderTheHarness, RecordsOfOneFileAfterTheOther) {
  SourceHarness harness(numbers_from_files(2));
  harness.options().with_snapshots = false;
  auto expected = harness.output<int>();
  for (int i = 0; i < 8; ++i) expected.record(i);
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(ShuffleUnderTheHarness, ALostFileFailsItBehindTheRecordsBeforeIt) {
  SourceHarness harness(numbers_from_files(1));
  harness.options().with_snapshots = false;
  harness.expect_failure("what map[1] has left for this task is lost");
  auto expected = harness.output<int>();
  for (int i = 0; i < 4; ++i) expected.record(i);
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

}  // namespace
}  // namespace hummer::engine_sources_test
