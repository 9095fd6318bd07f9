#include "batch/bucket_sort.hpp"

#include <gtest/gtest.h>

#include "batch/radix_sort.hpp"
#include "batch/records_for_test.hpp"
#include "batch/sorted_records.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::batch::bucket_sort_test {
namespace {

constexpr std::size_t arena_bytes = std::size_t{64} << 20;

// Sorts them as a bucket, and reads them.
KeysAndValues sorted_by_bucket(const KeyOrder& order, const KeysAndValues& records) {
  RecordArena arena(arena_bytes, 8);
  Bucket bucket;
  for (const auto& [key, value] : records) {
    if (arena.add(bucket, order.prefix(key), key, value)) continue;
    EXPECT_TRUE(arena.extend(bucket, RecordArena::stored_bytes(key.size(), value.size())));
    EXPECT_TRUE(arena.add(bucket, order.prefix(key), key, value));
  }
  EXPECT_EQ(bucket.records, records.size());
  SortedRecords stream(arena.data(),
                       sort_bucket(order, arena, bucket, arena.index_room(bucket.records)));
  KeysAndValues sorted;
  EXPECT_TRUE(read_all(stream, sorted).ok());
  return sorted;
}

TEST(BucketSort, SortsStably) {
  Random random(3);
  for (const char* kind : drawn_kinds) {
    for (const std::size_t count : {0, 1, 2, 3, 31, 33, 64, 500, 5'000, 30'000}) {
      KeysAndValues records = draw_records(random, kind, count);
      const KeysAndValues sorted = sorted_by_bucket(KeyOrder(), records);
      sort_stably(KeyOrder(), records);
      ASSERT_TRUE(sorted == records) << kind << ' ' << count;
    }
  }
}

TEST(BucketSort, SortsByEachOrder) {
  Random random(4);
  for (const char* name :
       {"text", "counted", "byte", "short", "int", "long", "vlong", "float", "double"}) {
    const KeyOrder order = *key_order_of(name);
    for (const std::size_t count : {100, 20'000}) {
      KeysAndValues records;
      for (std::size_t i = 0; i < count; ++i) {
        std::string key = draw_bytes(random, random.next() % 14);
        if (random.next() % 2 == 0) key.insert(0, "\x06\0\0\6", 4);
        if (random.next() % 4 == 0) key = "\x06\0\0\6 the same for many";
        records.emplace_back(std::move(key), std::to_string(i));
      }
      const KeysAndValues sorted = sorted_by_bucket(order, records);
      sort_stably(order, records);
      ASSERT_TRUE(sorted == records) << name << ' ' << count;
    }
  }
}

int by_last_byte(std::string_view a, std::string_view b) {
  const int last_of_a = a.empty() ? -1 : static_cast<unsigned char>(a.back());
  const int last_of_b = b.empty() ? -1 : static_cast<unsigned char>(b.back());
  return last_of_a - last_of_b;
}

TEST(BucketSort, SortsByAForeignOrder) {
  static constexpr ForeignKeyOrder foreign{"by last byte", by_last_byte, nullptr};
  Random random(5);
  for (const std::size_t count : {10, 10'000}) {
    KeysAndValues records = draw_records(random, "one to four bytes", count);
    const KeysAndValues sorted = sorted_by_bucket(KeyOrder(foreign), records);
    sort_stably(KeyOrder(foreign), records);
    ASSERT_TRUE(sorted == records) << count;
  }
}

TEST(RadixSort, SortsIndexesBeyondTheCache) {
  Random random(6);
  // Bits that differ: all, few in front, few behind, two far apart; and a part that is nearly all.
  for (const std::uint32_t mask : {0xFFFFFFFFU, 0xFF000000U, 0x1FFU, 0x80000001U, 0x00FFFF00U}) {
    for (const std::uint64_t others_one_in : {1, 1000}) {
      std::vector<IndexEntry> entries(100'000 + drawn_cases(300'000));
      for (std::size_t i = 0; i < entries.size(); ++i) {
        const bool is_other = random.next() % others_one_in == 0;
        const auto drawn = static_cast<std::uint32_t>(random.next());
        entries[i] = {(is_other ? drawn : drawn & 0xFFFF) & mask, static_cast<std::uint32_t>(i)};
      }
      std::vector<IndexEntry> expected = entries;
      std::stable_sort(expected.begin(), expected.end(),
                       [](IndexEntry a, IndexEntry b) { return a.prefix < b.prefix; });
      std::vector<IndexEntry> scratch(entries.size());
      radix_sort(entries.data(), scratch.data(), entries.size());
      for (std::size_t i = 0; i < entries.size(); ++i) {
        ASSERT_EQ(entries[i].prefix, expected[i].prefix) << mask << ' ' << i;
        ASSERT_EQ(entries[i].place, expected[i].place) << mask << ' ' << i;
      }
    }
  }
}

TEST(RecordArena, KeepsRoomForTheIndexOfItsLargestBucket) {
  RecordArena arena(RecordArena::least_bytes, 3);
  Bucket buckets[3];
  // The shortest records there are, nearly all for one bucket.
  for (std::size_t i = 0;; ++i) {
    Bucket& bucket = buckets[i % 16 == 0 ? 1 : 2];
    if (arena.add(bucket, 0, "", "")) continue;
    if (!arena.extend(bucket, RecordArena::stored_bytes(0, 0))) break;
    ASSERT_TRUE(arena.add(bucket, 0, "", ""));
  }
  EXPECT_GT(buckets[2].records, 350U);
  for (const Bucket& bucket : buckets) {
    const auto index = sort_bucket(KeyOrder(), arena, bucket, arena.index_room(bucket.records));
    EXPECT_EQ(index.size(), bucket.records);
    for (const IndexEntry& entry : index) {
      EXPECT_EQ(RecordArena::record(arena.data(), entry.place).key_bytes, 0U);
    }
  }
}

}  // namespace
}  // namespace hummer::batch::bucket_sort_test
