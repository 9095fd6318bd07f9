#include "platform/simulation.hpp"

#include <gtest/gtest.h>

#include <unistd.h>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "platform/run_task.hpp"

namespace hummer::simulation_test {
namespace {

using Stream = std::unique_ptr<ByteStream>;

Task<void> answer(Stream stream) {
  char buffer[256];
  while (true) {
    const Result<std::size_t> got = co_await stream->read_some(buffer);
    if (!got.ok() || *got == 0) break;
    const Status sent = co_await stream->write_all(std::span<const char>(buffer, *got));
    if (!sent.ok()) break;
  }
}

Task<void> serve(SimulatedPlatform& node) {
  Executor& executor = co_await current_executor();
  Result<std::unique_ptr<Listener>> listener =
      node.network().listen(*parse_socket_address("*:7000"));
  while (listener.ok()) {
    Result<Stream> stream = co_await (*listener)->accept();
    if (!stream.ok()) break;
    executor.spawn(answer(std::move(*stream)));
  }
}

struct Tally {
  int answers = 0;
  int losses = 0;
  int refusals = 0;
  int time_outs = 0;
};

Task<void> ask(SimulatedPlatform& node, std::string server, int count, Tally& tally) {
  Stream stream;
  const std::string question(300, 'q');
  char buffer[300];
  for (int i = 0; i < count; ++i) {
    if (stream == nullptr) {
      const Result<SocketAddress> address = node.network().resolve(server + ":7000");
      ConnectOptions options;
      options.timeout_ns = milliseconds(50);
      Result<Stream> connected = co_await node.network().connect(*address, options);
      if (!connected.ok()) {
        const bool timed_out = connected.status().code() == ErrorCode::timed_out;
        ++(timed_out ? tally.time_outs : tally.refusals);
        continue;
      }
      stream = std::move(*connected);
    }
    const Status sent = co_await stream->write_all(question);
    std::size_t back = 0;
    while (sent.ok() && back < question.size()) {
      const Result<std::size_t> got =
          co_await stream->read_some(std::span(buffer, question.size() - back));
      if (!got.ok() || *got == 0) break;
      back += *got;
    }
    if (back == question.size()) {
      ++tally.answers;
    } else {
      ++tally.losses;
      stream.reset();
    }
    if (i % 10 == 0) {
      (void)node.write_standard(1, std::to_string(tally.answers) + "\n");
    }
  }
}

struct Outcome {
  std::uint64_t hash = 0;
  Tally tally;
  Nanoseconds end = 0;
};

Outcome run_cluster(std::uint64_t seed) {
  Simulation simulation({.seed = seed,
                         .connection_death_rate = 0.01,
                         .connect_failure_rate = 0.2,
                         .delay_rate = 0.02});
  SimulatedPlatform& server = simulation.add_node("server");
  SimulatedPlatform& client = simulation.add_node("client");
  std::vector<std::unique_ptr<Executor>> executors;
  executors.push_back(server.make_executor({.name = "server"}));
  executors.back()->spawn(serve(server));
  Outcome outcome;
  for (int i = 0; i < 3; ++i) {
    executors.push_back(client.make_executor({.name = "client"}));
    executors.back()->spawn(ask(client, "server", 200, outcome.tally));
  }
  const auto asked = [&] {
    for (std::size_t i = 1; i < executors.size(); ++i) {
      if (executors[i]->live_tasks() > 0) return false;
    }
    return true;
  };
  EXPECT_EQ(simulation.run_until(asked, seconds(1000)), RunEnd::satisfied);
  outcome.hash = simulation.trace_hash();
  outcome.end = simulation.now();
  for (auto& executor : executors) executor->stop();
  return outcome;
}

TEST(Simulation, FaultsHappenAndAreValues) {
  const Outcome outcome = run_cluster(5);
  EXPECT_GT(outcome.tally.answers, 300);
  EXPECT_GT(outcome.tally.losses, 0);
  EXPECT_GT(outcome.tally.refusals, 0);
  EXPECT_GT(outcome.tally.time_outs, 0);
}

TEST(Simulation, EqualSeedsGiveEqualTraces) {
  EXPECT_EQ(run_cluster(1).hash, run_cluster(1).hash);
  EXPECT_EQ(run_cluster(1).end, run_cluster(1).end);
  EXPECT_NE(run_cluster(1).hash, run_cluster(2).hash);
}

// Not a test of its own: what the next one runs in other processes.
TEST(Simulation, PrintHash) {
  if (const char* seed = std::getenv("HUMMER_TEST_PRINT_HASH_OF_SEED")) {
    const Outcome outcome = run_cluster(std::strtoull(seed, nullptr, 10));
    std::printf("hash=%llu\n", static_cast<unsigned long long>(outcome.hash));
  }
}

std::string hash_in_another_process(const char* seed) {
  // Not of the share of tests that this process may have.
  const std::string command = std::string("GTEST_TOTAL_SHARDS=1 GTEST_SHARD_INDEX=0") +
                              " HUMMER_TEST_PRINT_HASH_OF_SEED=" + seed +
                              " \"$HUMMER_TEST_SELF\" --gtest_filter=Simulation.PrintHash";
  std::array<char, 4096> path{};
  if (::readlink("/proc/self/exe", path.data(), path.size() - 1) <= 0) return "no /proc";
  ::setenv("HUMMER_TEST_SELF", path.data(), 1);
  std::FILE* pipe = ::popen(command.c_str(), "r");
  std::string text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) {
    text.push_back(static_cast<char>(c));
  }
  ::pclose(pipe);
  const std::size_t begin = text.find("hash=");
  return begin == std::string::npos ? "no hash: " + text
                                    : text.substr(begin, text.find('\n', begin) - begin);
}

TEST(Simulation, EqualSeedsGiveEqualTracesInTwoProcesses) {
  const std::string first = hash_in_another_process("9");
  EXPECT_EQ(first.find("hash="), 0u) << first;
  EXPECT_EQ(first, hash_in_another_process("9"));
  EXPECT_EQ(first, "hash=" + std::to_string(run_cluster(9).hash));
}

Task<void> wait_on(WakeEvent& event) {
  event.prepare_wait();
  co_await event.wait();
}

TEST(Simulation, DeadlockAndTimeOutAreValues) {
  auto platform = make_simulated_platform({.seed = 1});
  auto executor = platform->make_executor({});
  WakeEvent event;
  executor->spawn(wait_on(event));
  EXPECT_EQ(platform->run_until([] { return false; }, seconds(1)), RunEnd::deadlock);
  event.notify();
  EXPECT_EQ(platform->run_until([&] { return executor->live_tasks() == 0; }, seconds(1)),
            RunEnd::satisfied);
  executor->spawn(wait_on(event));
  Timer far(+[](void*) {}, nullptr);
  executor->call_at(far, seconds(50));
  EXPECT_EQ(platform->run_until([] { return false; }, seconds(2)), RunEnd::timed_out);
  EXPECT_EQ(platform->now(), seconds(2));
  far.disarm();
  executor->stop();
}

Task<long> loop_steps(int count) {
  Executor& executor = co_await current_executor();
  const Nanoseconds start = executor.now();
  for (int i = 0; i < count; ++i) co_await yield();
  co_return executor.now() - start;
}

TEST(Simulation, EveryStepCostsVirtualTime) {
  auto platform = make_simulated_platform({.seed = 1});
  auto executor = platform->make_executor({});
  const auto took = run_task(*platform, *executor, loop_steps(1000));
  EXPECT_GE(*took, 1000 * 100);
  EXPECT_LE(*took, 1001 * microseconds(10));
}

Status write_file(SimulatedPlatform& node, const std::string& path, const std::string& text,
                  bool sync) {
  auto file = node.files().open_for_writing(path, WriteMode::append);
  if (!file.ok()) return file.status();
  HUMMER_TRY((*file)->append(text));
  if (sync) HUMMER_TRY((*file)->sync());
  return (*file)->close();
}

std::string read_file(SimulatedPlatform& node, const std::string& path) {
  auto file = node.files().open_for_reading(path);
  if (!file.ok()) return file.status().to_string();
  std::string text((*file)->size_bytes(), ' ');
  const auto got = (*file)->read_at(0, text);
  return got.ok() ? text : got.status().to_string();
}

TEST(SimulatedDisk, PowerCutKeepsWhatWasSyncedAndTearsTheRest) {
  const std::string synced(1000, 's');
  const std::string loose(3000, 'l');
  int shorter = 0, torn = 0, lost_names = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    auto node = make_simulated_platform({.seed = seed});
    ASSERT_TRUE(write_file(*node, "/kept", synced, true).ok());
    ASSERT_TRUE(node->files().sync_directory("/").ok());
    ASSERT_TRUE(write_file(*node, "/kept", loose, false).ok());
    ASSERT_TRUE(write_file(*node, "/unsynced_name", synced, true).ok());
    node->crash_disk();
    const std::string after = read_file(*node, "/kept");
    ASSERT_GE(after.size(), synced.size());
    EXPECT_EQ(after.substr(0, synced.size()), synced);
    shorter += after.size() < synced.size() + loose.size() ? 1 : 0;
    torn += after.find('\0') != std::string::npos ? 1 : 0;
    lost_names += node->files().stat("/unsynced_name").ok() ? 0 : 1;
  }
  EXPECT_GT(shorter, 10);
  EXPECT_GT(torn, 10);
  EXPECT_GT(lost_names, 5);
  EXPECT_LT(lost_names, 45);
}

