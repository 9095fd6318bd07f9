// Sorting by a hash that is about evenly spread, and equal hashes as `before` says. Where an item
// comes is nearly known from its hash alone: items are dealt to ranges of hashes that get a few
// each, and compared within one only. Where they are not spread it is comparing all.
//
//   sort_by_hash(std::span(items), [](const Item& item) { return item.hash; },
//                [](const Item& a, const Item& b) { return a.hash != b.hash ? … : …; });
//
//   sort_by_hash            in place (McIlroy, Bostic and McIlroy 1993): at most two bytes per item
//   stable_sort_by_hash     through `space`, which is as large as the items: a third of the time
//
// Thread: one.
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

// Equal ones stay in their order. `space` is for the call alone; whoever keeps it saves its making.
template <typename Item, typename HashOf, typename Before>
void stable_sort_by_hash(std::vector<Item>& items, std::vector<Item>& space, HashOf&& hash_of,
                         Before&& before) {
  constexpr std::size_t items_per_range = 2;
  constexpr std::uint32_t most_moved_one_by_one = 32;  // of a range; in one with more of them
  if (items.size() < 2) return;
  HUMMER_ASSERT(items.size() <= std::numeric_limits<std::uint32_t>::max());
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
  std::vector<std::uint32_t> ends(((last - first) >> shift) + 1);
  for (const Item& item : items) ++ends[range_of(item)];
  std::uint32_t begin = 0;
  for (std::uint32_t& end : ends) begin += std::exchange(end, begin);
  space.resize(items.size());
  for (Item& item : items) space[ends[range_of(item)]++] = std::move(item);
  items.swap(space);
  const auto place = [&](std::size_t i) { return items.begin() + static_cast<std::ptrdiff_t>(i); };
  begin = 0;
  for (const std::uint32_t end : ends) {
    if (end - begin > most_moved_one_by_one) std::stable_sort(place(begin), place(end), before);
    begin = end;
  }
  for (std::size_t i = 1; i < items.size(); ++i) {
    if (!before(items[i], items[i - 1])) continue;
    Item item = std::move(items[i]);
    std::size_t to = i;
    do {
      items[to] = std::move(items[to - 1]);
      --to;
    } while (to > 0 && before(item, items[to - 1]));
    items[to] = std::move(item);
  }
}

}  // namespace hummer
