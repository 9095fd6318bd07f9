// Large tables grow in steps (hash_slots.hpp): whatever is done with one meanwhile, it holds what a
// map holds.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include <hummer/detail/state/accumulator_table.hpp>
#include <hummer/detail/state/erased_aggregate.hpp>
#include <hummer/detail/state/integer_table.hpp>
#include <hummer/detail/state/text_table.hpp>

#include "support/drawn_cases.hpp"

namespace hummer::growing_table_test {
namespace {

constexpr std::size_t slots_before = std::size_t{4 << 20} / 16;  // of entries of 16 bytes
constexpr std::size_t entries_before = slots_before / 4 * 3;     // so many fit into them
constexpr std::size_t group = 256;

// Whether a growth is under way: then a scan can't go on beside updates.
bool is_growing(const HashTable& table) { return !table.has_room_for(0); }

template <typename Table, typename Key>
class Compared {
 public:
  using View = std::conditional_t<std::is_same_v<Key, std::string>, std::string_view, Key>;

  void add(const std::vector<Key>& keys) {
    table.update(
        keys.size(), [&](std::size_t i) -> View { return keys[i]; },
        [&](std::uint64_t& value, bool is_new, std::size_t i) {
          EXPECT_EQ(is_new, !copy.contains(keys[i])) << "key " << keys[i];
          EXPECT_EQ(value, copy[keys[i]]) << "key " << keys[i];
          copy[keys[i]] = ++value;
        });
  }
  void expect_same() const {
    std::size_t found = 0;
    table.scan(0, [&](View key, std::uint64_t value) {
      const auto known = copy.find(Key(key));
      EXPECT_TRUE(known != copy.end() && known->second == value) << "key " << key;
      ++found;
      return !testing::Test::HasFailure();
    });
    EXPECT_EQ(found, copy.size());
    EXPECT_EQ(table.size(), copy.size());
  }
  void expect_finds_some(std::mt19937_64& random, const std::vector<Key>& keys) const {
    for (int i = 0; i < 50; ++i) {
      const Key& key = keys[random() % keys.size()];
      const std::uint64_t* const value = table.find(key);
      const auto known = copy.find(key);
      ASSERT_EQ(value != nullptr, known != copy.end()) << "key " << key;
      EXPECT_TRUE(value == nullptr || *value == known->second) << "key " << key;
    }
  }
  // Adds all, in groups, and looks at the table where it grows; answers how often it did so.
  std::size_t add_in_groups(const std::vector<Key>& keys, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::size_t groups_of_growth = 0;
    for (std::size_t at = 0; at < keys.size(); at += group) {
      const std::size_t end = std::min(at + group, keys.size());
      add({keys.begin() + static_cast<std::ptrdiff_t>(at),
           keys.begin() + static_cast<std::ptrdiff_t>(end)});
      if (testing::Test::HasFailure()) return 0;
      if (!is_growing(table)) continue;
      ++groups_of_growth;
      expect_finds_some(random, keys);
      if (groups_of_growth % 64 == 3) expect_same();
      if (groups_of_growth % 64 == 5) add_one(keys[random() % keys.size()]);
    }
    expect_same();
    return groups_of_growth;
  }

  Table table;
  std::unordered_map<Key, std::uint64_t> copy;