TEST(SimulatedDisk, PowerCutTearsUpdatesBySector) {
  const std::string before(2000, 'b'), after(700, 'a');
  int mixed = 0, cut = 0, kept_length = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    auto node = make_simulated_platform({.seed = seed});
    auto file = node->files().open_for_updating("/base", true);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE((*file)->write_at(0, before).ok());
    ASSERT_TRUE((*file)->sync().ok());
    ASSERT_TRUE(node->files().sync_directory("/").ok());
    ASSERT_TRUE((*file)->write_at(300, after).ok());
    ASSERT_TRUE((*file)->truncate(1500).ok());
    node->crash_disk();
    const std::string left = read_file(*node, "/base");
    ASSERT_TRUE(left.size() == 1500 || left.size() == 2000) << left.size();
    cut += left.size() == 1500 ? 1 : 0;
    kept_length += left.size() == 2000 ? 1 : 0;
    // Of each sector the old or the new bytes.
    EXPECT_EQ(left.substr(0, 300), before.substr(0, 300));
    EXPECT_EQ(left.substr(1000, 500), before.substr(1000, 500));
    const bool first = left[300] == 'a', second = left[512] == 'a';
    EXPECT_EQ(left.substr(300, 212), std::string(212, first ? 'a' : 'b'));
    EXPECT_EQ(left.substr(512, 488), std::string(488, second ? 'a' : 'b'));
    mixed += first != second ? 1 : 0;
  }
  EXPECT_GT(mixed, 10);
  EXPECT_GT(cut, 10);
  EXPECT_GT(kept_length, 5);
}

