#include <hummer/detail/state/entry_index.hpp>

#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include <hummer/status.hpp>

namespace hummer {
namespace {

// As those of HashSlots.
constexpr std::size_t grows_in_steps_bytes = 4 << 20;
constexpr std::size_t places_per_look_up = 16;
constexpr std::size_t places_at_once = 8192;
constexpr std::size_t places_moved_last = 4096;

}  // namespace

void EntryIndex::insert(std::uint32_t entry, std::uint64_t hash) {
  if (growing()) [[unlikely]]
    grow_on(1);
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

void EntryIndex::grow() {
  if (memory_bytes() < grows_in_steps_bytes || !pages_.grow_in_place(2 * memory_bytes())) {
    return change_capacity(capacity_ == 0 ? least_capacity : 2 * capacity_);
  }
  HUMMER_ASSERT(!growing() && capacity_ < std::size_t{1} << 32);
  unmoved_ = std::exchange(capacity_, 2 * capacity_);
  --shift_;
  std::size_t end = 0;  // of those that had no place before the end
  while (places()[end].number != 0) ++end;
  put_anew(0, end);
}

void EntryIndex::grow_on(std::size_t look_ups) {
  owed_places_ += look_ups * places_per_look_up;
  if (owed_places_ < places_at_once) return;
  const std::size_t moved = std::exchange(owed_places_, 0);
  std::size_t end = unmoved_;  // places of homes below it may be behind it
  while (places()[end].number != 0) ++end;
  unmoved_ -= unmoved_ > moved + places_moved_last ? moved : unmoved_;
  put_anew(unmoved_, end);
}

// Takes these out and puts them where they belong now. REQUIRES: the one at `end` is free.
void EntryIndex::put_anew(std::size_t begin, std::size_t end) {
  const std::vector<Place> moving(places() + begin, places() + end);
  std::memset(static_cast<void*>(places() + begin), 0, moving.size() * sizeof(Place));
  for (const Place& place : moving) {
    if (place.number != 0) put(place);
  }
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
  unmoved_ = owed_places_ = 0;
  shift_ = 32 - static_cast<unsigned>(std::countr_zero(capacity_));
  const ZeroedPages old = std::exchange(pages_, ZeroedPages(memory_bytes()));
  const auto* const places = static_cast<const Place*>(old.data());
  for (std::size_t i = 0; i < old_capacity; ++i) {
    if (places[i].number != 0) put(places[i]);
  }
}

}  // namespace hummer
