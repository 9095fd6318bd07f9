// Any number of records against std::stable_sort, within and beyond the memory.
#include "operators/external_sorter.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "batch/records_for_test.hpp"
#include "platform/simulation.hpp"
#include "platform/temporary_folder_for_test.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::external_sorter_test {
namespace {

using batch::KeysAndValues;

constexpr const char* spill_directory = "/spills";

Status add_all(ExternalSorter& sorter, const KeysAndValues& records) {
  const auto work = [&]() -> Result<bool> {
    for (;;) {
      auto more = sorter.step();
      if (!more.ok()) return more.status();
      if (!*more) return true;
    }
  };
  for (const auto& [key, value] : records) {
    for (;;) {
      auto added = sorter.add(key, value);
      if (!added.ok()) return added.status();
      if (*added) break;
      if (auto worked = work(); !worked.ok()) return worked.status();
    }
  }
  sorter.finish();
  auto worked = work();
  return worked.ok() ? Status() : worked.status();
}

void expect_sorted(Platform& platform, std::size_t memory_bytes, const KeysAndValues& records,
                   std::uint64_t least_spills, const char* kind) {
  ExternalSorter sorter(platform,
                        {.memory_bytes = memory_bytes, .spill_directory = spill_directory});
  ASSERT_TRUE(add_all(sorter, records).ok());
  KeysAndValues seen;
  const Status status = batch::read_all(sorter, seen);
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_GE(sorter.spills(), least_spills) << kind;
  EXPECT_EQ(sorter.disk_bytes() > 0, sorter.spills() > 0);
  KeysAndValues expected = records;
  batch::sort_stably(batch::KeyOrder(), expected);
  ASSERT_EQ(seen.size(), expected.size()) << kind;
  EXPECT_TRUE(seen == expected) << kind;
}

TEST(ExternalSorter, SortsStablyWithinAndBeyondMemory) {
  for (std::uint64_t seed = 1; seed <= drawn_cases(6); ++seed) {
    for (const char* kind : batch::drawn_kinds) {
      const auto platform = make_simulated_platform({.seed = seed});
      Random random(seed);
      KeysAndValues few = batch::draw_records(random, kind, random.below(3));
      expect_sorted(*platform, 1 << 20, few, 0, kind);
      const KeysAndValues records = batch::draw_records(random, kind, 30'000);
      expect_sorted(*platform, 64 << 20, records, 0, kind);
      expect_sorted(*platform, ExternalSorter::least_memory_bytes, records, 3, kind);
    }
  }
}

// More runs than can be read at once, so that runs are merged while records come and at the end.
TEST(ExternalSorter, MergesRunsThatAreMany) {
  for (const std::size_t count : {60'000u, 61'234u, 80'000u}) {
    const auto platform = make_simulated_platform({.seed = count});
    Random random(count);
    const KeysAndValues records = batch::draw_records(random, "few distinct", count);
    expect_sorted(*platform, ExternalSorter::least_memory_bytes, records, 20, "few distinct");
  }
}

// Of records that are large beside the buffers few runs are merged at once.
TEST(ExternalSorter, SortsLargeRecords) {
  const auto platform = make_simulated_platform({.seed = 6});
  Random random(6);
  KeysAndValues records;
  for (int i = 0; i < 60; ++i) {
    records.emplace_back("key " + std::to_string(random.below(20)),
                         std::to_string(i) + std::string(random.below(400'000), 'x'));
  }
  expect_sorted(*platform, 1 << 20, records, 10, "large");
}

TEST(ExternalSorter, NoStepIsLong) {
  const auto platform = make_simulated_platform({.seed = 3});
  Random random(3);
  const KeysAndValues records = batch::draw_records(random, "random", 200'000);
  ExternalSorter sorter(*platform, {.memory_bytes = 4 << 20, .spill_directory = spill_directory});
  std::size_t steps = 0;
  for (const auto& [key, value] : records) {
    while (!*sorter.add(key, value)) {
      while (*sorter.step()) ++steps;
    }
  }
  // Of 200,000 records a step sorts at most 64 Ki, and writes at most 16 spans of some hundreds.
  EXPECT_GT(steps, 200'000u / (16 * 1024));
}

TEST(ExternalSorter, SaysWhatARecordThatIsTooLargeNeeds) {
  const auto platform = make_simulated_platform({.seed = 4});
  ExternalSorter sorter(*platform, {.memory_bytes = 1 << 20, .spill_directory = spill_directory});
  ASSERT_TRUE(*sorter.add("key", "value"));
  const auto added = sorter.add("key", std::string(2 << 20, 'x'));
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(added.status().code(), ErrorCode::limit_exceeded);
  EXPECT_NE(added.status().message().find("--bounded-memory-bytes"), std::string::npos);
}

TEST(ExternalSorter, AFullDiskIsAnErrorAndLeavesNothing) {
  SimulationOptions options{.seed = 5};
  options.disk_capacity_bytes = 1'000;
  const auto platform = make_simulated_platform(options);
  Random random(5);
  const KeysAndValues records = batch::draw_records(random, "random", 60'000);
  {
    ExternalSorter sorter(*platform, {.memory_bytes = 1 << 20, .spill_directory = spill_directory});
    const Status status = add_all(sorter, records);
    EXPECT_EQ(status.code(), ErrorCode::disk_full) << status.to_string();
  }
  const auto left = platform->files().list_directory(spill_directory);
  EXPECT_TRUE(!left.ok() || left->empty());
}

}  // namespace
}  // namespace hummer::external_sorter_test