TEST(SimulatedDisk, DirectoriesThatWereMadeSurviveAPowerCut) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    auto node = make_simulated_platform({.seed = seed});
    ASSERT_TRUE(node->files().create_directories("/a/new/one").ok());
    ASSERT_TRUE(write_file(*node, "/a/new/one/file", "text", true).ok());
    ASSERT_TRUE(node->files().sync_directory("/a/new/one").ok());
    node->crash_disk();
    EXPECT_EQ(read_file(*node, "/a/new/one/file"), "text") << "seed " << seed;
  }
}

TEST(SimulatedDisk, WhatIsInADirectoryGoesWithItsName) {
  int lost = 0, kept = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    auto node = make_simulated_platform({.seed = seed});
    Files& files = node->files();
    ASSERT_TRUE(*files.make_directory("/directory"));
    ASSERT_FALSE(*files.make_directory("/directory"));
    ASSERT_TRUE(write_file(*node, "/directory/file", "text", true).ok());
    ASSERT_TRUE(files.sync_directory("/directory").ok());
    node->crash_disk();
    const bool is_there = files.stat("/directory/file").ok();
    EXPECT_EQ(files.stat("/directory").ok(), is_there);
    ++(is_there ? kept : lost);
  }
  EXPECT_GT(lost, 5);
  EXPECT_GT(kept, 5);
}

