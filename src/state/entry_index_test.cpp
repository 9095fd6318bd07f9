#include <hummer/detail/state/entry_index.hpp>

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace hummer::entry_index_test {
namespace {

// Against a set, with hashes that collide in the bits that say where the search begins, and in all
// of them.
TEST(EntryIndex, EqualsASetUnderInsertionAndRemoval) {
  for (const std::uint64_t mask : {~std::uint64_t{0}, std::uint64_t{0xFFFFFFFFF00000FF},
                                   std::uint64_t{7}, std::uint64_t{0xFFFFFFFF00000000}}) {
    std::mt19937_64 random(mask);
    EntryIndex index;
    std::vector<std::uint64_t> hashes;
    for (int key = 0; key < 300; ++key) hashes.push_back(random() & mask);
    std::set<std::uint32_t> present;
    const auto found = [&](std::uint32_t entry) {
      return index.find(hashes[entry], [&](std::uint32_t other) { return other == entry; });
    };
    for (int step = 0; step < 5000; ++step) {
      const auto entry = static_cast<std::uint32_t>(random() % hashes.size());
      EXPECT_EQ(found(entry), present.count(entry) ? entry : EntryIndex::none);
      if (present.insert(entry).second) {
        const std::size_t growth = index.growth_bytes(1), held = index.memory_bytes();
        index.insert(entry, hashes[entry]);
        EXPECT_EQ(index.memory_bytes() - held, held == 0 ? index.memory_bytes() : growth / 2);
      } else {
        present.erase(entry);
        index.erase(entry, hashes[entry]);
      }
      ASSERT_EQ(index.size(), present.size());
      if (step % 97 == 0) index.shrink();
    }
    for (std::uint32_t entry = 0; entry < hashes.size(); ++entry) {
      EXPECT_EQ(found(entry), present.count(entry) ? entry : EntryIndex::none);
    }
    const std::size_t full = index.memory_bytes();
    while (present.size() > 10) {
      index.erase(*present.begin(), hashes[*present.begin()]);
      present.erase(present.begin());
    }
    index.shrink();
    EXPECT_LT(index.memory_bytes(), full);
    for (std::uint32_t entry = 0; entry < hashes.size(); ++entry) {
      EXPECT_EQ(found(entry), present.count(entry) ? entry : EntryIndex::none);
    }
  }
}

// A large one grows in steps, beside look-ups, removals and shrinking.
TEST(EntryIndex, EqualsASetWhileItGrows) {
  constexpr std::size_t before = std::size_t{4 << 20} / EntryIndex::place_bytes / 4 * 3;
  for (const std::uint64_t all_at_the_end : {std::uint64_t{0}, std::uint64_t{0xFFFFF000}}) {
    std::mt19937_64 random(all_at_the_end);
    EntryIndex index;
    std::vector<std::uint64_t> hashes;
    std::vector<bool> present;
    const auto found = [&](std::size_t entry) {
      return index.find(hashes[entry], [&](std::uint32_t other) { return other == entry; });
    };
    const auto insert = [&](std::uint64_t hash) {
      index.insert(static_cast<std::uint32_t>(hashes.size()), hash);
      hashes.push_back(hash);
      present.push_back(true);
    };
    while (index.growth_bytes(1) == 0 || hashes.size() < before) insert(random());
    ASSERT_FALSE(index.growing());
    insert(random());
    ASSERT_TRUE(index.growing());
    std::size_t steps = 0;
    for (; index.growing(); ++steps) {
      if (steps < 3'000) insert(random() | all_at_the_end);
      if (steps % 7 == 0) index.grow_on(10);
      const std::size_t one = random() % hashes.size();
      ASSERT_EQ(found(one), present[one] ? one : EntryIndex::none);
      if (steps % 3 == 0 && present[one]) {
        index.erase(static_cast<std::uint32_t>(one), hashes[one]);
        present[one] = false;
      }
    }
    EXPECT_GT(steps, 1'000u);
    std::size_t left = 0;
    for (std::size_t entry = 0; entry < hashes.size(); ++entry) {
      left += present[entry] ? 1 : 0;
      ASSERT_EQ(found(entry), present[entry] ? entry : EntryIndex::none);
    }
    EXPECT_EQ(index.size(), left);
  }
}

// What is left is put into a smaller one, wherever it lies.
TEST(EntryIndex, ShrinksWhileItGrows) {
  constexpr std::uint32_t all = std::size_t{4 << 20} / EntryIndex::place_bytes / 4 * 3 + 1;
  const auto hash_of = [](std::uint32_t entry) {
    return entry * std::uint64_t{0x9E3779B97F4A7C15};
  };
  EntryIndex index;
  for (std::uint32_t entry = 0; entry < all; ++entry) index.insert(entry, hash_of(entry));
  ASSERT_TRUE(index.growing());
  const std::size_t held = index.memory_bytes();
  for (std::uint32_t entry = 1'000; entry < all; ++entry) index.erase(entry, hash_of(entry));
  index.shrink();
  EXPECT_LT(index.memory_bytes(), held / 100);
  EXPECT_FALSE(index.growing());
  for (std::uint32_t entry = 0; entry < 1'000; ++entry) {
    ASSERT_EQ(index.find(hash_of(entry), [&](std::uint32_t other) { return other == entry; }),
              entry);
  }
}

}  // namespace
}  // namespace hummer::entry_index_test
