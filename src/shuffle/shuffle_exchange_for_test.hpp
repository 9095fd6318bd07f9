// What tests of fetching share: processes with a store and a data plane in one simulation, and a
// task that reads a partition of what they have written.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "net/block_reader.hpp"
#include "net/data_plane.hpp"
#include "platform/simulation.hpp"
#include "shuffle/fetch_server.hpp"
#include "shuffle/shuffle_emitter.hpp"
#include "shuffle/shuffle_fetcher.hpp"

namespace hummer::shuffle_exchange {

using Texts = std::vector<std::string>;

// Of one length, so that many chunks are needed; the last is larger than any of them.
inline Texts records_of(std::uint32_t subtask, int count) {
  Texts all;
  for (int i = 0; i < count; ++i) {
    all.push_back(std::to_string(subtask) + ":" + std::to_string(i) + std::string(500, 'x'));
  }
  if (count > 0) all.back() += std::string(700'000, 'y');
  return all;
}

// To partitions by the record's last digit.
class ByLength final : public Partitioner {
 public:
  OperatorResult scatter(Batch& in, std::vector<Batch>& targets, std::uint32_t limit) override {
    const auto values = in.values<std::string>();
    for (std::size_t i = in.position(); i < values.size(); ++i) {
      Batch& target = targets[owner_of(values[i], targets.size())];
      EXPECT_LT(target.size(), limit) << "the engine's own would write behind its end";
      Collector<std::string>(target, limit)(values[i]);
      in.advance_to(i + 1);
      if (target.size() < limit) continue;
      return in.finished() ? OperatorResult::done : OperatorResult::more;
    }
    return OperatorResult::done;
  }
  static std::size_t owner_of(const std::string& record, std::size_t partitions) {
    return std::hash<std::string>()(record.substr(0, 4)) % partitions;
  }
};

inline ShuffleKey key_of(std::uint32_t subtask) {
  return {.job = 5, .attempt = 1, .region = 0, .edge = 3, .subtask = subtask};
}

struct Process {
  Process(SimulatedPlatform& node, std::string host, std::shared_ptr<TlsContext> tls = nullptr)
      : platform(node),
        address(std::move(host) + ":7001"),
        store(node, "/spill", {}),
        server(node, store),
        executor(node.make_executor({.name = "data"})) {
    DataPlaneOptions options;
    options.token = "secret";
    options.tls = std::move(tls);
    options.listen_addresses = {{"", "*:7001"}};
    options.on_fetch = [this](std::unique_ptr<ByteStream> stream, FetchRequest request) {
      server.take(std::move(stream), std::move(request));
    };
    plane = std::make_unique<DataPlane>(node, *executor, std::move(options));
    EXPECT_TRUE(plane->start().ok());
  }
  ~Process() {
    plane->stop();
    executor->stop();
    server.stop();
  }

  void write(std::uint32_t subtask, std::uint32_t partitions, const Texts& records) {
    ShuffleOutput output;
    output.store = &store;
    output.key = key_of(subtask);
    output.partitions = partitions;
    output.batch_records = 7;
    output.target = "count";
    if (partitions > 1) output.partitioner = std::make_unique<ByLength>();
    ShuffleEmitter emitter(std::move(output), type_of<std::string>());
    Element element;
    element.batch = Batch(type_of<std::string>(), 16);
    for (const std::string& record : records) {
      Collector<std::string>(element.batch, 16)(record);
      if (element.batch.size() < 10) continue;
      EXPECT_EQ(emitter.offer(element), OperatorResult::done);
      element.control = Control::watermark(7);
      EXPECT_EQ(emitter.offer(element), OperatorResult::done);
    }
    element.control = Control::end();
    EXPECT_EQ(emitter.offer(element), OperatorResult::done) << emitter.failure().to_string();
  }

  SimulatedPlatform& platform;
  const std::string address;
  ShuffleStore store;
  FetchServer server;
  std::unique_ptr<Executor> executor;
  std::unique_ptr<DataPlane> plane;
};

struct Outcome {
  Texts records;
  Status failure;
  std::vector<ShuffleKey> lost;
  bool over = false;
};

inline Task<void> read_all(std::shared_ptr<ShuffleFetcher> fetcher, WakeEvent& event,
                           Outcome& outcome) {
  std::optional<BlockReader> reader(type_of<std::string>());
  while (!fetcher->finished() && fetcher->failure().ok()) {
    event.prepare_wait();
    ShuffleFetcher::Item item;
    if (!fetcher->take(item)) {
      if (fetcher->finished() || !fetcher->failure().ok()) {
        event.cancel_wait();
        break;
      }
      co_await event.wait();
      continue;
    }
    event.cancel_wait();
    if (!item.bytes) {
      reader.emplace(type_of<std::string>());
      continue;
    }
    const std::string_view bytes(item.bytes->data(), item.bytes->size());
    reader->start({.buffer = item.bytes, .bytes = bytes});
    while (!reader->finished()) {
      Batch batch;
      Control control;
      const auto read = reader->next(batch, control);
      EXPECT_TRUE(read.ok()) << read.status().to_string();
      if (!read.ok()) break;
      for (const std::string& value : batch.values<std::string>()) outcome.records.push_back(value);
    }
  }
  outcome.failure = fetcher->failure();
  outcome.over = true;
}

class ShuffleExchange : public testing::TestWithParam<std::uint64_t> {
 protected:
  static SimulationOptions faults(std::uint64_t seed) {
    SimulationOptions options;
    options.seed = seed;
    if (seed % 3 != 0) {
      options.connection_death_rate = 0.005;
      options.connect_failure_rate = 0.1;
    }
    return options;
  }

  // The partition of subtasks 0 to `subtasks` - 1, which `holders` have in turn; of none: the
  // reader itself.
  Outcome read(Process& reader, const std::vector<Process*>& holders, std::uint32_t subtasks,
               std::uint32_t partition, const std::string& token = "secret",
               std::shared_ptr<TlsContext> tls = nullptr) {
    Outcome outcome;
    std::vector<ShuffleInput> inputs;
    for (std::uint32_t i = 0; i < subtasks; ++i) {
      ShuffleInput& input = inputs.emplace_back();
      input.key = key_of(i);
      input.partition = partition;
      input.from = "map[" + std::to_string(i) + "]";
      Process* const holder = holders[i % holders.size()];
      input.is_local = holder == &reader;
      input.route.address = holder->address;
    }
    ShuffleAccess access;
    access.platform = &reader.platform;
    access.store = &reader.store;
    access.token = token;
    access.tls = std::move(tls);
    auto fetcher = std::make_shared<ShuffleFetcher>(
        std::move(access), std::move(inputs),
        [&](const ShuffleKey& key) { outcome.lost.push_back(key); });
    auto executor = reader.platform.make_executor({.name = "slot"});
    WakeEvent event;
    executor->spawn(begin(fetcher, event, outcome));
    const RunEnd end =
        simulation_.run_until([&] { return outcome.over; }, simulation_.now() + seconds(300));
    EXPECT_EQ(end, RunEnd::satisfied);
    fetcher->give_up();
    executor->stop();
    return outcome;
  }

  static Task<void> begin(std::shared_ptr<ShuffleFetcher> fetcher, WakeEvent& event,
                          Outcome& outcome) {
    Executor& executor = co_await current_executor();
    fetcher->start(executor, event);
    co_await read_all(fetcher, event, outcome);
  }

  static std::string only_file(SimulatedPlatform& node) {
    for (const auto& [path, bytes] : node.files_below("/spill")) {
      if (path.find("subtask") != std::string_view::npos) return "/spill/" + std::string(path);
    }
    ADD_FAILURE() << "no shuffle file";
    return {};
  }

  Simulation simulation_{faults(GetParam())};
  SimulatedPlatform& here_ = simulation_.add_node("here");
  SimulatedPlatform& there_ = simulation_.add_node("there");
};

}  // namespace hummer::shuffle_exchange