TEST(SimulatedDisk, MayHaveNoLocks) {
  auto node = make_simulated_platform({.seed = 1, .disks_have_locks = false});
  const Status refused = node->files().lock("/lock").status();
  EXPECT_EQ(refused.code(), ErrorCode::invalid_configuration);
  EXPECT_NE(refused.message().find("'/lock'"), std::string::npos) << refused.message();
}

TEST(SimulatedDisk, APlannedKillComesBeforeItsOperation) {
  auto node = make_simulated_platform({.seed = 2});
  auto file = node->files().open_for_updating("/base", true);
  auto lock = node->files().lock("/lock");
  node->kill_at_disk_operation(2);
  EXPECT_TRUE((*file)->write_at(0, "one").ok());
  EXPECT_TRUE(node->alive());
  EXPECT_EQ((*file)->write_at(0, "two").code(), ErrorCode::cancelled);
  EXPECT_FALSE(node->alive());
  SimulatedPlatform& again = node->simulation().restart_node(*node);
  EXPECT_EQ(read_file(again, "/base"), "one");
  // The dead process holds nothing, though its objects are still there.
  const auto second = again.files().lock("/lock");
  EXPECT_TRUE(second.ok() && *second != nullptr);
  lock->reset();
  const auto third = again.files().lock("/lock");
  EXPECT_TRUE(third.ok() && *third == nullptr);
}

TEST(SimulatedDisk, FullAndFaultyDisksAreValues) {
  auto node = make_simulated_platform({.seed = 1, .disk_capacity_bytes = 100});
  const Status full = write_file(*node, "/file", std::string(150, 'x'), false);
  EXPECT_EQ(full.code(), ErrorCode::disk_full);
  EXPECT_NE(full.message().find("/file"), std::string::npos);
  EXPECT_EQ(read_file(*node, "/file").size(), 100u);
  node->simulation().options().read_fault_rate = 1;
  EXPECT_NE(read_file(*node, "/file").find("simulated fault"), std::string::npos);
  node->simulation().options().write_fault_rate = 1;
  EXPECT_EQ(write_file(*node, "/other", "x", false).code(), ErrorCode::io_error);
}

TEST(SimulatedNode, KillMakesHandlesInertAndPeersNotice) {
  Simulation simulation({.seed = 4});
  SimulatedPlatform& server = simulation.add_node("server");
  SimulatedPlatform& client = simulation.add_node("client");
  auto server_executor = server.make_executor({});
  auto client_executor = client.make_executor({});
  server_executor->spawn(serve(server));
  Tally tally;
  client_executor->spawn(ask(client, "server", 1'000'000, tally));
  simulation.run_until([&] { return tally.answers > 5; }, seconds(10));
  ASSERT_GT(tally.answers, 5);
  auto file = server.files().open_for_writing("/log", WriteMode::append);
  ASSERT_TRUE((*file)->append("before").ok());

  server.kill();
  EXPECT_EQ((*file)->append("after").code(), ErrorCode::cancelled);
  EXPECT_EQ(server.write_standard(1, "ghost").code(), ErrorCode::cancelled);
  simulation.run_until([&] { return tally.losses > 0 && tally.refusals > 0; }, seconds(10));
  EXPECT_EQ(tally.losses, 1);
  EXPECT_GT(tally.refusals, 0);
  server_executor->stop();
  file->reset();

  SimulatedPlatform& again = simulation.restart_node(server);
  EXPECT_EQ(read_file(again, "/log"), "before");
  EXPECT_EQ(again.address(), server.address());
  auto again_executor = again.make_executor({});
  again_executor->spawn(serve(again));
  const int before = tally.answers;
  simulation.run_until([&] { return tally.answers > before; }, seconds(20));
  EXPECT_GT(tally.answers, before);
  client_executor->stop();
  again_executor->stop();
}

