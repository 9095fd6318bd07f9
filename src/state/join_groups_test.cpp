#include <hummer/detail/state/join_groups.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <hummer/detail/testing/fake_operator_context.hpp>

#include "platform/random.hpp"

namespace hummer::join_groups_test {
namespace {

TEST(SortPlaces, IsThatOfTheStandardLibraryWithAndWithoutScratch) {
  Random random(1);
  for (const std::uint64_t hashes : {std::uint64_t{1}, std::uint64_t{100}, UINT64_MAX}) {
    for (const std::size_t count : {0u, 1u, 24u, 25u, 1'000u, 100'000u}) {
      std::vector<RecordLog::Place> places;
      for (std::size_t i = 0; i < count; ++i) places.push_back({random.below(hashes), i});
      auto expected = places;
      std::sort(expected.begin(), expected.end(), [](const auto& a, const auto& b) {
        return a.hash != b.hash ? a.hash < b.hash : a.where < b.where;
      });
      auto in_place = places;
      std::vector<RecordLog::Place> scratch(count);
      sort_places(places.data(), count, scratch.data());
      sort_places(in_place.data(), count, nullptr);
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(places[i].where, expected[i].where) << count << " of " << hashes;
        ASSERT_EQ(in_place[i].where, expected[i].where) << count << " of " << hashes;
      }
    }
  }
}

TEST(RecordLog, GivesItsMemoryBackToTheNextOneAndCountsIt) {
  RecordMemory memory;
  {
    RecordLog log(memory);
    const auto add = [&](std::size_t record_bytes) {
      const RecordEntry head{.time = 1,
                             .key_bytes = 3,
                             .record_bytes = static_cast<std::uint32_t>(record_bytes),
                             .origin = 0,
                             .unused = 0};
      char* const at = write_entry_head(log.reserve(head.size()), head, "key");
      std::fill_n(at, record_bytes, static_cast<char>(record_bytes));
      log.commit(record_bytes, head.size());
    };
    for (std::size_t bytes = 0; bytes < 2'000; ++bytes) add(bytes);
    add(1 << 20);  // more than a chunk has
    add(7);
    ASSERT_EQ(log.size(), 2'002u);
    for (const RecordLog::Place& place : log.sort(nullptr)) {
      const RecordEntry& entry = log.entry(place.where);
      ASSERT_EQ(entry.key(), "key");
      ASSERT_EQ(entry.record(), std::string(place.hash, static_cast<char>(place.hash)));
    }
    EXPECT_EQ(memory.bytes(), log.memory_bytes());
    EXPECT_GT(memory.bytes(), 3u << 20);
    log.clear();
    EXPECT_LT(memory.bytes(), 3u << 20);
    EXPECT_GT(memory.bytes(), 1u << 20);  // spare chunks
    for (std::size_t bytes = 0; bytes < 20; ++bytes) add(bytes);
    EXPECT_EQ(log.size(), 20u);
  }
  memory.trim();
  memory.trim();
  EXPECT_EQ(memory.bytes(), 0u);
}

// Of each group: its key, and its records of both sides.
std::vector<std::string> groups_of(JoinSlices& slices, JoinGroups::Keys keys) {
  FakeOperatorContext context;
  JoinGroups groups;
  groups.open(context);
  groups.begin(slices, {0, 10}, keys);
  std::vector<std::string> seen;
  for (;;) {
    const Result<bool> some = groups.next();
    EXPECT_TRUE(some.ok());
    if (!*some) return seen;
    for (const JoinGroup& group : groups.made()) {
      std::string text;
      for (std::size_t side = 0; side < 2; ++side) {
        for (const RecordEntry* const entry : groups.entries(side, group)) {
          text += std::string(entry->key()) + std::string(entry->record()) + ' ';
        }
        text += side == 0 ? "| " : "";
      }
      seen.push_back(text);
    }
  }
}

TEST(JoinGroups, KeysOfOneHashAreToldApart) {
  JoinSlices slices({nullptr, nullptr});
  const auto add = [&](std::size_t side, Timestamp time, std::string_view key,
                       std::string_view record, std::uint64_t hash) {
    RecordLog& log = slices.at(0).logs[side];
    const RecordEntry head{.time = time,
                           .key_bytes = static_cast<std::uint32_t>(key.size()),
                           .record_bytes = static_cast<std::uint32_t>(record.size()),
                           .origin = 0,
                           .unused = 0};
    char* const at = write_entry_head(log.reserve(head.size()), head, key);
    std::copy(record.begin(), record.end(), at);
    log.commit(hash, head.size());
  };
  add(0, 5, "b", "1", 7);
  add(0, 3, "a", "2", 7);
  add(0, 2, "b", "3", 7);
  add(0, 9, "ab", "4", 7);
  add(1, 1, "b", "5", 7);
  add(1, 1, "ab", "6", 7);
  add(1, 8, "c", "7", 7);
  add(1, 1, "b", "8", 7);
  add(0, 1, "z", "9", 6);
  EXPECT_EQ(groups_of(slices, JoinGroups::Keys::of_both_sides),
            (std::vector<std::string>{"ab4 | ab6 ", "b3 b1 | b5 b8 "}));
  EXPECT_EQ(groups_of(slices, JoinGroups::Keys::of_either),
            (std::vector<std::string>{"z9 | ", "a2 | ", "ab4 | ab6 ", "b3 b1 | b5 b8 ", "| c7 "}));
}

}  // namespace
}  // namespace hummer::join_groups_test
