// ExpectedEntries: the entries of many keys, looked up together: what has to be read of memory to
// find one does not wait for what is read for the others.
//
//   expected.numbers[i] = key; … expected.hash_numbers(count);   of integers of eight bytes
//   expected.hashes[i] = key_hash(key);                          of other keys
//   expected.find(index, slabs, count);
//   expected.entry(i)                   may be the key's; null: the key is to be looked up
//
// An entry has the lower half of the key's hash, which says nearly always that it is the key's.
// Nothing is known of it any more once an entry has been removed.
//
// Thread: one. Cost: a line of the index per key, nearly always, which is compared as a whole.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <hummer/detail/state/entry_index.hpp>
#include <hummer/detail/state/entry_slabs.hpp>
#include <hummer/detail/state/hash_numbers.hpp>
#include <hummer/detail/state/store_entry.hpp>

namespace hummer {

class ExpectedEntries {
 public:
  static constexpr std::size_t most = 64;

  explicit ExpectedEntries(InstructionSet level = best_instruction_set());

  std::array<std::uint64_t, most> numbers;
  std::array<std::uint64_t, most> hashes;
  void hash_numbers(std::size_t count) { hash_numbers_(numbers.data(), count, hashes.data()); }
  void find(const EntryIndex& index, const EntrySlabs& slabs, std::size_t count);
  StoreEntry* entry(std::size_t i) const { return static_cast<StoreEntry*>(entries_[i]); }

 private:
  const HashNumbers hash_numbers_;
  const bool is_v4_;
  std::array<void*, most> entries_;
};

}  // namespace hummer