TEST(SimulatedNode, PartitionHoldsBytesUntilHealed) {
  Simulation simulation({.seed = 4});
  SimulatedPlatform& server = simulation.add_node("server");
  SimulatedPlatform& client = simulation.add_node("client");
  auto server_executor = server.make_executor({});
  auto client_executor = client.make_executor({});
  server_executor->spawn(serve(server));
  Tally tally;
  client_executor->spawn(ask(client, "server", 1'000'000, tally));
  simulation.run_until([&] { return tally.answers > 5; }, seconds(10));
  simulation.partition(server, client);
  const int before = tally.answers;
  EXPECT_EQ(simulation.run_until([] { return false; }, seconds(60)), RunEnd::deadlock);
  EXPECT_EQ(tally.answers, before);
  simulation.heal(server, client);
  simulation.run_until([&] { return tally.answers > before + 5; }, seconds(100));
  EXPECT_GT(tally.answers, before + 5);
  EXPECT_EQ(tally.losses, 0);
  client_executor->stop();
  server_executor->stop();
}

Task<void> accept_one(SimulatedPlatform& node, Stream& stream) {
  Result<std::unique_ptr<Listener>> listener =
      node.network().listen(*parse_socket_address("*:7000"));
  Result<Stream> accepted = co_await (*listener)->accept();
  stream = std::move(*accepted);
}

Task<void> connect_one(SimulatedPlatform& node, Stream& stream) {
  const Result<SocketAddress> address = node.network().resolve("server:7000");
  const ConnectOptions options;
  Result<Stream> connected = co_await node.network().connect(*address, options);
  stream = std::move(*connected);
}

TEST(SimulatedNode, PartitionTellsNothingOfAClose) {
  Simulation simulation({.seed = 4});
  SimulatedPlatform& server = simulation.add_node("server");
  SimulatedPlatform& client = simulation.add_node("client");
  auto server_executor = server.make_executor({});
  auto client_executor = client.make_executor({});
  Stream here, there;
  server_executor->spawn(accept_one(server, here));
  simulation.run_until([] { return false; }, milliseconds(1));
  client_executor->spawn(connect_one(client, there));
  simulation.run_until([&] { return here != nullptr && there != nullptr; }, seconds(1));
  simulation.partition(server, client);
  here->close();
  const std::string text(10, 'x');
  EXPECT_TRUE(there->try_write(text).ok());
  EXPECT_GT(simulation.counts().held_by_partition, 0u);
  simulation.heal(server, client);
  simulation.run_until([] { return false; }, seconds(1));
  EXPECT_EQ(there->try_write(text).status().code(), ErrorCode::connection_lost);
  client_executor->stop();
  server_executor->stop();
}

TEST(SimulatedNode, ACutHoldsBackOneWayOnly) {
  Simulation simulation({.seed = 4, .partial_transfer_rate = 0});
  SimulatedPlatform& server = simulation.add_node("server");
  SimulatedPlatform& client = simulation.add_node("client");
  auto server_executor = server.make_executor({});
  auto client_executor = client.make_executor({});
  Stream here, there, another;
  server_executor->spawn(accept_one(server, here));
  simulation.run_until([] { return false; }, milliseconds(1));
  client_executor->spawn(connect_one(client, there));
  simulation.run_until([&] { return here != nullptr && there != nullptr; }, seconds(1));
  simulation.cut(client, server);
  const std::string text(10, 'x');
  EXPECT_EQ(*there->try_write(text), 10u);
  EXPECT_EQ(*here->try_write(text), 10u);
  // A new one needs both ways.
  server_executor->spawn(accept_one(server, here));
  client_executor->spawn(connect_one(client, another));
  simulation.run_until([] { return false; }, seconds(2));
  char bytes[100];
  EXPECT_EQ(*there->try_read(bytes), 10u);
  EXPECT_EQ(*here->try_read(bytes), would_block);
  EXPECT_EQ(another, nullptr);
  EXPECT_GT(simulation.counts().held_by_partition, 0u);
  simulation.heal(client, server);
  simulation.run_until([] { return false; }, seconds(3));
  EXPECT_EQ(*here->try_read(bytes), 10u);
  client_executor->stop();
  server_executor->stop();
}

