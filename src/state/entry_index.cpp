#include <hummer/detail/state/entry_index.hpp>

#include <bit>
#include <utility>

#include <hummer/status.hpp>

namespace hummer {

void EntryIndex::insert(std::uint32_t entry, std::uint64_t hash) {
  if (is_full_with(size_ + 1)) grow();
  put({entry + 1, tag(hash)});
  ++size_;
}

void EntryIndex::erase(std::uint32_t entry, std::uint64_t hash) {
  std::size_t hole = home(tag(hash));
  while (places()[hole].number != entry + 1) hole = next(hole);
  // A place further on moves into the hole unless its home lies behind the hole.
  for (std::size_t at = next(hole); places()[at].number != 0; at = next(at)) {
    const std::size_t from_home = (at - home(places()[at].tag)) & (capacity_ - 1);
    if (from_home < ((at - hole) & (capacity_ - 1))) continue;
    places()[hole] = places()[at];
    hole = at;
  }
  places()[hole] = {};
  --size_;
}

void EntryIndex::put(const Place& place) {
  std::size_t at = home(place.tag);
  while (places()[at].number != 0) at = next(at);
  places()[at] = place;
}

// Where a sixth is used, three quarters of the half are more than twice that.
void EntryIndex::shrink() {
  std::size_t capacity = capacity_;
  while (capacity > least_capacity && size_ * 6 <= capacity) capacity /= 2;
  if (capacity < capacity_) change_capacity(capacity);
}

// Homes are in the order of the tags in either size: both are gone through in the order of memory.
void EntryIndex::change_capacity(std::size_t capacity) {
  const std::size_t old_capacity = std::exchange(capacity_, capacity);
  HUMMER_ASSERT(capacity_ <= std::size_t{1} << 32);  // tags tell no more places apart
  shift_ = 32 - static_cast<unsigned>(std::countr_zero(capacity_));
  const ZeroedPages old = std::exchange(pages_, ZeroedPages(memory_bytes()));
  const auto* const places = static_cast<const Place*>(old.data());
  for (std::size_t i = 0; i < old_capacity; ++i) {
    if (places[i].number != 0) put(places[i]);
  }
}

}  // namespace hummer
