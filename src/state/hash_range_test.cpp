#include <hummer/detail/state/hash_range.hpp>

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "state/instruction_sets_for_test.hpp"

namespace hummer::hash_range_test {
namespace {

TEST(HashRange, AnOwnersHashesAreThoseOfItsGroups) {
  std::mt19937_64 random(7);
  for (const std::uint32_t groups : {1u, 2u, 3u, 128u, 1000u, 1024u, 32768u}) {
    for (const std::uint32_t parallelism : {1u, 2u, 3u, 7u, 64u}) {
      for (std::uint32_t owner = 0; owner < parallelism; ++owner) {
        const HashRange range = HashRange::of_owner(owner, parallelism, groups);
        const auto check = [&](std::uint64_t hash) {
          EXPECT_EQ(range.has(hash),
                    group_owner(key_group(hash, groups), parallelism, groups) == owner)
              << hash << " of " << groups << " groups at " << owner << " of " << parallelism;
        };
        for (int i = 0; i < 50; ++i) check(random());
        const std::uint64_t first = std::uint64_t{range.first} << 32;
        for (const std::uint64_t edge : {first, first + (range.size << 32)}) {
          check(edge);
          check(edge - 1);
        }
        check(0);
        check(UINT64_MAX);
      }
    }
  }
}

template <typename K>
void expect_divided(InstructionSet level, const std::vector<K>& keys, const HashRange& range) {
  HashDivider divider(level);
  for (std::size_t i = 0; i < keys.size(); ++i) divider.set<K>(i, keys[i]);
  divider.hash<K>(keys.size());
  std::vector<std::uint8_t> inside;
  std::vector<std::uint8_t> outside;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    (range.has(key_hash(keys[i])) ? inside : outside).push_back(static_cast<std::uint8_t>(i));
  }
  const std::size_t found = divider.divide(keys.size(), range);
  ASSERT_EQ(found, inside.size());
  const auto first = divider.inside(found);
  const auto second = divider.outside(keys.size() - found);
  EXPECT_EQ(std::vector<std::uint8_t>(first.begin(), first.end()), inside);
  EXPECT_EQ(std::vector<std::uint8_t>(second.begin(), second.end()), outside);
}

TEST(HashDivider, EachKeyIsOnItsSide) {
  std::mt19937_64 random(8);
  for (const InstructionSet level : levels_for_test()) {
    for (std::size_t count = 0; count <= HashDivider::most; ++count) {
      std::vector<std::uint64_t> numbers;
      std::vector<std::int64_t> signed_numbers;
      std::vector<int> small;
      std::vector<std::string> texts;
      for (std::size_t i = 0; i < count; ++i) {
        numbers.push_back(random());
        signed_numbers.push_back(static_cast<std::int64_t>(random()));
        small.push_back(static_cast<int>(random() % 100));
        texts.push_back(std::to_string(random() % 1000));
      }
      const auto parallelism = static_cast<std::uint32_t>(1 + random() % 5);
      const auto owner = static_cast<std::uint32_t>(random() % parallelism);
      const HashRange range = HashRange::of_owner(owner, parallelism, default_key_groups);
      expect_divided(level, numbers, range);
      expect_divided(level, signed_numbers, range);
      expect_divided(level, small, range);
      expect_divided(level, texts, range);
      expect_divided(level, numbers, {});
    }
  }
}

}  // namespace
}  // namespace hummer::hash_range_test
