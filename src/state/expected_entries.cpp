#include <hummer/detail/state/expected_entries.hpp>

#include "state/expected_kernels.hpp"

namespace hummer {

HashNumbers hash_numbers_function(InstructionSet level) {
  return level >= InstructionSet::v4 ? hash_numbers_v4 : hash_numbers_v2;
}

ExpectedEntries::ExpectedEntries(InstructionSet level)
    : hash_numbers_(hash_numbers_function(level)), is_v4_(level >= InstructionSet::v4) {}

void ExpectedEntries::find(const EntryIndex& index, const EntrySlabs& slabs, std::size_t count) {
  static_assert(sizeof(EntryPlace) == EntryIndex::place_bytes && EntrySlabs::slab_entries == 256);
  if (index.size() == 0) {
    entries_.fill(nullptr);
    return;
  }
  if (index.growing()) {  // the kernels do not know of it
    for (std::size_t i = 0; i < count; ++i) index.expect(hashes[i]);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t number = index.find_any(hashes[i]);
      entries_[i] = number == EntryIndex::none ? nullptr : slabs.at(number);
    }
    return;
  }
  const EntryTable table{.places = static_cast<const EntryPlace*>(index.memory()),
                         .mask = index.capacity() - 1,
                         .shift = index.shift(),
                         .blocks = reinterpret_cast<char* const*>(slabs.blocks()),
                         .block_bytes = slabs.block_bytes()};
  (is_v4_ ? find_expected_v4 : find_expected_v2)(table, hashes.data(), count, entries_.data());
}

}  // namespace hummer
