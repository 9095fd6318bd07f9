#include "batch/divided_records.hpp"

#include <gtest/gtest.h>

#include "batch/records_for_test.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::batch::divided_records_test {
namespace {

constexpr std::size_t arena_bytes = std::size_t{64} << 20;

std::vector<Bucket> put_in_buckets(RecordArena& arena, const KeyOrder& order,
                                   const KeysAndValues& records, std::uint32_t most_records) {
  std::vector<Bucket> buckets;
  Bucket bucket;
  for (const auto& [key, value] : records) {
    if (bucket.records == most_records) buckets.push_back(std::exchange(bucket, {}));
    if (arena.add(bucket, order.prefix(key), key, value)) continue;
    EXPECT_TRUE(arena.extend(bucket, RecordArena::stored_bytes(key.size(), value.size())));
    EXPECT_TRUE(arena.add(bucket, order.prefix(key), key, value));
  }
  if (bucket.records > 0) buckets.push_back(bucket);
  return buckets;
}

void expect_divided(const KeyOrder& order, KeysAndValues records, std::uint32_t most_records,
                    const std::string& what) {
  RecordArena arena(arena_bytes, 1);
  DividedRecords divided(order, arena, put_in_buckets(arena, order, records, most_records));
  while (divided.step()) {
  }
  KeysAndValues seen;
  ASSERT_TRUE(read_all(divided, seen).ok());
  sort_stably(order, records);
  ASSERT_EQ(seen.size(), records.size()) << what;
  EXPECT_TRUE(seen == records) << what;
}

TEST(DividedRecords, AreInOrderAndEqualOnesAsTheyCame) {
  for (std::uint64_t seed = 1; seed <= drawn_cases(4); ++seed) {
    Random random(seed);
    for (const char* kind : drawn_kinds) {
      for (const std::size_t count : {0, 1, 2, 3, 100, 20'000}) {
        expect_divided(KeyOrder(), draw_records(random, kind, count),
                       500 + static_cast<std::uint32_t>(random.below(5'000)),
                       kind + (" " + std::to_string(count)));
      }
    }
  }
}

TEST(DividedRecords, AreInEachOrder) {
  Random random(2);
  for (const char* name : {"text", "counted", "short", "int", "long", "vlong", "float", "double"}) {
    KeysAndValues records;
    for (int i = 0; i < 10'000; ++i) {
      records.emplace_back(draw_bytes(random, 9 + random.below(6)), std::to_string(i));
    }
    expect_divided(*key_order_of(name), records, 3'000, name);
  }
}

// More records begin alike than a step may sort.
TEST(DividedRecords, APartThatIsLongIsSortedByBlocks) {
  const std::size_t count = DividedRecords::most_block_records * 5 / 2;
  Random random(3);
  for (const char* kind : {"all equal", "few distinct", "long prefix"}) {
    KeysAndValues records = draw_records(random, kind, count);
    for (std::size_t i = 0; i < count; i += 10) records[i].first = draw_bytes(random, 5);
    expect_divided(KeyOrder(), std::move(records), DividedRecords::most_block_records, kind);
  }
}

}  // namespace
}  // namespace hummer::batch::divided_records_test
