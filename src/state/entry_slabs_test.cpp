#include <hummer/detail/state/entry_slabs.hpp>

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace hummer::entry_slabs_test {
namespace {

struct Entry {
  std::uint32_t slot = 0;
  std::uint64_t value = 0;
};
constexpr std::size_t block_bytes = sizeof(Entry) + 24;

// Entries in their places.
class Slabs : public EntrySlabs {
 public:
  Entry& take() {
    const Place place = EntrySlabs::take();
    Entry& entry = *new (place.block) Entry();
    entry.slot = place.slot;
    return entry;
  }
  void give_back(Entry& entry) { EntrySlabs::give_back(entry.slot); }
  const Entry* next(std::size_t slot, std::size_t end) const {
    return static_cast<const Entry*>(EntrySlabs::next(slot, end));
  }
};

// Slots that are in use, from `begin` up to `end`.
std::vector<std::uint32_t> slots_between(const Slabs& slabs, std::size_t begin, std::size_t end) {
  std::vector<std::uint32_t> found;
  while (const Entry* const entry = slabs.next(begin, end)) {
    found.push_back(entry->slot);
    begin = entry->slot + 1;
  }
  return found;
}

// Against a map: entries keep their place and what is in them, and are found in the order of slots,
// while some come, others go and empty slabs are released.
TEST(EntrySlabs, EqualsAMapUnderTakingAndGivingBack) {
  std::mt19937_64 random(1);
  Slabs slabs;
  slabs.set_block_bytes(block_bytes);
  std::map<std::uint32_t, Entry*> entries;
  for (int step = 0; step < 40'000; ++step) {
    const bool grows = step / 5000 % 2 == 0;
    if (entries.empty() || random() % 10 < (grows ? 8 : 2)) {
      Entry& entry = slabs.take();
      entry.value = ~std::uint64_t{entry.slot};
      ASSERT_TRUE(entries.emplace(entry.slot, &entry).second) << "a place was given twice";
    } else {
      auto at = entries.lower_bound(static_cast<std::uint32_t>(random() % slabs.slot_count()));
      if (at == entries.end()) at = entries.begin();
      ASSERT_EQ(at->second->value, ~std::uint64_t{at->first});
      slabs.give_back(*at->second);
      entries.erase(at);
    }
    if (step % 1000 == 0) slabs.release_empty(random() % 4 * 256 * block_bytes);
    if (step % 100 != 0) continue;
    const std::size_t begin = random() % (slabs.slot_count() + 1);
    const std::size_t end = begin + random() % (slabs.slot_count() + 1 - begin);
    std::vector<std::uint32_t> expected;
    for (auto at = entries.lower_bound(static_cast<std::uint32_t>(begin));
         at != entries.end() && at->first < end; ++at) {
      expected.push_back(at->first);
    }
    ASSERT_EQ(slots_between(slabs, begin, end), expected);
  }
  for (const auto& [slot, entry] : entries) slabs.give_back(*entry);
}

TEST(EntrySlabs, OnlyEmptySlabsAreReleased) {
  Slabs slabs;
  slabs.set_block_bytes(block_bytes);
  std::vector<Entry*> entries;
  for (int i = 0; i < 4 * 256; ++i) entries.push_back(&slabs.take());
  const std::size_t full = slabs.memory_bytes();
  for (int i = 256; i < 4 * 256; ++i) {
    if (i != 600) slabs.give_back(*entries[static_cast<std::size_t>(i)]);
  }
  slabs.release_empty(1);
  EXPECT_LE(slabs.memory_bytes() + 200 * block_bytes, full);  // one
  slabs.release_empty(SIZE_MAX);
  EXPECT_LE(slabs.memory_bytes() + 2 * 256 * block_bytes, full + 1000);
  EXPECT_EQ(slots_between(slabs, 256, slabs.slot_count()), std::vector<std::uint32_t>{600});
  EXPECT_EQ(slabs.slot_count(), 4u * 256);
  // Their places come first when there are entries again.
  for (int i = 0; i < 3 * 256 - 1; ++i) slabs.take();
  EXPECT_EQ(slabs.slot_count(), 4u * 256);
  EXPECT_EQ(slabs.take().slot, 4u * 256);
}

}  // namespace
}  // namespace hummer::entry_slabs_test
