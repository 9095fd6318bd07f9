// sort_by_hash: sorts items by a hash that is about evenly spread, and equal hashes as `before`
// says.
//
//   sort_by_hash(std::span(items), [](const Item& item) { return item.hash; },
//                [](const Item& a, const Item& b) { return a.hash != b.hash ? … : …; });
//
// Where an item comes is nearly known from its hash alone: items are dealt in place to ranges of
// hashes that get a few each (McIlroy, Bostic and McIlroy 1993), and compared within one only.
// Where hashes are not spread it is std::sort. Memory: at most two bytes per item. Thread: one.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <hummer/status.hpp>

namespace hummer {

template <typename Item, typename HashOf, typename Before>
void sort_by_hash(std::span<Item> items, HashOf&& hash_of, Before&& before) {
  constexpr std::size_t least_items = 256;  // of fewer comparing all is as quick
  constexpr std::size_t items_per_range = 8;
  if (items.size() < least_items) return std::sort(items.begin(), items.end(), before);
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t last = 0;
  for (const Item& item : items) {
    first = std::min<std::uint64_t>(first, hash_of(item));
    last = std::max<std::uint64_t>(last, hash_of(item));
  }
  const auto bits = static_cast<int>(std::bit_width(items.size() / items_per_range));
  const int shift = std::max(0, static_cast<int>(std::bit_width(last - first)) - bits);
  const auto range_of = [&](const Item& item) {
    return static_cast<std::size_t>((hash_of(item) - first) >> shift);
  };
  HUMMER_ASSERT(items.size() <= std::numeric_limits<std::uint32_t>::max());
  std::vector<std::uint32_t> ends(((last - first) >> shift) + 1);
  for (const Item& item : items) ++ends[range_of(item)];
  std::uint32_t behind = 0;
  for (std::uint32_t& end : ends) end = behind += end;
  // Each range is filled from its end: it is complete where its end meets that of the one before.
  std::vector<std::uint32_t> open = ends;
  for (std::size_t range = 0; range < ends.size(); ++range) {
    const std::uint32_t begin = range == 0 ? 0 : ends[range - 1];
    while (open[range] > begin) {
      Item item = std::move(items[open[range] - 1]);
      for (std::size_t to = range_of(item); to != range; to = range_of(item)) {
        std::swap(item, items[--open[to]]);
      }
      items[--open[range]] = std::move(item);
    }
    std::sort(items.begin() + begin, items.begin() + ends[range], before);
  }
}

}  // namespace hummer
