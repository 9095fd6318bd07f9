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

}  // namespace
}  // namespace hummer::entry_index_test
