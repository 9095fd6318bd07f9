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
// A snapshot of everything needs no second bit: what has not changed since it began, and lies where
// its scan has not been, is yet to be written.
//
// Where most of a table changes between two snapshots, marks only cost (a cache line for each
// change): as soon as a sample shows it, or a delta turned out so, the next ones are of everything,
// without marks, until a look is taken again.
//
// Lifecycle: nothing is kept before the first freeze, which is of everything; from then on changes
// are. Thread: that of the table. Cost of a freeze: nothing for a delta; one of everything clears
// the bits, 4 MiB for a table of 32 million slots, in huge pages. Those of large tables are made
// when the table grows, whether they will be needed or not (one byte for 64 of the table's): growth
// takes long anyway, and a huge page's first use, which takes the system milliseconds, then does
// not come in the middle of the stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include <hummer/detail/zeroed_pages.hpp>

namespace hummer {

// What a change of an entry asks for: nothing; a mark; a mark, and to save the entry before if the
// snapshot under way has yet to write it.
enum class Tracking : std::uint8_t { none, changes, snapshot };

class ChangeMarks {
 public:
  // Whether there are marks to carry along when entries move.
  bool kept() const { return tracked_ || frozen_; }
  // A snapshot is under way: scan() has not yet finished.
  bool frozen() const { return frozen_; }

  // What is in the slots now is to be written: all, or what has changed since the last time
  // (`may_be_delta`). Answers whether only that, or all in its place. One under way is given up,
  // and then all is.
  bool freeze(std::size_t slots, bool may_be_delta);
  // `most`: of the entries were in it.
  void written(bool most) {
    frozen_ = false;
    if (by_marks_ && most) stop_tracking();
  }
  // Between two freezes: most entries have changed already, which the next snapshot takes for all.
  void stop_tracking() {
    tracked_ = false;
    freezes_without_marks_ = freezes_between_looks;
  }
  // As before the first freeze; keeps the memory.
  void reset();

  // REQUIRES: frozen(). The slot is about to change; whether what it holds is to be saved first.
  // `written`: the scan has been there, which only matters to a snapshot of everything.
  bool changing(std::size_t slot, bool written) {
    const std::uint64_t bit = std::uint64_t{1} << (slot % 64);
    std::uint64_t& changed = word(changed_, slot);
    const bool first = (changed & bit) == 0;
    changed |= bit;
    if (whole_) return first && !written;
    std::uint64_t& pending = word(pending_, slot);
    if ((pending & bit) == 0) return false;
    pending ^= bit;
    return true;
  }
  // REQUIRES: Tracking::changes. While no snapshot is under way this is all that a change needs; a
  // slot that is marked without a change is written once more, no worse.
  void mark(std::size_t slot) { word(changed_, slot) |= std::uint64_t{1} << (slot % 64); }
  Tracking tracking() const {
    return frozen_ ? Tracking::snapshot : tracked_ ? Tracking::changes : Tracking::none;
  }

  // REQUIRES: kept(). Those that have changed among 16 slots from `slot` on, a multiple of 16.
  std::uint32_t changed_from(std::size_t slot) const {
    return static_cast<std::uint32_t>(word(changed_, slot) >> (slot % 64)) & 0xFFFF;
  }
  // REQUIRES: frozen(). Those yet to be written among 16 slots from `slot` on, a multiple of 16,
  // where the scan has not been.
  std::uint32_t pending_from(std::size_t slot) const {
    const std::uint64_t bits = whole_ ? ~word(changed_, slot) : word(pending_, slot);
    return static_cast<std::uint32_t>(bits >> (slot % 64)) & 0xFFFF;
  }
  // The scan has been there.
  void drop_pending(std::size_t slot, std::uint32_t slots) {
    if (!whole_) word(pending_, slot) &= ~(std::uint64_t{slots} << (slot % 64));
  }

  // Growth: the marks as they were; from now on there are none, until carry() brings them along
  // with the entries.
  ChangeMarks grow(std::size_t slots);
  // REQUIRES: kept(). `written` as in changing(), of the slot `from`.
  void carry(const ChangeMarks& old, std::size_t from, bool written, std::size_t to) {
    const std::uint64_t changed = bit(old.changed_, from);
    word(changed_, to) |= changed << (to % 64);
    if (!frozen_) return;
    const std::uint64_t pending =
        old.whole_ ? std::uint64_t{changed == 0 && !written} : bit(old.pending_, from);
    word(pending_, to) |= pending << (to % 64);
  }

  // Growth in steps: there are more slots from now on, up to `slots`, and the marks of those that
  // were there stay; where an entry moves to another slot, they go with it. `written` as in
  // changing(), of each 16 slots from a multiple of 16 on.
  template <typename Written>
  void widen(std::size_t old_slots, std::size_t slots, Written&& written) {
    if (!make_wider(slots)) return;
    for (std::size_t slot = 0; slot < old_slots; slot += 16) {
      const std::uint64_t unchanged = ~word(changed_, slot) >> (slot % 64) & 0xFFFF;
      if (!written(slot)) word(pending_, slot) |= unchanged << (slot % 64);
    }
  }
  struct OfSlot {
    bool changed;
    bool pending;
  };
  // REQUIRES: kept(), behind widen(). The slot has none then.
  OfSlot take(std::size_t slot) {
    const OfSlot marks{bit(changed_, slot) != 0, frozen_ && !whole_ && bit(pending_, slot) != 0};
    put(slot, {});
    return marks;
  }
  void put(std::size_t slot, const OfSlot& marks) {
    set_bit(changed_, slot, marks.changed);
    if (frozen_ && !whole_) set_bit(pending_, slot, marks.pending);
  }

 private:
  static constexpr std::uint8_t freezes_between_looks = 7;
  static constexpr std::size_t large_slots = std::size_t{16} << 20;

  static std::uint64_t& word(const ZeroedPages& bits, std::size_t slot) {
    return static_cast<std::uint64_t*>(bits.data())[slot / 64];
  }
  static std::uint64_t bit(const ZeroedPages& bits, std::size_t slot) {
    return word(bits, slot) >> (slot % 64) & 1;
  }
  static void set_bit(const ZeroedPages& bits, std::size_t slot, bool to) {
    std::uint64_t& of_slot = word(bits, slot);
    of_slot = (of_slot & ~(std::uint64_t{1} << (slot % 64))) | std::uint64_t{to} << (slot % 64);
  }
  // Whether what the snapshot under way has yet to write was not known by pending_, and is from now
  // on.
  bool make_wider(std::size_t slots);
  // Room for so many bits, none of them set.
  static void clear(ZeroedPages& bits, std::size_t slots);

  ZeroedPages changed_;
  ZeroedPages pending_;   // zero where no snapshot is under way
  bool begun_ = false;    // there was a freeze
  bool tracked_ = false;  // changes since the last one are marked; else all counts as changed
  bool frozen_ = false;
  bool by_marks_ = false;  // the newest freeze
  bool whole_ = false;     // what it has yet to write is known by changed_ and where its scan is
  std::uint8_t freezes_without_marks_ = 0;
};

}  // namespace hummer
