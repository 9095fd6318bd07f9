// Snapshots of tables in steps, while the tables change: against copies of what they held.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include <hummer/detail/state/accumulator_table.hpp>
#include <hummer/detail/state/slice_tables.hpp>

#include "support/drawn_cases.hpp"

namespace hummer::frozen_table_test {
namespace {

template <typename K>
K key_of(std::uint64_t number);
template <>
std::uint64_t key_of(std::uint64_t number) {
  return number;
}
// All four lengths that a TextTable tells apart.
template <>
std::string key_of(std::uint64_t number) {
  const std::string text = std::to_string(number) + ".";
  return std::string(std::size_t{1} << (number % 4 * 2), 'k').substr(1) + text;
}
template <>
std::pair<std::int32_t, std::int64_t> key_of(std::uint64_t number) {
  return {static_cast<std::int32_t>(number % 3), static_cast<std::int64_t>(number / 3)};
}

template <typename K>
using KeyInTable = std::conditional_t<std::is_same_v<K, std::string>, std::string_view, K>;

// A table, what it holds, and what a restore of its snapshots so far would give.
template <typename K, typename A>
class FrozenTable {
 public:
  using Table = AccumulatorTable<KeyInTable<K>, A>;
  using Copy = std::map<K, A>;

  // What a restore puts into a table.
  struct Counting {
    using Accumulator = A;
    std::size_t& entries;
    void merge(A& accumulator, bool is_new, const A& other) const {
      EXPECT_TRUE(is_new) << "an entry was written twice";
      accumulator = other;
      ++entries;
    }
  };

  explicit FrozenTable(std::uint64_t seed) : random_(seed) {}

  void change(std::size_t updates, std::uint64_t keys) {
    std::vector<K> names;
    for (std::size_t i = 0; i < updates; ++i) names.push_back(key_of<K>(random_() % keys));
    table_.update(
        updates, [&](std::size_t i) -> KeyInTable<K> { return names[i]; },
        [&](A& accumulator, bool is_new, std::size_t i) {
          EXPECT_EQ(is_new, copy_.count(names[i]) == 0);
          if (is_new) accumulator = A();
          add(accumulator);
          copy_[names[i]] = accumulator;
        });
  }
  // Freezes, changes the table between the steps, and adds what came to the restored state.
  std::size_t snapshot(bool may_be_delta, std::size_t step_bytes, std::uint64_t keys) {
    const Copy expected = copy_;
    const bool delta = table_.freeze(may_be_delta);
    GroupedEntries frozen;
    frozen.begin(nullptr);
    std::string all;
    steps_ = 0;
    for (bool done = false; !done; ++steps_) {
      std::string bytes;
      ByteWriter out(bytes);
      frozen.begin_step();
      done = table_.write_frozen(frozen, out, step_bytes);
      EXPECT_EQ(done, !table_.frozen()) << "its owner believes something else than the table";
      if (done) EXPECT_TRUE(frozen.flush(out, SIZE_MAX));
      EXPECT_LT(out.size(), step_bytes + default_snapshot_step_bytes + 8192);
      all += out.view();
      change(random_() % 40, keys);
    }
    EXPECT_FALSE(table_.frozen());
    all += static_cast<char>(Table::end_of_entries);
    if (!delta) restored_.clear();
    std::size_t entries = 0;
    Table part;
    ByteReader in(all);
    const Counting counting{entries};
    const ErasedAggregateOf<KeyInTable<K>, Counting> aggregate(counting);
    const auto restore = [&] {
      return part.restore(in, [](std::uint64_t) { return true; }, aggregate, false);
    };
    auto restored = restore();
    while (restored == Table::Restored::some) restored = restore();
    EXPECT_EQ(restored, Table::Restored::all);
    EXPECT_EQ(in.left(), 0u);
    part.scan(0, [&](const KeyInTable<K>& key, const A& value) {
      restored_[K(key)] = value;
      return true;
    });
    EXPECT_EQ(restored_, expected);
    return entries;
  }
  // A snapshot of which nobody gets more than some steps; the next one is whole, as its writer
  // asks.
  void give_up(bool may_be_delta, std::size_t step_bytes, int steps, std::uint64_t keys) {
    (void)table_.freeze(may_be_delta);
    GroupedEntries frozen;
    frozen.begin(nullptr);
    for (int i = 0; i < steps && table_.frozen(); ++i) {
      std::string bytes;
      ByteWriter out(bytes);
      frozen.begin_step();
      (void)table_.write_frozen(frozen, out, step_bytes);
      change(random_() % 10, keys);
    }
  }
  std::size_t size() const { return table_.size(); }
  std::size_t steps() const { return steps_; }  // of the last snapshot
  Table& table() { return table_; }
  void forget() {
    table_.clear();
    copy_.clear();
  }

