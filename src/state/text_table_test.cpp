#include <hummer/detail/state/text_table.hpp>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <map>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

namespace hummer::text_table_test {
namespace {

using Counts = TextTable<std::uint64_t>;
using Expected = std::unordered_map<std::string, std::uint64_t>;

class TextTableOf : public testing::TestWithParam<InstructionSet> {
 protected:
  void SetUp() override {
    if (GetParam() > best_instruction_set()) GTEST_SKIP() << "not on this processor";
  }
};
INSTANTIATE_TEST_SUITE_P(Levels, TextTableOf,
                         testing::Values(InstructionSet::v2, InstructionSet::v3,
                                         InstructionSet::v4),
                         [](const auto& level) {
                           return "v" + std::to_string(static_cast<int>(level.param) + 2);
                         });

std::vector<std::string_view> views_of(const std::vector<std::string>& keys) {
  return {keys.begin(), keys.end()};
}

// Counts keys in the table and beside it, and checks that a key is new once.
void count(Counts& table, const std::vector<std::string_view>& keys, Expected& expected) {
  std::vector<int> calls(keys.size());
  std::vector<int> news(keys.size());
  table.update_views(keys, [&](std::uint64_t& value, bool is_new, std::size_t i) {
    EXPECT_EQ(value == 0, is_new);
    ++calls[i];
    news[i] = is_new ? 1 : 0;
    ++value;
  });
  for (std::size_t i = 0; i < keys.size(); ++i) {
    ASSERT_EQ(calls[i], 1) << "record " << i;
    const bool is_first = ++expected[std::string(keys[i])] == 1;
    ASSERT_EQ(news[i], is_first ? 1 : 0) << "record " << i;
  }
}

// A table hands out every entry once, also when the scan stops after each.
void expect_holds(const Counts& table, const Expected& expected, bool one_at_a_time = false) {
  Expected found;
  std::size_t cursor = 0;
  do {
    cursor = table.scan(cursor, [&](std::string_view key, std::uint64_t value) {
      EXPECT_TRUE(found.emplace(std::string(key), value).second) << "twice: " << key;
      return !one_at_a_time;
    });
  } while (cursor != Counts::scan_end);
  EXPECT_EQ(table.size(), expected.size());
  EXPECT_TRUE(found == expected);
}

std::string random_key(std::mt19937& random) {
  std::string key(random() % 41, '\0');
  const bool few_letters = random() % 2 == 0;
  for (char& c : key) c = static_cast<char>(few_letters ? random() % 3 : random() % 256);
  return key;
}

TEST_P(TextTableOf, CountsLikeAMapForRandomKeysOfAllKinds) {
  std::mt19937 random(7);
  Counts table(0, GetParam());
  Expected expected;
  std::vector<std::string> keys;
  for (int i = 0; i < 60000; ++i) {
    keys.push_back(i % 3 == 0 || keys.empty() ? random_key(random) : keys[random() % keys.size()]);
  }
  const auto views = views_of(keys);
  for (std::size_t from = 0; from < views.size();) {
    const std::size_t length = std::min<std::size_t>(1 + random() % 1500, views.size() - from);
    count(table,
          {views.begin() + static_cast<std::ptrdiff_t>(from),
           views.begin() + static_cast<std::ptrdiff_t>(from + length)},
          expected);
    if (HasFatalFailure()) return;
    from += length;
  }
  expect_holds(table, expected);
}

TEST_P(TextTableOf, TellsPrefixesPaddingAndZeroBytesApart) {
  std::vector<std::string> keys;
  for (std::size_t length = 0; length <= 40; ++length) {
    keys.push_back(std::string(length, '\0'));
    keys.push_back(std::string(length, 'a'));
    keys.push_back(std::string(length, '\xff'));
    keys.push_back(std::string(length, 'a') + '\0');
    keys.push_back('\0' + std::string(length, 'a'));
    keys.push_back(std::string(length, '\0') + 'z');
  }
  Counts table(0, GetParam());
  Expected expected;
  count(table, views_of(keys), expected);
  count(table, views_of(keys), expected);
  expect_holds(table, expected, true);
}

TEST_P(TextTableOf, ReadsNoPageThatAKeyIsNotIn) {
  // A readable page between two that are not.
  constexpr std::size_t page = 4096;
  void* room = ::mmap(nullptr, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(room, MAP_FAILED);
  char* const begin = static_cast<char*>(room) + page;
  ASSERT_EQ(::mprotect(begin, page, PROT_READ | PROT_WRITE), 0);
  for (std::size_t i = 0; i < page; ++i) begin[i] = static_cast<char>('a' + i * 7 % 26);
  std::vector<std::string_view> keys;
  for (std::size_t length = 0; length <= 40; ++length) {
    for (std::size_t gap = 0; gap < 20; ++gap) {
      keys.emplace_back(begin + page - length - gap, length);
      keys.emplace_back(begin + gap, length);
    }
  }
  keys.emplace_back(nullptr, 0);
  keys.emplace_back(begin + page, 0);
  Counts table(0, GetParam());
  Expected expected;
  count(table, keys, expected);
  expect_holds(table, expected);
  ::munmap(room, 3 * page);
}

TEST_P(TextTableOf, KeysAcrossTheEndOfAPage) {
  std::string two_pages(3 * 4096, '\0');
  std::mt19937 random(3);
  for (char& c : two_pages) c = static_cast<char>('a' + random() % 20);
  const auto address = reinterpret_cast<std::uintptr_t>(two_pages.data());
  const char* const border = two_pages.data() + (2 * 4096 - address % 4096);
  std::vector<std::string_view> keys;
  for (std::size_t before = 0; before <= 40; ++before) {
    for (std::size_t length = 0; length <= 40; ++length) keys.emplace_back(border - before, length);
  }
  Counts table(0, GetParam());
  Expected expected;
  count(table, keys, expected);
  expect_holds(table, expected);
}

TEST_P(TextTableOf, GivesEqualKeysInOrder) {
  std::vector<std::string> keys;
  for (int i = 0; i < 3000; ++i) keys.push_back(std::string(static_cast<std::size_t>(i % 37), 'k'));
  TextTable<std::uint64_t> table(0, GetParam());
  table.update(
      keys.size(), [&](std::size_t i) -> std::string_view { return keys[i]; },
      [&](std::uint64_t& last, bool, std::size_t i) {
        EXPECT_TRUE(last == 0 || last < i + 1);
        EXPECT_EQ(i % 37, (last == 0 ? i : last - 1) % 37);
        last = i + 1;
      });
  EXPECT_EQ(table.size(), 37u);
}

TEST_P(TextTableOf, FindsKeysWhoseProbesCollideAndWrap) {
  // Short keys whose hashes agree in their upper bits: all begin at the last slot of a table
  // of thousands, so that most wrap to its start.
  std::vector<std::string> keys;
  for (std::uint64_t i = 1; keys.size() < 400; ++i) {
    const std::uint64_t key = ((i * 0x0101010101010101u) ^ (i << 40)) | (std::uint64_t{1} << 56);
    if (hash_short_key(key) >> 52 != 0xfff) continue;
    keys.emplace_back(reinterpret_cast<const char*>(&key), 8);
  }
  Counts table(0, GetParam());
  Expected expected;
  count(table, views_of(keys), expected);
  count(table, views_of(keys), expected);
  EXPECT_GT(table.longest_probe(), 100u);
  expect_holds(table, expected);
}

TEST_P(TextTableOf, StartsAgainAfterClear) {
  std::mt19937 random(11);
  Counts table(0, GetParam());
  for (int round = 0; round < 4; ++round) {
    std::vector<std::string> keys;
    for (int i = 0; i < 9000; ++i) keys.push_back(random_key(random));
    Expected expected;
    count(table, views_of(keys), expected);
    expect_holds(table, expected);
    table.clear();
    EXPECT_TRUE(table.empty());
    expect_holds(table, {});
  }
}

TEST_P(TextTableOf, EmptyTablesScanToTheEnd) {
  Counts table(0, GetParam());
  EXPECT_EQ(table.scan(0, [](std::string_view, std::uint64_t) { return true; }), Counts::scan_end);
  EXPECT_EQ(table.memory_bytes(), 0u);
  EXPECT_FALSE(table.at_limit(0));
}

std::vector<std::string> numbered_keys(std::size_t count, std::size_t length) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < count; ++i) {
    std::string key = std::to_string(i * 2654435761u % 1000003);
    key.insert(0, length > key.size() ? length - key.size() : 0, '0');
    keys.push_back(key);
  }
  return keys;
}

TEST(TextTable, StaysWithinItsLimit) {
  for (const std::size_t length : {7u, 14u, 30u, 100u}) {
    constexpr std::size_t limit = 4 << 20;
    const auto keys = numbered_keys(300000, length);
    const auto views = views_of(keys);
    Counts table;
    std::size_t emptied = 0;
    std::size_t since = 0;
    for (std::size_t from = 0; from < views.size(); from += 1000) {
      table.update_views(std::span(views).subspan(from, 1000),
                         [](std::uint64_t& value, bool, std::size_t) { ++value; });
      // Text that its entries point to is counted as it comes: a batch and a chunk more.
      EXPECT_LE(table.memory_bytes(), limit + (192u << 10)) << length;
      since += 1000;
      if (table.at_limit(limit)) {
        EXPECT_GT(since, 10000u) << length;  // not much too early
        table.clear();
        EXPECT_FALSE(table.at_limit(limit));
        ++emptied;
        since = 0;
      }
    }
    EXPECT_GE(emptied, 1u) << length;
  }
}

TEST(TextTable, AnyEntryIsAtALimitOfNothing) {
  Counts table;
  table.update(
      1, [](std::size_t) { return std::string_view("one"); },
      [](std::uint64_t&, bool, std::size_t) {});
  EXPECT_TRUE(table.at_limit(0));
  EXPECT_FALSE(table.at_limit(1 << 20));
}

// Inserting another table's entries in the order of their hashes would make long runs.
TEST(TextTable, TakesAnotherTablesScanInShortProbes) {
  for (const std::size_t length : {6u, 12u, 25u, 40u}) {
    Counts from;
    from.update_views(views_of(numbered_keys(200000, length)),
                      [](std::uint64_t& value, bool, std::size_t) { ++value; });
    Counts to;
    std::size_t longest = 0;
    std::size_t taken = 0;
    from.scan(0, [&](std::string_view key, std::uint64_t) {
      to.update(1, [&](std::size_t) { return key; }, [](std::uint64_t&, bool, std::size_t) {});
      if (++taken % 5000 == 0) longest = std::max(longest, to.longest_probe());
      return true;
    });
    EXPECT_EQ(to.size(), from.size());
    EXPECT_LT(longest, 400u) << length;
  }
}

template <typename V>
void expect_holds_values() {
  TextTable<V> table;
  const auto keys = numbered_keys(5000, 18);
  for (int round = 0; round < 2; ++round) {
    table.update_views(views_of(keys), [&](V& value, bool is_new, std::size_t i) {
      unsigned char bytes[sizeof(V)];
      std::memcpy(bytes, &value, sizeof(V));
      for (const unsigned char byte : bytes) ASSERT_EQ(byte, is_new ? 0 : (i * 2654435761u) % 251);
      std::memset(static_cast<void*>(&value), static_cast<int>((i * 2654435761u) % 251), sizeof(V));
    });
  }
  EXPECT_EQ(table.size(), 5000u);
}
TEST(TextTable, HoldsValuesOfOtherSizes) {
  struct Big {
    std::uint64_t words[8];
  };
  struct alignas(32) Aligned {
    std::uint64_t words[4];
  };
  expect_holds_values<std::uint8_t>();
  expect_holds_values<std::uint32_t>();
  expect_holds_values<Big>();
  expect_holds_values<Aligned>();
}

}  // namespace
}  // namespace hummer::text_table_test
