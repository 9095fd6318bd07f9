// EntryIndex: finds entries that lie elsewhere by the hash of their key.
//
// Open addressing with linear probing; a slot is a pointer and 32 bits of the hash,
// so that other keys' entries are hardly ever looked at. Removal moves the slots
// behind it back: there are no tombstones, and an index that shrinks and grows
// again stays as quick as it was. At most three quarters of the slots are used.
//
// The index does not own the entries. Thread: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <hummer/detail/state/keyed_backend.hpp>

namespace hummer {

class EntryIndex {
 public:
  std::size_t size() const { return size_; }
  std::size_t memory_bytes() const { return slots_.capacity() * sizeof(Slot); }
  // What growing takes for a moment beside that, if so many more entries come; 0: they have room.
  std::size_t growth_bytes(std::size_t more) const {
    return is_full_with(size_ + more) ? 2 * memory_bytes() : 0;
  }

  // The entry with this hash for which same(entry) holds, or null.
  template <typename Same>
  KeyedEntry* find(std::uint64_t hash, Same&& same) const {
    if (size_ == 0) return nullptr;
    for (std::size_t at = home(hash); slots_[at].entry != nullptr; at = next(at)) {
      if (slots_[at].tag == tag(hash) && slots_[at].entry->hash == hash &&
          same(*slots_[at].entry)) {
        return slots_[at].entry;
      }
    }
    return nullptr;
  }
  // REQUIRES: it is not there.
  void insert(KeyedEntry& entry);
  // REQUIRES: it is there.
  void erase(const KeyedEntry& entry);

 private:
  struct Slot {
    KeyedEntry* entry = nullptr;
    std::uint32_t tag = 0;
  };

  // The top bits of the hash are the key group's, equal for neighbours: not those.
  std::size_t home(std::uint64_t hash) const { return static_cast<std::size_t>(hash) & mask(); }
  static std::uint32_t tag(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }
  std::size_t mask() const { return slots_.size() - 1; }
  std::size_t next(std::size_t at) const { return (at + 1) & mask(); }

  bool is_full_with(std::size_t entries) const { return entries * 4 > slots_.size() * 3; }

  void place(KeyedEntry& entry);
  void grow();

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace hummer