 private:
  void add(std::uint64_t& number) { number += random_() % 100; }
  void add(std::string& text) {
    if (text.size() == 64) text.clear();
    text += static_cast<char>('a' + random_() % 26);
  }

  std::mt19937_64 random_;
  Table table_;
  Copy copy_;
  Copy restored_;
  std::size_t steps_ = 0;
};

template <typename Types>
class FrozenTables : public testing::Test {};
using AllTables =
    testing::Types<std::pair<std::uint64_t, std::uint64_t>, std::pair<std::string, std::uint64_t>,
                   std::pair<std::string, std::string>, std::pair<std::uint64_t, std::string>,
                   std::pair<std::pair<std::int32_t, std::int64_t>, std::uint64_t>>;
TYPED_TEST_SUITE(FrozenTables, AllTables);

TYPED_TEST(FrozenTables, AreRestoredAsTheyWereWhenTheyWereFrozen) {
  using K = typename TypeParam::first_type;
  using A = typename TypeParam::second_type;
  for (std::uint64_t seed = 1; seed <= drawn_cases(12); ++seed) {
    FrozenTable<K, A> test(seed);
    std::mt19937_64 random(seed);
    std::uint64_t keys = 20;
    for (int round = 0; round < 12; ++round) {
      test.change(random() % 300, keys);
      const std::size_t step = random() % 3 == 0 ? 1 : random() % 2000 + 1;
      keys *= round % 3 == 2 ? 3 : 1;  // grows while it is written
      const bool given_up = random() % 4 == 0;
      if (given_up) test.give_up(random() % 2 == 0, step, static_cast<int>(random() % 9), keys);
      test.snapshot(!given_up && random() % 4 != 0, step, keys);
      if (random() % 10 == 0) test.forget();
      ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed << " round " << round;
    }
  }
}

TYPED_TEST(FrozenTables, WhereMostChangesALookIsTakenNowAndThen) {
  FrozenTable<typename TypeParam::first_type, typename TypeParam::second_type> test(8);
  for (int round = 0; round < 2; ++round) {
    test.change(20'000, 5'000);
    EXPECT_GT(2 * test.snapshot(true, default_snapshot_step_bytes, 1), test.size());
  }
  std::vector<std::size_t> entries;
  for (int round = 0; round < 12; ++round) {
    test.change(50, 5'000);
    entries.push_back(test.snapshot(true, default_snapshot_step_bytes, 1));
  }
  const auto look = std::find_if(entries.begin(), entries.end(),
                                 [&](std::size_t written) { return 2 * written < test.size(); });
  EXPECT_EQ(look - entries.begin(), 8);
  for (auto each = look; each != entries.end(); ++each) EXPECT_LE(*each, 90u);
}

TYPED_TEST(FrozenTables, WhereMostHasChangedMarkingEndsBeforeTheSnapshot) {
  if (under_sanitizers && !std::is_same_v<typename TypeParam::first_type, std::string>) {
    GTEST_SKIP() << "long, and tables of other types have their marks from the same code";
  }
  constexpr std::size_t looks_come_within = 6 << 17;  // a text table has four
  FrozenTable<typename TypeParam::first_type, typename TypeParam::second_type> test(9);
  const auto change = [&](std::uint64_t keys) {
    for (std::size_t i = 0; i < looks_come_within; i += 1024) test.change(1024, keys);
    return test.snapshot(true, default_snapshot_step_bytes, 1);
  };
  test.change(20'000, 5'000);
  EXPECT_EQ(test.snapshot(true, default_snapshot_step_bytes, 1), test.size());
  EXPECT_LE(change(1'500), 1'600u) << "less than half";
  const std::size_t written = change(4'000);
  EXPECT_EQ(written, test.size()) << "more than half: as good as all";
}

// A record would wait for all of it, and each entry comes from memory.
TEST(FrozenTableOfNumbers, AStepLooksAtSoManySlotsThoughLittleHasChanged) {
  constexpr std::uint64_t entries = 200'000;
  FrozenTable<std::uint64_t, std::uint64_t> test(3);
  test.change(2 * entries, entries);
  test.snapshot(true, SIZE_MAX / 2, 1);
  test.change(1'000, entries);
  EXPECT_LE(test.snapshot(true, SIZE_MAX / 2, 1), 1'500u);
  EXPECT_GE(test.steps(), test.size() / (1 << 16));
  EXPECT_GE(test.steps(), 4u);
}

TYPED_TEST(FrozenTables, ADeltaHoldsWhatHasChangedAndNoMore) {
  FrozenTable<typename TypeParam::first_type, typename TypeParam::second_type> test(7);
  test.change(20'000, 5'000);
  EXPECT_EQ(test.snapshot(true, default_snapshot_step_bytes, 1), test.size())
      << "the first is whole";
  test.change(50, 5'000);
  EXPECT_LE(test.snapshot(true, default_snapshot_step_bytes, 1), 90u);
  EXPECT_LE(test.snapshot(true, default_snapshot_step_bytes, 1), 40u);
  EXPECT_EQ(test.snapshot(false, default_snapshot_step_bytes, 1), test.size());
  // One that was given up: nobody has what it held.
  test.table().freeze(true);
  EXPECT_EQ(test.snapshot(true, default_snapshot_step_bytes, 1), test.size());
}

struct Sum {
  using Accumulator = std::uint64_t;
  void merge(std::uint64_t& to, bool, std::uint64_t other) const { to += other; }
};

// Slices come and go while they are written.
TEST(SliceTables, AreRestoredAsTheyWereWhenTheyWereFrozen) {
  using Table = AccumulatorTable<std::uint64_t, std::uint64_t>;
  const Sum sum;
  const ErasedAggregateOf<std::uint64_t, Sum> aggregate(sum);
  using Copy = std::map<Timestamp, std::map<std::uint64_t, std::uint64_t>>;
  const auto everyone = [](std::uint64_t) { return true; };
  for (std::uint64_t seed = 1; seed <= drawn_cases(12); ++seed) {
    std::mt19937_64 random(seed);
    SliceTables slices(aggregate);
    Copy copy;
    Timestamp first = 0;
    const auto change = [&] {
      for (std::uint64_t i = random() % 5; i > 0; --i) {
        const Timestamp slice = first + static_cast<Timestamp>(random() % 4);
        const std::uint64_t from = random() % 30'000;
        const std::size_t count = random() % 2'000;
        static_cast<Table&>(slices.at(slice, count))
            .update(
                count, [&](std::size_t at) { return from + at; },
                [](std::uint64_t& value, bool, std::size_t) { ++value; });
        for (std::size_t at = 0; at < count; ++at) ++copy[slice][from + at];
        if (count == 0) copy[slice];
      }
      if (random() % 3 == 0 && !slices.empty()) {
        first = slices.all().begin()->first + 1;
        slices.drop_first();
        copy.erase(copy.begin());
      }
    };
    std::vector<std::string> pieces;  // the last whole one, and deltas
    std::vector<bool> is_delta;
    for (int round = 0; round < 10; ++round) {
      change();
      const Copy expected = copy;
      std::string bytes;
      ByteWriter out(bytes);
      const bool delta = slices.freeze(round % 4 != 0, out);
      GroupedEntries frozen;
      frozen.begin(nullptr);
      std::string piece(out.view());
      for (bool done = false; !done; change()) {
        std::string more;
        ByteWriter step(more);
        frozen.begin_step();
        done = slices.write_frozen(frozen, step, random() % 100 * 1000 + 1) &&
               frozen.flush(step, SIZE_MAX);
        if (done) step.put_value(SliceTables::end_of_sections);
        piece += step.view();
      }
      if (!delta) {
        pieces.clear();
        is_delta.clear();
      }
      pieces.push_back(piece);
      is_delta.push_back(delta);
      SliceTables restored(aggregate);
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        ByteReader in(pieces[i]);
        ASSERT_TRUE(restored.restore(in, is_delta[i], everyone, [] { return true; }));
        ASSERT_EQ(in.left(), 0u);
      }
      restored.merge_restored();
      Copy found;
      for (const auto& [slice, table] : restored.all()) {
        static_cast<const Table&>(*table).scan(
            0, [&, at = slice](std::uint64_t key, std::uint64_t value) {
              found[at][key] = value;
              return true;
            });
      }
      Copy wanted = expected;
      std::erase_if(wanted, [](const auto& each) { return each.second.empty(); });
      ASSERT_EQ(found, wanted) << "seed " << seed << " round " << round;
    }
  }
}

}  // namespace
}  // namespace hummer::frozen_table_test
