// EntryIndex: finds entries that lie elsewhere, by number, from the hash of their key.
//
// Open addressing with linear probing; a place is an entry's number and 32 bits of its hash, eight
// bytes, so that other keys' entries are hardly ever looked at. Those 32 bits also say where the
// search begins: the index grows, shrinks and closes gaps without looking at any entry. Removal
// moves the places behind it back: there are no tombstones, and an index that loses entries and
// gets others stays as quick as it was. At most three quarters of the places are used.
//
// A large one grows in steps, as HashSlots do (hash_slots.hpp): a few places move with each insert
// and with grow_on(), which whoever looks many up calls meanwhile.
//
// Memory comes in huge pages where that pays (zeroed_pages.hpp). Thread: one.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include <hummer/detail/zeroed_pages.hpp>

namespace hummer {

class EntryIndex {
 public:
  static constexpr std::uint32_t none = UINT32_MAX;

  std::size_t size() const { return size_; }
  std::size_t memory_bytes() const { return capacity_ * sizeof(Place); }
  // What growing takes for a moment beside that, if so many more entries come; 0: they have room.
  std::size_t growth_bytes(std::size_t more) const {
    return is_full_with(size_ + more) ? 2 * memory_bytes() : 0;
  }

  // The entry with this hash for which same(number) holds, or none.
  template <typename Same>
  std::uint32_t find(std::uint64_t hash, Same&& same) const {
    if (size_ == 0) return none;
    for (std::size_t at = home(tag(hash)); places()[at].number != 0; at = next(at)) {
      if (places()[at].tag == tag(hash) && same(places()[at].number - 1)) {
        return places()[at].number - 1;
      }
    }
    return none;
  }
  // A growth is under way: a search begins where home() says.
  bool growing() const { return unmoved_ > 0; }
  // REQUIRES: growing(). What so many look-ups do for it.
  void grow_on(std::size_t look_ups);
  // An entry that has these 32 bits of its hash, or none.
  std::uint32_t find_any(std::uint64_t hash) const {
    return find(hash, [](std::uint32_t) { return true; });
  }
  // Where an entry with this hash is comes near.
  void expect(std::uint64_t hash) const { __builtin_prefetch(&places()[home(tag(hash))], 1); }
  // REQUIRES: it is not there, and `entry` is not none.
  void insert(std::uint32_t entry, std::uint64_t hash);
  // REQUIRES: it is there.
  void erase(std::uint32_t entry, std::uint64_t hash);

  // Gives memory back where half of it has room for more than twice the entries; O(capacity) then.
  void shrink();

  // For those that look at its places themselves (expected_entries.hpp).
  static constexpr std::size_t place_bytes = 8;
  const void* memory() const { return pages_.data(); }
  std::size_t capacity() const { return capacity_; }
  unsigned shift() const { return shift_; }

 private:
  struct Place {
    std::uint32_t number;  // of the entry, and 1; 0: free
    std::uint32_t tag;
  };

  // The top bits of the hash are the key group's, equal for neighbours: not those.
  static std::uint32_t tag(std::uint64_t hash) { return static_cast<std::uint32_t>(hash); }
  std::size_t home(std::uint32_t tag) const {
    const std::size_t home = tag >> shift_;
    return home < 2 * unmoved_ ? home / 2 : home;
  }
  std::size_t next(std::size_t at) const { return (at + 1) & (capacity_ - 1); }
  Place* places() const { return static_cast<Place*>(pages_.data()); }

  bool is_full_with(std::size_t entries) const { return entries * 4 > capacity_ * 3; }
  void put(const Place& place);
  void grow();
  void put_anew(std::size_t begin, std::size_t end);
  void change_capacity(std::size_t capacity);

  static constexpr std::size_t least_capacity = 64;

  ZeroedPages pages_;
  std::size_t capacity_ = 0;
  std::size_t size_ = 0;
  unsigned shift_ = 0;
  std::size_t unmoved_ = 0;  // places that lie as before the growth under way
  std::size_t owed_places_ = 0;
};

}  // namespace hummer
