#include <hummer/detail/state/entry_index.hpp>

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <set>

namespace hummer::entry_index_test {
namespace {

struct Entry : KeyedEntry {
  int key = 0;
};

// Against a set, with hashes that collide in their low bits and in all of them.
TEST(EntryIndex, EqualsASetUnderInsertionAndRemoval) {
  for (const std::uint64_t mask :
       {~std::uint64_t{0}, std::uint64_t{0xFF000000000000FF}, std::uint64_t{7}, std::uint64_t{0}}) {
    std::mt19937_64 random(mask);
    EntryIndex index;
    std::deque<Entry> entries;
    for (int key = 0; key < 300; ++key) {
      Entry& entry = entries.emplace_back();
      entry.hash = random() & mask;
      entry.key = key;
    }
    std::set<int> present;
    for (int step = 0; step < 5000; ++step) {
      Entry& entry = entries[random() % entries.size()];
      const auto same = [&](const KeyedEntry& other) {
        return static_cast<const Entry&>(other).key == entry.key;
      };
      EXPECT_EQ(index.find(entry.hash, same), present.count(entry.key) ? &entry : nullptr);
      if (present.insert(entry.key).second) {
        const std::size_t growth = index.growth_bytes(1), held = index.memory_bytes();
        index.insert(entry);
        EXPECT_EQ(index.memory_bytes() - held, held == 0 ? index.memory_bytes() : growth / 2);
      } else {
        present.erase(entry.key);
        index.erase(entry);
      }
      ASSERT_EQ(index.size(), present.size());
    }
    for (Entry& entry : entries) {
      const auto same = [&](const KeyedEntry& other) {
        return static_cast<const Entry&>(other).key == entry.key;
      };
      EXPECT_EQ(index.find(entry.hash, same) != nullptr, present.count(entry.key) == 1);
    }
  }
}

}  // namespace
}  // namespace hummer::entry_index_test
