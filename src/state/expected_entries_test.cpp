#include <hummer/detail/state/expected_entries.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include <hummer/detail/key_hash.hpp>

#include "platform/random.hpp"
#include "state/instruction_sets_for_test.hpp"

namespace hummer::expected_entries_test {
namespace {

TEST(ExpectedEntries, HashesNumbersAsKeysAreHashed) {
  Random random(3);
  for (const InstructionSet level : levels_for_test()) {
    ExpectedEntries expected(level);
    for (std::uint64_t& number : expected.numbers) number = random.below(UINT64_MAX);
    for (const std::size_t count : {std::size_t{0}, std::size_t{5}, ExpectedEntries::most}) {
      expected.hashes.fill(0);
      expected.hash_numbers(count);
      for (std::size_t i = 0; i < ExpectedEntries::most; ++i) {
        EXPECT_EQ(expected.hashes[i],
                  i < count ? key_hash<std::uint64_t>(expected.numbers[i]) : 0u);
      }
    }
  }
}

// With hashes that collide in the bits that say where the search begins, so that it goes over many
// lines and round the end.
TEST(ExpectedEntries, AreThoseOfTheIndex) {
  for (const InstructionSet level : levels_for_test()) {
    for (const std::uint64_t mask : {~std::uint64_t{0}, std::uint64_t{0xFFFFFFFF'F000'00FF},
                                     std::uint64_t{0xFFFFFFFF'FF00'0000}, std::uint64_t{0xFF}}) {
      Random random(mask ^ 1);
      EntryIndex index;
      EntrySlabs slabs;
      slabs.set_block_bytes(32);
      ExpectedEntries expected(level);
      expected.hashes.fill(mask);
      expected.find(index, slabs, ExpectedEntries::most);
      EXPECT_EQ(expected.entry(0), nullptr);

      struct One {
        std::uint64_t hash;
        EntrySlabs::Place place;
        bool is_there;
      };
      std::vector<One> all;
      for (int i = 0; i < 3'000; ++i) {
        const std::uint64_t hash = random.below(UINT64_MAX) & mask;
        if (std::any_of(all.begin(), all.end(), [&](const One& one) {
              return static_cast<std::uint32_t>(one.hash) == static_cast<std::uint32_t>(hash);
            })) {
          continue;
        }
        all.push_back({hash, slabs.take(), true});
        index.insert(all.back().place.slot, hash);
      }
      for (One& one : all) {
        if (!random.chance(0.3)) continue;
        one.is_there = false;
        index.erase(one.place.slot, one.hash);
      }
      for (std::size_t first = 0; first < all.size(); first += ExpectedEntries::most) {
        const std::size_t count = std::min(ExpectedEntries::most, all.size() - first);
        for (std::size_t i = 0; i < count; ++i) expected.hashes[i] = all[first + i].hash;
        expected.find(index, slabs, count);
        for (std::size_t i = 0; i < count; ++i) {
          const One& one = all[first + i];
          // Free places have that tag, and one of them may be met first.
          if (static_cast<std::uint32_t>(one.hash) == 0 && expected.entry(i) == nullptr) continue;
          ASSERT_EQ(static_cast<void*>(expected.entry(i)),
                    one.is_there ? one.place.block : nullptr);
        }
      }
    }
  }
}

// From one step of its growth to the next.
TEST(ExpectedEntries, AreThoseOfAnIndexThatGrows) {
  Random random(9);
  EntryIndex index;
  EntrySlabs slabs;
  slabs.set_block_bytes(32);
  ExpectedEntries expected;
  std::vector<std::pair<std::uint64_t, void*>> all;
  while (!index.growing()) {
    const EntrySlabs::Place place = slabs.take();
    all.emplace_back(random.below(UINT64_MAX), place.block);
    index.insert(place.slot, all.back().first);
  }
  std::size_t steps = 0;
  std::size_t others = 0;  // which have the same 32 bits
  for (bool ends = false; !ends; ++steps) {
    ends = !index.growing();
    if (!ends) index.grow_on(ExpectedEntries::most);
    const std::size_t first = random.below(all.size() - ExpectedEntries::most);
    for (std::size_t i = 0; i < ExpectedEntries::most; ++i) {
      expected.hashes[i] = all[first + i].first;
    }
    expected.find(index, slabs, ExpectedEntries::most);
    for (std::size_t i = 0; i < ExpectedEntries::most; ++i) {
      ASSERT_NE(expected.entry(i), nullptr);
      others += static_cast<void*>(expected.entry(i)) == all[first + i].second ? 0 : 1;
    }
  }
  EXPECT_GT(steps, 50u);
  EXPECT_LT(others, 20u);
}

}  // namespace
}  // namespace hummer::expected_entries_test
