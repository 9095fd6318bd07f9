#include <hummer/detail/state/entry_index.hpp>

namespace hummer {

void EntryIndex::insert(KeyedEntry& entry) {
  if (is_full_with(size_ + 1)) grow();
  place(entry);
  ++size_;
}

void EntryIndex::erase(const KeyedEntry& entry) {
  std::size_t hole = home(entry.hash);
  while (slots_[hole].entry != &entry) hole = next(hole);
  // A slot further on moves into the hole unless its home lies behind the hole.
  for (std::size_t at = next(hole); slots_[at].entry != nullptr; at = next(at)) {
    const std::size_t from_home = (at - home(slots_[at].entry->hash)) & mask();
    if (from_home < ((at - hole) & mask())) continue;
    slots_[hole] = slots_[at];
    hole = at;
  }
  slots_[hole] = {};
  --size_;
}

void EntryIndex::place(KeyedEntry& entry) {
  std::size_t at = home(entry.hash);
  while (slots_[at].entry != nullptr) at = next(at);
  slots_[at] = {&entry, tag(entry.hash)};
}

void EntryIndex::grow() {
  std::vector<Slot> old(slots_.empty() ? std::size_t{64} : slots_.size() * 2);
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.entry != nullptr) place(*slot.entry);
  }
}

}  // namespace hummer