TEST(SimulatedNode, CorruptionTurnsOneBitOfATransfer) {
  Simulation simulation({.seed = 4, .partial_transfer_rate = 0});
  SimulatedPlatform& server = simulation.add_node("server");
  SimulatedPlatform& client = simulation.add_node("client");
  auto server_executor = server.make_executor({});
  auto client_executor = client.make_executor({});
  Stream here, there;
  server_executor->spawn(accept_one(server, here));
  simulation.run_until([] { return false; }, milliseconds(1));
  client_executor->spawn(connect_one(client, there));
  simulation.run_until([&] { return here != nullptr && there != nullptr; }, seconds(1));
  const std::string text(10, '\0');
  const auto bits_that_arrive = [&] {
    EXPECT_EQ(*there->try_write(text), 10u);
    simulation.run_until([] { return false; }, simulation.now() + seconds(1));
    char bytes[100];
    EXPECT_EQ(*here->try_read(bytes), 10u);
    int bits = 0;
    for (int i = 0; i < 80; ++i) bits += bytes[i / 8] >> i % 8 & 1;
    return bits;
  };
  EXPECT_EQ(bits_that_arrive(), 0);
  simulation.corrupt(server, client, 1);
  EXPECT_EQ(bits_that_arrive(), 1);
  EXPECT_EQ(simulation.counts().corrupted_transfers, 1u);
  simulation.corrupt(server, client, 0);
  EXPECT_EQ(bits_that_arrive(), 0);
  client_executor->stop();
  server_executor->stop();
}

TEST(SimulatedNode, AClockIsSetForItsMachineAndNotForTimers) {
  Simulation simulation({.seed = 4});
  SimulatedPlatform& node = simulation.add_node("node");
  SimulatedPlatform& other = simulation.add_node("other");
  const Nanoseconds now = node.now();
  node.step_wall_clock(-5000);
  EXPECT_EQ(node.wall_time_ms(), other.wall_time_ms() - 5000);
  EXPECT_EQ(node.now(), now);
  node.kill();
  EXPECT_EQ(simulation.restart_node(node).wall_time_ms(), other.wall_time_ms() - 5000);
}

Task<void> tick() {
  while (true) co_await sleep_for(milliseconds(100));
}

Task<void> count_ticks(int& ticks) {
  while (true) {
    co_await sleep_for(milliseconds(100));
    ++ticks;
  }
}

TEST(SimulatedNode, APausedNodeStandsStillAndGoesOn) {
  Simulation simulation({.seed = 4});
  SimulatedPlatform& paused = simulation.add_node("paused");
  SimulatedPlatform& busy = simulation.add_node("busy");
  auto executor = paused.make_executor({});
  auto other = busy.make_executor({});
  int ticks = 0;
  int others = 0;
  executor->spawn(count_ticks(ticks));
  other->spawn(count_ticks(others));
  (void)simulation.run_until([&] { return ticks == 3; }, seconds(10));
  paused.pause_until(simulation.now() + seconds(5));
  (void)simulation.run_until([] { return false; }, simulation.now() + seconds(4));
  EXPECT_EQ(ticks, 3);
  EXPECT_GT(others, 30);
  (void)simulation.run_until([] { return false; }, simulation.now() + seconds(2));
  EXPECT_GT(ticks, 3);
  executor->stop();
  other->stop();
}

TEST(SimulatedNode, DiesBetweenTwoOperationsOfItsDisk) {
  Simulation simulation({.seed = 4});
  SimulatedPlatform& node = simulation.add_node("node");
  auto file = node.files().open_for_writing("/file", WriteMode::truncate);
  ASSERT_TRUE(file.ok());
  node.kill_at_disk_operation(2);
  EXPECT_TRUE((*file)->append("first").ok());
  EXPECT_FALSE((*file)->append("second").ok());
  EXPECT_FALSE(node.alive());
  const auto files = node.files_below("");
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].second, "first");
}

TEST(SimulatedNode, NobodyWaitsForAKilledNode) {
  Simulation simulation({.seed = 4});
  SimulatedPlatform& dead = simulation.add_node("dead");
  SimulatedPlatform& busy = simulation.add_node("busy");
  auto executor = busy.make_executor({});
  executor->spawn(tick());
  EXPECT_EQ(dead.run_until([] { return false; }, seconds(1)), RunEnd::timed_out);
  dead.kill();
  const Nanoseconds before = simulation.now();
  EXPECT_EQ(dead.run_until([] { return false; }, never), RunEnd::deadlock);
  EXPECT_EQ(dead.run_until([] { return true; }, never), RunEnd::satisfied);
  EXPECT_EQ(simulation.now(), before);
  executor->stop();
}

}  // namespace
}  // namespace hummer::simulation_test
