// Joins of whole inputs, of each kind by each strategy: under the harness, and against nested loops
// beyond their memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include <hummer/detail/bounded_joins.hpp>
#include <hummer/testing/operator_harness.hpp>

#include "operators/hybrid_hash_join.hpp"
#include "operators/join_operator.hpp"
#include "operators/sort_merge_join.hpp"
#include "platform/random.hpp"
#include "platform/simulation.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::bounded_join_test {
namespace {

struct Order {
  std::uint32_t user = 0;
  int id = 0;
};
struct User {
  std::uint32_t id = 0;
  std::string name;
};
using Line = std::pair<int, std::string>;

constexpr auto user_of = [](const Order& order) { return order.user; };
constexpr auto id_of = [](const User& user) { return user.id; };

// -1 and "": there was none.
constexpr auto line_of = [](const Order* order, const User* user) {
  return Line(order == nullptr ? -1 : order->id, user == nullptr ? "" : user->name);
};

template <JoinKind kind>
struct LineOf {
  using First = std::conditional_t<keeps_second(kind), const Order*, const Order&>;
  using Second = std::conditional_t<keeps_first(kind), const User*, const User&>;
  static const Order* pointer(const Order& order) { return &order; }
  static const Order* pointer(const Order* order) { return order; }
  static const User* pointer(const User& user) { return &user; }
  static const User* pointer(const User* user) { return user; }
  Line operator()(First order, Second user) const { return line_of(pointer(order), pointer(user)); }
};

template <JoinKind kind>
auto join_factory(JoinStrategy strategy) {
  return make_bounded_factory([strategy](std::size_t memory) -> std::unique_ptr<Operator> {
    using OfOrder = std::remove_const_t<decltype(user_of)>;
    using OfUser = std::remove_const_t<decltype(id_of)>;
    return std::make_unique<JoinOperator>(
        JoinParts{
            .first = std::make_unique<RecordCodingOf<Order, OfOrder, KeyBytes::equal>>(user_of),
            .second = std::make_unique<RecordCodingOf<User, OfUser, KeyBytes::equal>>(id_of),
            .function = std::make_unique<JoinFunctionOf<Order, User, Line, kind, LineOf<kind>>>(
                LineOf<kind>()),
            .kind = kind,
            .strategy = strategy},
        memory);
  });
}

template <JoinKind kind>
void expect_lines(std::vector<Line> lines) {
  for (const JoinStrategy strategy : {JoinStrategy::sort_merge, JoinStrategy::hybrid_hash}) {
    TwoInputHarness<Order, User> harness(join_factory<kind>(strategy));
    harness.first({1, 10}).second({1, "ann"}).first({2, 20}).first({1, 11}).second({3, "cem"});
    harness.second({1, "amy"}).first({4, 40}).idle().second({2, "bob"});
    harness.output<Line>().records(lines).unordered();
    harness.options().any_interleaving = true;
    harness.options().with_snapshots = false;
    harness.options().positions_max = under_sanitizers ? 3 : 8;
    const auto platform = make_simulated_platform({.seed = 1});
    harness.options().place.platform = platform.get();
    const HarnessReport report = harness.run();
    EXPECT_TRUE(report.ok()) << report.text();
  }
}

const std::vector<Line> pairs = {{10, "ann"}, {10, "amy"}, {11, "ann"}, {11, "amy"}, {20, "bob"}};

std::vector<Line> pairs_and(std::vector<Line> further) {
  further.insert(further.end(), pairs.begin(), pairs.end());
  return further;
}

TEST(JoinOperator, Inner) { expect_lines<JoinKind::inner>(pairs); }
TEST(JoinOperator, LeftOuter) { expect_lines<JoinKind::left_outer>(pairs_and({{40, ""}})); }
TEST(JoinOperator, RightOuter) { expect_lines<JoinKind::right_outer>(pairs_and({{-1, "cem"}})); }
TEST(JoinOperator, FullOuter) {
  expect_lines<JoinKind::full_outer>(pairs_and({{40, ""}, {-1, "cem"}}));
}

// ---- the algorithms, by bytes ----

using Record = std::pair<std::string, std::string>;
struct Case {
  std::vector<Record> sides[2];
};
// Results as text.
using Results = std::multiset<std::string>;

// As an operator would have them from a batch.
EncodedRecords encoded(std::span<const Record> records) {
  Batch batch(type_of<Record>(), static_cast<std::uint32_t>(records.size() + 1));
  for (std::size_t i = 0; i < records.size(); ++i) {
    new (batch.mutable_values<Record>() + i) Record(records[i]);
  }
  batch.set_size(records.size());
  const auto key_of = [](const Record& record) { return record.first; };
  RecordCodingOf<Record, std::remove_const_t<decltype(key_of)>, KeyBytes::equal> coding(key_of);
  EncodedRecords out;
  coding.encode(batch, out);
  return out;
}

Results joined_by_loops(const Case& of, JoinKind kind) {
  Results results;
  std::vector<bool> matched(of.sides[1].size(), false);
  std::multimap<std::string, std::size_t> seconds;
  for (std::size_t i = 0; i < of.sides[1].size(); ++i) seconds.emplace(of.sides[1][i].first, i);
  for (const Record& first : of.sides[0]) {
    const auto [begin, end] = seconds.equal_range(first.first);
    for (auto at = begin; at != end; ++at) {
      results.insert(first.second + "+" + of.sides[1][at->second].second);
      matched[at->second] = true;
    }
    if (begin == end && keeps_first(kind)) results.insert(first.second + "+-");
  }
  for (std::size_t i = 0; i < matched.size(); ++i) {
    if (!matched[i] && keeps_second(kind)) results.insert("-+" + of.sides[1][i].second);
  }
  return results;
}

std::string value_in(std::string_view bytes) {
  Record record;
  detail::decode_record(bytes, record);
  return record.second;
}

struct Joined {
  Results results;
  std::size_t most_disk_bytes = 0;
  std::size_t most_memory_bytes = 0;
};

// Batches of the sides in a drawn order. `tells`: that a side has ended before the other.
Joined joined(JoinAlgorithm& algorithm, const Case& of, Random& random, bool tells) {
  Joined joined;
  JoinPairs found;
  const auto take = [&] {
    for (const JoinPair& pair : found.all()) {
      joined.results.insert((pair.has_first ? value_in(pair.first) : "-") + "+" +
                            (pair.has_second ? value_in(pair.second) : "-"));
    }
    found.clear();
    found.set_limit(1 + random.below(1000));
    joined.most_disk_bytes = std::max(joined.most_disk_bytes, algorithm.disk_bytes());
    joined.most_memory_bytes = std::max(joined.most_memory_bytes, algorithm.memory_bytes());
  };
  take();
  std::size_t at[2] = {0, 0};
  const std::uint64_t bias = random.below(5);
  bool is_told = !tells;
  while (at[0] < of.sides[0].size() || at[1] < of.sides[1].size()) {
    int side = random.below(4) < bias ? 0 : 1;
    if (at[side] == of.sides[side].size()) {
      if (!std::exchange(is_told, true)) algorithm.side_ended(side);
      side = 1 - side;
    }
    const std::size_t count =
        std::min<std::size_t>(of.sides[side].size() - at[side], 1 + random.below(700));
    const EncodedRecords records =
        encoded(std::span<const Record>(of.sides[side]).subspan(at[side], count));
    at[side] += records.size();
    for (std::size_t next = 0;;) {
      auto all = algorithm.add(side, records, next, found);
      EXPECT_TRUE(all.ok()) << all.status().to_string();
      take();
      if (!all.ok() || *all) break;
    }
  }
  for (;;) {
    auto all = algorithm.finish(found);
    EXPECT_TRUE(all.ok()) << all.status().to_string();
    take();
    if (!all.ok() || *all) return joined;
  }
}

// Keys: `kinds` of them, and with `skew` some records have one that is frequent.
Case drawn(Random& random, std::size_t firsts, std::size_t seconds, std::uint64_t keys,
           std::uint64_t skew) {
  Case drawn;
  const std::size_t counts[2] = {firsts, seconds};
  for (int side = 0; side < 2; ++side) {
    for (std::size_t i = 0; i < counts[side]; ++i) {
      const std::uint64_t key = skew != 0 && random.below(skew) == 0 ? 7 : random.below(keys);
      drawn.sides[side].emplace_back("key " + std::to_string(key),
                                     std::to_string(i) + std::string(random.below(40), '.'));
    }
  }
  return drawn;
}

constexpr JoinKind kinds[] = {JoinKind::inner, JoinKind::left_outer, JoinKind::right_outer,
                              JoinKind::full_outer};

template <typename Algorithm>
void expect_joined(const Case& of, JoinKind kind, std::size_t memory_bytes, std::uint64_t seed,
                   bool spills) {
  const auto platform = make_simulated_platform({.seed = seed});
  const Results expected = joined_by_loops(of, kind);
  for (const bool tells : {true, false}) {
    Random random(seed);
    Algorithm algorithm(*platform,
                        {.kind = kind, .memory_bytes = memory_bytes, .spill_directory = "/spills"});
    const Joined seen = joined(algorithm, of, random, tells);
    EXPECT_TRUE(seen.results == expected)
        << "seed " << seed << ", kind " << static_cast<int>(kind) << ": " << seen.results.size();
    EXPECT_EQ(seen.most_disk_bytes > 0, spills) << seed;
    EXPECT_LE(seen.most_memory_bytes, memory_bytes);
  }
}

template <typename Algorithm>
void expect_joins_of_each_kind() {
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(drawn_cases(5)); ++seed) {
    for (const JoinKind kind : kinds) {
      Random random(seed);
      const Case few = drawn(random, random.below(300), random.below(300), 100, 0);
      expect_joined<Algorithm>(few, kind, 8 << 20, seed, false);
      const Case many = drawn(random, 30'000, 20'000, 40'000, 0);
      expect_joined<Algorithm>(many, kind, 1 << 20, seed, true);
    }
  }
}

TEST(SortMergeJoin, OfEachKindWithinAndBeyondMemory) { expect_joins_of_each_kind<SortMergeJoin>(); }
TEST(HybridHashJoin, OfEachKindWithinAndBeyondMemory) {
  expect_joins_of_each_kind<HybridHashJoin>();
}

TEST(SortMergeJoin, OneFrequentKey) {
  Random random(11);
  const Case skewed = drawn(random, 1'000, 2'000, 700, 4);
  for (const JoinKind kind : kinds) {
    expect_joined<SortMergeJoin>(skewed, kind, 4 << 20, 11, false);
  }
}

// Neither side's records of the key have room in the memory for one.
TEST(MergeJoin, AGroupThatGoesToAFileIsReadForBlocksOfTheOtherSide) {
  const auto platform = make_simulated_platform({.seed = 12});
  Case one;
  for (int i = 0; i < 50; ++i) {
    one.sides[0].emplace_back("k", std::to_string(i) + std::string(4'000, '.'));
    one.sides[1].emplace_back("k", std::to_string(i) + std::string(5'000, '.'));
  }
  one.sides[0].emplace_back("l", "alone");
  one.sides[1].emplace_back("m", "alone");
  Random random(12);
  // The memory of one key is an eighth of what the join is given.
  SortMergeJoin algorithm(
      *platform,
      {.kind = JoinKind::full_outer, .memory_bytes = 1 << 20, .spill_directory = "/spills"});
  const Joined seen = joined(algorithm, one, random, false);
  EXPECT_TRUE(seen.results == joined_by_loops(one, JoinKind::full_outer));
}

// Hashing makes no part of it smaller, so it is sorted in the end.
TEST(HybridHashJoin, OneFrequentKeyIsSorted) {
  Random random(13);
  Case skewed;
  for (int i = 0; i < 24'000; ++i) {
    skewed.sides[0].emplace_back(i % 4 == 0 ? "key " + std::to_string(i) : "frequent",
                                 std::to_string(i) + std::string(60, '.'));
  }
  for (int i = 0; i < 4; ++i) skewed.sides[1].emplace_back("frequent", std::to_string(i));
  for (int i = 0; i < 24'000; ++i) {
    skewed.sides[1].emplace_back("key " + std::to_string(i % 9'000),
                                 std::to_string(i) + std::string(60, '.'));
  }
  for (const JoinKind kind : kinds) {
    expect_joined<HybridHashJoin>(skewed, kind, 1 << 20, 13, true);
  }
}

TEST(HybridHashJoin, AFullDiskIsAnErrorAndLeavesNothing) {
  SimulationOptions options{.seed = 14};
  options.disk_capacity_bytes = 1'000;
  const auto platform = make_simulated_platform(options);
  Random random(14);
  const Case many = drawn(random, 30'000, 20'000, 40'000, 0);
  Status status;
  {
    HybridHashJoin algorithm(*platform, {.memory_bytes = 1 << 20, .spill_directory = "/spills"});
    JoinPairs found;
    // Of one side, which alone is more than memory and disk.
    for (std::size_t at = 0; at < many.sides[0].size() && status.ok();) {
      const EncodedRecords records =
          encoded(std::span<const Record>(many.sides[0]).subspan(at, 1'000));
      at += records.size();
      std::size_t next = 0;
      auto all = algorithm.add(0, records, next, found);
      if (!all.ok()) status = all.status();
    }
  }
  EXPECT_EQ(status.code(), ErrorCode::disk_full) << status.to_string();
  const auto left = platform->files().list_directory("/spills");
  EXPECT_TRUE(!left.ok() || left->empty());
}

}  // namespace
}  // namespace hummer::bounded_join_test
