// KeyGroups: a range of key groups (key_hash.hpp), and KeyGroupBlock: a stretch of a snapshot whose
// entries are all of keys in such a range. Who restores reads only the blocks that may hold its own
// keys. RestoredKeys: the same seen from a restore. Values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <hummer/detail/key_hash.hpp>

namespace hummer {

// Both ends are in it; one whose first is behind its last is empty.
struct KeyGroups {
  std::uint32_t first = 0;
  std::uint32_t last = UINT32_MAX;

  // Those that a subtask owns; with more subtasks than groups it may be none.
  static constexpr KeyGroups of_subtask(std::uint32_t subtask, std::uint32_t parallelism,
                                        std::uint32_t groups) {
    const auto begin = [=](std::uint64_t of) {
      return static_cast<std::uint32_t>((of * groups + parallelism - 1) / parallelism);
    };
    const std::uint32_t behind = begin(std::uint64_t{subtask} + 1);
    return behind == begin(subtask) ? none() : KeyGroups{begin(subtask), behind - 1};
  }
  static constexpr KeyGroups none() { return {UINT32_MAX, 0}; }  // add() makes it what is added

  constexpr bool empty() const { return first > last; }
  constexpr bool all() const { return first == 0 && last == UINT32_MAX; }
  constexpr bool holds(std::uint32_t group) const { return first <= group && group <= last; }
  constexpr bool overlaps(const KeyGroups& other) const {
    return std::max(first, other.first) <= std::min(last, other.last);
  }
  constexpr void add(const KeyGroups& other) {
    first = std::min(first, other.first);
    last = std::max(last, other.last);
  }
  friend constexpr bool operator==(const KeyGroups&, const KeyGroups&) = default;
};

struct KeyGroupBlock {
  std::size_t begin = 0;  // in what one call has written
  std::size_t end = 0;
  KeyGroups groups;
};

// What a restore reads at the moment: the key groups that its file says that these bytes are of,
// and whether one of another group was found among them.
struct RestoredKeys {
  KeyGroups at_hand;
  bool contradicted = false;
};

}  // namespace hummer
