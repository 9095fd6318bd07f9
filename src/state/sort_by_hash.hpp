// Sorting by a hash that is about evenly spread, and equal hashes as `before` says. Where an item
// comes is nearly known from its hash alone: items are dealt to ranges of hashes that get a few
// each, and compared within one only. Where they are not spread it is comparing all.
//
//   sort_by_hash(std::span(items), [](const Item& item) { return item.hash; },
//                [](const Item& a, const Item& b) { return a.hash != b.hash ? … : …; });
//
//   sort_by_hash            in place (McIlroy, Bostic and McIlroy 1993): at most two bytes per item
//   stable_sort_by_hash     through `space`, which is as large as the items; takes less time
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

// Ranges of hashes that get about so many of the items each.
template <typename HashOf>
class HashRanges {
 public:
  template <typename Item>
  HashRanges(std::span<const Item> items, std::size_t items_each, HashOf& hash_of)
      : hash_of_(hash_of) {
    HUMMER_ASSERT(items.size() <= std::numeric_limits<std::uint32_t>::max());
    std::uint64_t last = 0;
    for (const Item& item : items) {
      first_ = std::min<std::uint64_t>(first_, hash_of(item));
      last = std::max<std::uint64_t>(last, hash_of(item));
    }
    const auto bits = static_cast<int>(std::bit_width(items.size() / items_each));
    shift_ = std::max(0, static_cast<int>(std::bit_width(last - first_)) - bits);
    ends_.resize(((last - first_) >> shift_) + 1);
    for (const Item& item : items) ++ends_[of(item)];
    std::uint32_t behind = 0;
    for (std::uint32_t& end : ends_) end = behind += end;
  }
  template <typename Item>
  std::size_t of(const Item& item) const {
    return static_cast<std::size_t>((hash_of_(item) - first_) >> shift_);
  }
  // Where each ends when all items are in order of their ranges.
  const std::vector<std::uint32_t>& ends() const { return ends_; }

 private:
  HashOf& hash_of_;
  std::uint64_t first_ = std::numeric_limits<std::uint64_t>::max();
  int shift_ = 0;
  std::vector<std::uint32_t> ends_;
};

template <typename Item, typename HashOf, typename Before>
void sort_by_hash(std::span<Item> items, HashOf&& hash_of, Before&& before) {
  constexpr std::size_t least_items = 256;  // of fewer comparing all is as quick
  constexpr std::size_t items_per_range = 8;
  if (items.size() < least_items) return std::sort(items.begin(), items.end(), before);
  const HashRanges ranges(std::span<const Item>(items), items_per_range, hash_of);
  const std::vector<std::uint32_t>& ends = ranges.ends();
  // Each range is filled from its end: it is complete where its end meets that of the one before.
  std::vector<std::uint32_t> open = ends;
  for (std::size_t range = 0; range < ends.size(); ++range) {
    const std::uint32_t begin = range == 0 ? 0 : ends[range - 1];
    while (open[range] > begin) {
      Item item = std::move(items[open[range] - 1]);
      for (std::size_t to = ranges.of(item); to != range; to = ranges.of(item)) {
        std::swap(item, items[--open[to]]);
      }
      items[--open[range]] = std::move(item);
    }
    std::sort(items.begin() + begin, items.begin() + ends[range], before);
  }
}

// As std::stable_sort, in a tenth of its code. `space` is as large as the items.
template <typename Item, typename Before>
void sort_by_merging(std::span<Item> items, Item* space, Before& before) {
  const auto place = [&](std::size_t i) {
    return items.begin() + static_cast<std::ptrdiff_t>(std::min(i, items.size()));
  };
  for (std::size_t width = 1; width < items.size(); width *= 2) {
    Item* to = space;
    for (std::size_t begin = 0; begin < items.size(); begin += 2 * width) {
      to = std::merge(place(begin), place(begin + width), place(begin + width),
                      place(begin + 2 * width), to, before);
    }
    std::move(space, to, items.begin());
  }
}

// Equal ones stay in their order. `space` is for the call alone; whoever keeps it saves its making.
template <typename Item, typename HashOf, typename Before>
void stable_sort_by_hash(std::vector<Item>& items, std::vector<Item>& space, HashOf&& hash_of,
                         Before&& before) {
  constexpr std::size_t items_per_range = 2;
  constexpr std::uint32_t most_moved_one_by_one = 32;  // of a range; else all are compared
  if (items.size() < 2) return;
  const HashRanges ranges(std::span<const Item>(items), items_per_range, hash_of);
  std::vector<std::uint32_t> open = ranges.ends();
  space.resize(items.size());
  for (std::size_t i = items.size(); i-- > 0;) {
    space[--open[ranges.of(items[i])]] = std::move(items[i]);
  }
  items.swap(space);
  std::size_t begin = 0;
  for (const std::size_t end : ranges.ends()) {
    if (end - begin > most_moved_one_by_one) {
      sort_by_merging(std::span(items).subspan(begin, end - begin), space.data(), before);
    }
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
