// ChangeMarks: which slots of a table have changed since its last snapshot, and which ones the
// snapshot under way has yet to write.
//
// One bit each per slot, beside the table: freezing it is an exchange of the two, an incremental
// snapshot is a filter, and only an entry that changes before it was written is saved first. Nobody
// else reads the table meanwhile: the operator's own thread writes it in steps between batches.
// (Copy on update with dirty bits, as in Salles et al., "An evaluation of checkpoint recovery for
// massively multiplayer online games", VLDB 2009. Bits apart from the entries, and not a byte in
// them, keep an entry of 16 bytes at 16, and those of a million slots in 128 KiB.)
//
// Lifecycle: nothing is kept before the first freeze, which is of everything; from then on changes
// are. Thread: that of the table.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace hummer {

// What a table calls before it changes an entry: of tables whose snapshots nobody takes.
struct SaveNothing {
  template <typename Key, typename V>
  void operator()(const Key&, const V&) const {}
};

class ChangeMarks {
 public:
  bool tracked() const { return tracked_; }
  // A snapshot is under way: scan() has not yet finished.
  bool frozen() const { return frozen_; }

  // What is in the slots now is to be written: all, or what has changed since the last time
  // (`may_be_delta`). Answers whether only that. One under way is given up, and then all is.
  bool freeze(std::size_t slots, bool may_be_delta) {
    const bool delta = may_be_delta && tracked_ && !frozen_;
    if (delta) {
      std::swap(changed_, pending_);
    } else {
      changed_.assign(words(slots), 0);
      pending_.assign(words(slots), ~std::uint64_t{0});
    }
    tracked_ = frozen_ = true;
    return delta;
  }
  void written() { frozen_ = false; }
  void reset() { *this = {}; }

  // REQUIRES: tracked(). The slot is about to change; whether what it holds is to be saved first.
  bool changing(std::size_t slot) {
    const std::uint64_t bit = std::uint64_t{1} << (slot % 64);
    changed_[slot / 64] |= bit;
    if (!frozen_ || (pending_[slot / 64] & bit) == 0) [[likely]]
      return false;
    pending_[slot / 64] ^= bit;
    return true;
  }
  void prefetch(std::size_t slot) const { __builtin_prefetch(&changed_[slot / 64], 1); }

  // The pending ones among 16 slots from `slot` on, a multiple of 16.
  std::uint32_t pending_from(std::size_t slot) const {
    return static_cast<std::uint32_t>(pending_[slot / 64] >> (slot % 64)) & 0xFFFF;
  }
  // Of those, the ones in `slots` will not be written (again).
  void drop_pending(std::size_t slot, std::uint32_t slots) {
    pending_[slot / 64] &= ~(std::uint64_t{slots} << (slot % 64));
  }

  // Growth: the marks as they were; from now on there are none, until carry() brings them along
  // with the entries.
  ChangeMarks grow(std::size_t slots) {
    ChangeMarks old = std::exchange(*this, {});
    tracked_ = old.tracked_;
    frozen_ = old.frozen_;
    if (!tracked_) return old;
    changed_.assign(words(slots), 0);
    pending_.assign(words(slots), 0);
    return old;
  }
  // REQUIRES: tracked().
  void carry(const ChangeMarks& old, std::size_t from, std::size_t to) {
    changed_[to / 64] |= (old.changed_[from / 64] >> (from % 64) & 1) << (to % 64);
    pending_[to / 64] |= (old.pending_[from / 64] >> (from % 64) & 1) << (to % 64);
  }

 private:
  static std::size_t words(std::size_t slots) { return (slots + 63) / 64; }

  std::vector<std::uint64_t> changed_;
  std::vector<std::uint64_t> pending_;  // zero where no snapshot is under way
  bool tracked_ = false;
  bool frozen_ = false;
};

}  // namespace hummer
