// HashRange: the hashes of neighbouring key groups, such as those of a subtask. HashDivider: which
// of many keys are in one, and which are not.
//
//   const HashRange own = HashRange::of_owner(subtask, parallelism, groups);
//   divider.set(i, key); … divider.hash<K>(count);
//   const std::size_t inside = divider.divide(count, own);
//   divider.inside(inside), divider.outside(count - inside)      their places
//
// No processor foresees whose a key is, so there is no branch. Thread: one. Cost: about half a
// nanosecond per key beside its hash.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include <hummer/detail/key_hash.hpp>
#include <hummer/detail/state/hash_numbers.hpp>

namespace hummer {

// By the upper half of a hash, which its key group is made of.
struct HashRange {
  std::uint32_t first = 0;
  std::uint64_t size = 0;

  // REQUIRES: owner < parallelism. Empty where it owns no group.
  static HashRange of_owner(std::uint32_t owner, std::uint32_t parallelism, std::uint32_t groups);

  bool has(std::uint64_t hash) const { return (hash >> 32) - first < size; }
};

class HashDivider {
 public:
  static constexpr std::size_t most = 256;

  explicit HashDivider(InstructionSet level = best_instruction_set());

  // REQUIRES: i < most.
  template <typename K>
  void set(std::size_t i, const K& key) {
    if constexpr (hashed_together<K>) {
      numbers_[i] = static_cast<std::uint64_t>(key);
    } else {
      hashes_[i] = key_hash(key);
    }
  }
  // Of the first `count`, which are set.
  template <typename K>
  void hash(std::size_t count) {
    if constexpr (hashed_together<K>) hash_numbers_(numbers_.data(), count, hashes_.data());
  }
  // How many of them are in it; REQUIRES: they are hashed.
  std::size_t divide(std::size_t count, const HashRange& range) {
    return divide_(hashes_.data(), count, range.first, range.size, inside_.data(), outside_.data());
  }
  // Of those that are, and of the others, in order.
  std::span<const std::uint8_t> inside(std::size_t count) const { return {inside_.data(), count}; }
  std::span<const std::uint8_t> outside(std::size_t count) const {
    return {outside_.data(), count};
  }

 private:
  using Divide = std::size_t (*)(const std::uint64_t* hashes, std::size_t count,
                                 std::uint64_t first, std::uint64_t size, std::uint8_t* inside,
                                 std::uint8_t* outside);

  template <typename K>
  static constexpr bool hashed_together =
      std::is_integral_v<K> && sizeof(K) == sizeof(std::uint64_t);

  const HashNumbers hash_numbers_;
  const Divide divide_;
  std::array<std::uint64_t, most> numbers_;
  std::array<std::uint64_t, most> hashes_;
  // Eight are written at a time, of which the last ones may not count.
  std::array<std::uint8_t, most + 8> inside_;
  std::array<std::uint8_t, most + 8> outside_;
};

}  // namespace hummer
