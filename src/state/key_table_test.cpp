#include <hummer/detail/state/key_table.hpp>

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <hummer/detail/state/erased_aggregate.hpp>

namespace hummer::key_table_test {
namespace {

template <typename K>
void expect_counts(const std::vector<K>& keys) {
  KeyTable<K, std::uint64_t> table;
  std::map<K, std::uint64_t> expected;
  for (int round = 0; round < 2; ++round) {
    std::vector<int> calls(keys.size());
    table.update(
        keys.size(), [&](std::size_t i) -> const K& { return keys[i]; },
        [&](std::uint64_t& value, bool is_new, std::size_t i) {
          EXPECT_EQ(is_new, value == 0);
          ++value;
          ++calls[i];
        });
    for (std::size_t i = 0; i < keys.size(); ++i) {
      ASSERT_EQ(calls[i], 1);
      ++expected[keys[i]];
    }
  }
  std::map<K, std::uint64_t> found;
  std::size_t cursor = 0;
  do {
    cursor = table.scan(cursor, [&](const K& key, std::uint64_t value) {
      EXPECT_TRUE(found.emplace(key, value).second);
      return found.size() % 3 != 0;
    });
  } while (cursor != table.scan_end);
  EXPECT_TRUE(found == expected);

  // One by one: what is there as it is, and into an empty table as new, once.
  KeyTable<K, std::uint64_t> single;
  for (const auto& [key, count] : expected) {
    const auto [there, is_new] = table.find_or_add(key);
    EXPECT_FALSE(is_new);
    EXPECT_EQ(*there, count);
    const auto [added, first] = single.find_or_add(key);
    EXPECT_TRUE(first);
    EXPECT_EQ(*added, 0u);
    *added = count;
    EXPECT_FALSE(single.find_or_add(key).second);
  }
  EXPECT_EQ(single.size(), expected.size());
  for (const auto& [key, count] : expected) EXPECT_EQ(*single.find(key), count);
}

TEST(KeyTable, IntegersWithZeroAndNegatives) {
  std::vector<std::int64_t> keys;
  for (std::int64_t i = -3000; i < 3000; ++i) keys.push_back(i * i * i);
  expect_counts(keys);
}

TEST(KeyTable, PairsOfIntegersWhichEncodeToZeroBytes) {
  std::vector<std::pair<std::int32_t, std::int64_t>> keys;
  for (std::int32_t i = 0; i < 4000; ++i) keys.emplace_back(i % 7, i / 3);
  expect_counts(keys);
}

TEST(KeyTable, OwnedTextOfAllLengthsAlsoBeyondTheLocalBuffer) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < 700; ++i) keys.push_back(std::string(i * 17 % 9000, 'x'));
  for (std::size_t i = 0; i < 300; ++i) keys.push_back(std::string(i % 50, '\0'));
  expect_counts(keys);
}

TEST(AccumulatorTable, AccumulatorsThatOwnMemoryComeBackFromASnapshot) {
  const std::vector<std::string_view> keys = {"a", "b", "a", "a longer key than sixteen bytes",
                                              "b"};
  AccumulatorTable<std::string_view, std::string> table;
  table.update_views(keys,
                     [](std::string& text, bool, std::size_t i) { text += std::to_string(i); });
  std::string bytes;
  ByteWriter out(bytes);
  EXPECT_FALSE(table.freeze(true)) << "the first is whole";
  GroupedEntries frozen;
  frozen.begin(nullptr);
  EXPECT_TRUE(table.write_frozen(frozen, out, 1000) && frozen.flush(out, 1000));
  out.put_value(AccumulatorTable<std::string_view, std::string>::end_of_entries);
  const std::string saved(out.view());
  AccumulatorTable<std::string_view, std::string> again;
  ByteReader in(saved);
  struct Taking {
    using Accumulator = std::string;
    void merge(std::string& text, bool is_new, const std::string& other) const {
      EXPECT_TRUE(is_new);
      text = other;
    }
  };
  const Taking taking;
  const ErasedAggregateOf<std::string_view, Taking> aggregate(taking);
  const auto owns = [](std::uint64_t hash) { return hash != key_hash(std::string_view("c")); };
  ASSERT_EQ(again.restore(in, owns, aggregate, false), decltype(again)::Restored::all);
  std::map<std::string, std::string> found;
  again.scan(0, [&](std::string_view key, const std::string& text) {
    found[std::string(key)] = text;
    return true;
  });
  const std::map<std::string, std::string> expected = {
      {"a", "02"}, {"b", "14"}, {"a longer key than sixteen bytes", "3"}};
  EXPECT_EQ(found, expected);
}

TEST(IntegerTable, TakesAnotherTablesScanInShortProbes) {
  IntegerTable<std::uint64_t> from;
  from.update(
      300000, [](std::size_t i) { return i * i + 1; },
      [](std::uint64_t& value, bool, std::size_t) { ++value; });
  IntegerTable<std::uint64_t> to;
  std::size_t longest = 0;
  std::size_t taken = 0;
  from.scan(0, [&](std::uint64_t key, std::uint64_t) {
    to.update(1, [&](std::size_t) { return key; }, [](std::uint64_t&, bool, std::size_t) {});
    if (++taken % 5000 == 0) longest = std::max(longest, to.longest_probe());
    return true;
  });
  EXPECT_EQ(to.size(), 300000u);
  EXPECT_LT(longest, 400u);
}

}  // namespace
}  // namespace hummer::key_table_test