 private:
  // By the call for one key.
  void add_one(const Key& key) {
    const auto [value, is_new] = table.find_or_add(key);
    EXPECT_EQ(is_new, !copy.contains(key));
    copy[key] = ++*value;
  }
};

std::uint64_t inverse(std::uint64_t odd) {
  std::uint64_t x = odd;
  for (int i = 0; i < 6; ++i) x *= 2 - odd * x;
  return x;
}

TEST(GrowingTable, OfIntegersHoldsWhatAMapHolds) {
  std::mt19937_64 random(5);
  std::vector<std::uint64_t> keys;
  for (std::size_t i = 0; i < 2 * entries_before + 10'000; ++i) {
    keys.push_back(random() % 64 == 0 ? i / 2 : random());
  }
  Compared<IntegerTable<std::uint64_t>, std::uint64_t> test;
  EXPECT_GT(test.add_in_groups(keys, 1), 2 * slots_before / 16 / group / 2);
}

// Runs of used slots at the table's end, beginning and middle that are far longer than a step.
TEST(GrowingTable, WithKeysThatCollide) {
  constexpr std::uint64_t to_key = 0x9E3779B97F4A7C15u;
  const std::uint64_t from_hash = inverse(to_key);
  ASSERT_EQ(IntegerKey::hash_of(from_hash), 1u);
  std::mt19937_64 random(6);
  std::vector<std::uint64_t> keys;
  for (const std::uint64_t home : {~std::uint64_t{0}, std::uint64_t{0}, std::uint64_t{1} << 63}) {
    for (std::uint64_t i = 0; i < 3'000; ++i) keys.push_back((home ^ i) * from_hash);
  }
  while (keys.size() < entries_before + 20'000) keys.push_back(random());
  std::shuffle(keys.begin(), keys.end(), random);
  Compared<IntegerTable<std::uint64_t>, std::uint64_t> test;
  EXPECT_GT(test.add_in_groups(keys, 2), 0u);
}

// They have no room before the end of the table, as it was and as it is.
TEST(GrowingTable, WithNewKeysThatAllBelongToItsEnd) {
  const std::uint64_t from_hash = inverse(0x9E3779B97F4A7C15u);
  std::mt19937_64 random(7);
  std::vector<std::uint64_t> keys;
  while (keys.size() < entries_before - group) keys.push_back(random() | 1);
  Compared<IntegerTable<std::uint64_t>, std::uint64_t> test;
  EXPECT_EQ(test.add_in_groups(keys, 3), 0u);
  std::vector<std::uint64_t> last;
  for (std::uint64_t i = 0; i < 6'000; ++i) last.push_back((~std::uint64_t{0} - i) * from_hash);
  EXPECT_GT(test.add_in_groups(last, 4), 0u);
}

TEST(GrowingTable, OfTextOfEachLength) {
  for (const std::size_t length : {7u, 14u, 30u, 50u}) {
    if (under_sanitizers && length == 14) continue;  // as those of 7 bytes
    std::vector<std::string> keys;
    std::mt19937_64 random(length);
    while (keys.size() < entries_before + entries_before / 4) {
      std::string key = std::to_string(random() % 10'000'000);
      keys.push_back(std::string(length - key.size(), 'k') + key);
    }
    Compared<TextTable<std::uint64_t>, std::string> test;
    EXPECT_GT(test.add_in_groups(keys, length), 10u) << "of " << length << " bytes";
    ASSERT_FALSE(HasFailure()) << "of " << length << " bytes";
  }
}

// ---- snapshots ----

struct Taken {
  using Accumulator = std::uint64_t;
  void merge(std::uint64_t& to, bool is_new, std::uint64_t other) const {
    EXPECT_TRUE(is_new) << "an entry was written twice";
    to = other;
  }
};

class FrozenWhileGrowing {
 public:
  using Table = AccumulatorTable<std::uint64_t, std::uint64_t>;
  using Copy = std::unordered_map<std::uint64_t, std::uint64_t>;

  void add(std::size_t count, std::uint64_t keys) {
    std::vector<std::uint64_t> drawn;
    for (std::size_t i = 0; i < count; ++i) drawn.push_back(random_() % keys * 0x2545F4914F6CDD1D);
    table.update(
        count, [&](std::size_t i) { return drawn[i]; },
        [&](std::uint64_t& value, bool, std::size_t i) { copy[drawn[i]] = ++value; });
  }
  void snapshot(bool may_be_delta, std::size_t step_bytes, std::size_t between,
                std::uint64_t keys) {
    const Copy expected = copy;
    const bool delta = table.freeze(may_be_delta);
    GroupedEntries frozen;
    frozen.begin(nullptr);
    std::string all;
    for (bool done = false; !done;) {
      std::string bytes;
      ByteWriter out(bytes);
      frozen.begin_step();
      done = table.write_frozen(frozen, out, step_bytes);
      if (done) EXPECT_TRUE(frozen.flush(out, SIZE_MAX));
      all += out.view();
      add(between, keys);
      grew_beside += is_growing(table) ? 1 : 0;
    }
    all += static_cast<char>(Table::end_of_entries);
    if (!delta) restored.clear();
    Table part;
    ByteReader in(all);
    const Taken taken;
    const ErasedAggregateOf<std::uint64_t, Taken> aggregate(taken);
    const auto restore = [&] {
      return part.restore(in, [](std::uint64_t) { return true; }, aggregate, false);
    };
    auto result = restore();
    while (result == Table::Restored::some) result = restore();
    EXPECT_EQ(result, Table::Restored::all);
    part.scan(0, [&](std::uint64_t key, std::uint64_t value) {
      restored[key] = value;
      return true;
    });
    EXPECT_TRUE(restored == expected);
  }

  Table table;
  Copy copy;
  Copy restored;
  std::size_t grew_beside = 0;  // steps

 private:
  std::mt19937_64 random_{11};
};

TEST(GrowingTable, IsRestoredAsItWasWhenItWasFrozen) {
  constexpr std::uint64_t keys = 1 << 30;
  for (const bool delta : {false, true}) {
    if (under_sanitizers && !delta) continue;  // its first snapshot is a whole one
    FrozenWhileGrowing test;
    test.add(entries_before - 3'000, keys);
    test.snapshot(false, 1 << 20, 0, 1);
    test.add(2'000, keys);
    // Growth begins while a part of it is written.
    const std::size_t step_bytes = delta ? 1'000 : 20'000;
    test.snapshot(delta, step_bytes, 100, keys);
    EXPECT_GT(test.grew_beside, 0u);
    // It was frozen while growth was under way.
    while (!is_growing(test.table)) test.add(1'000, keys);
    test.snapshot(delta, step_bytes, 10, keys);
    test.snapshot(delta, 1 << 20, 0, 1);
  }
}

// Others read it meanwhile.
TEST(GrowingTable, AtRestIsWrittenWhereItLies) {
  constexpr std::uint64_t keys = 1 << 30;
  for (const bool delta : {false, true}) {
    FrozenWhileGrowing test;
    if (delta) {
      test.add(entries_before - 3'000, keys);
      test.snapshot(false, 1 << 20, 0, 1);
    }
    while (!is_growing(test.table)) test.add(1'000, keys);
    const auto places = [&] {
      std::vector<const void*> all;
      test.table.visit_from(0, [&](const FoundEntry& found) {
        all.push_back(found.value);
        return true;
      });
      return all;
    };
    const std::vector<const void*> before = places();
    test.table.rest();
    test.snapshot(delta, 20'000, 0, 1);
    EXPECT_TRUE(places() == before);
    EXPECT_TRUE(is_growing(test.table));
  }
}

TEST(GrowingTable, ClearedInPartsIsAsGoodAsNew) {
  constexpr std::uint64_t keys = 1 << 30;
  FrozenWhileGrowing test;
  test.add(entries_before - 3'000, keys);
  test.snapshot(false, 1 << 20, 0, 1);
  while (!is_growing(test.table)) test.add(1'000, keys);
  test.table.rest();
  const std::size_t memory_bytes = test.table.memory_bytes();
  int parts = 1;
  for (; !test.table.clear_some(memory_bytes / 10); ++parts) ASSERT_FALSE(test.table.empty());
  EXPECT_EQ(parts, 11);
  EXPECT_TRUE(test.table.empty());
  EXPECT_FALSE(is_growing(test.table));
  EXPECT_EQ(test.table.memory_bytes(), memory_bytes);
  test.copy.clear();
  test.add(entries_before, keys);
  test.snapshot(false, 1 << 20, 100, keys);
  EXPECT_EQ(test.table.memory_bytes(), memory_bytes);
}

}  // namespace
}  // namespace hummer::growing_table_test
