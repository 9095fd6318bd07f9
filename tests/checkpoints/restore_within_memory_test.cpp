// State of several times the memory limit, saved and restored: what the process has in memory
// meanwhile stays near the limit, also at another parallelism, and the results go on.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include <hummer/hummer.hpp>

#include "platform/temporary_folder_for_test.hpp"

namespace hummer {
namespace {

using Index = std::uint64_t;
constexpr Index key_count = 40'000;
constexpr std::size_t value_bytes = 2000;  // 80 MB in all
constexpr std::size_t limit_bytes = 16 << 20;

std::size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t all = 0;
  std::size_t resident = 0;
  statm >> all >> resident;
  return resident * 4096;
}

std::atomic<std::size_t> most_resident;
std::atomic<Index> seen;
std::atomic<Index> wrong;

// A state that looks how much memory there is when it comes back.
struct Watched {
  char value = 0;
};

}  // namespace

template <>
struct Codec<Watched> {
  static std::string name() { return "watched"; }
  static void encode(const Watched& value, ByteWriter& out) { out.put_value(value.value); }
  static bool decode(ByteReader& in, Watched& value) {
    static std::atomic<unsigned> calls;
    if (++calls % 64 == 0) {
      const std::size_t now = resident_bytes();
      std::size_t most = most_resident.load();
      while (now > most && !most_resident.compare_exchange_weak(most, now)) {
      }
    }
    return in.get_value(value.value);
  }
};

namespace {

// Each key has come as often as its number says.
struct Remember {
  ValueState<Index> count{"count"};
  ValueState<std::string> text{"text"};
  ValueState<Watched> watched{"watched"};
  void process(Index index, KeyedOutput<Index>&) {
    const Index before = count.get_or(0);
    if (before != index / key_count) ++wrong;
    const std::string expected(value_bytes, static_cast<char>('a' + index % key_count % 26));
    if (before == 0) text.set(expected);
    if (text.get_or("") != expected) ++wrong;
    watched.set({});
    count.set(before + 1);
    ++seen;
  }
};

// Runs until so many records have come; answers the savepoint behind them.
std::string run_until(const EnvironmentOptions& options, Index records) {
  StreamExecutionEnvironment env(options);
  env.generate([](Index i) { return i; }, {.records_per_second = 400'000})
      .parallelism(1)
      .key_by([](Index i) { return i % key_count; })
      .process(Remember())
      .for_each([](Index) {});
  JobHandle job = env.execute_async("remembers");
  while (seen < records && !job.finished()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const Result<std::string> path = job.stop_with_savepoint(options.checkpoints.directory);
  EXPECT_TRUE(path.ok()) << path.status().to_string();
  const JobResult result = job.wait();
  EXPECT_TRUE(result.ok()) << result.status.to_string();
  return path.ok() ? *path : "";
}

TEST(RestoreWithinMemory, StateOfFiveTimesTheLimit) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "sanitizers have memory of their own";
#endif
  TemporaryFolder folder;
  EnvironmentOptions options;
  options.parallelism = 1;
  options.quiet = true;
  options.memory_limit_bytes = limit_bytes;
  options.batch_records = 64;
  options.checkpoints.directory = folder.path();
  options.checkpoints.interval_ms = 3'600'000;
  std::string savepoint = run_until(options, key_count);
  for (const int parallelism : {1, 3}) {
    ASSERT_FALSE(savepoint.empty());
    options.parallelism = parallelism;
    options.checkpoints.restore = savepoint;
    ::malloc_trim(0);
    const std::size_t before = resident_bytes();
    most_resident = 0;
    seen = 0;
    savepoint = run_until(options, key_count / 4);
    ASSERT_GT(most_resident.load(), 0u);
    EXPECT_LT(most_resident - std::min(before, most_resident.load()), 2 * limit_bytes)
        << "at parallelism " << parallelism;
  }
  EXPECT_EQ(wrong.load(), 0u);
}

}  // namespace
}  // namespace hummer
