// KeyedTimers: the timers of a KeyedStore's entries, of both kinds of time.
//
// Each entry has its first timer of each kind in a heap; further ones wait in a set of their own.
// So a key with one timer, as nearly all have, costs no allocation, and its order is found in a
// heap of 24 bytes per key whose items know where they are: a timer goes as quickly as it came.
//
// Equal times follow each other in the order of their keys (KeyForm). Thread: that of the store.
// Cost: O(log n) per call, O(1) for a timer that comes behind all others.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <vector>

#include <hummer/detail/state/store_entry.hpp>

namespace hummer {

struct TimersOfKey {
  static constexpr std::uint32_t none = UINT32_MAX;
  struct OfKind {
    Timestamp first = end_of_time;
    std::unique_ptr<std::set<Timestamp>> later;  // null: none
    std::uint32_t position = none;               // of the first in the heap
  };
  KeyedEntry* entry = nullptr;
  std::array<OfKind, 2> kinds;  // by TimerKind
};

class KeyedTimers {
 public:
  explicit KeyedTimers(KeyForm keys) : keys_(keys) {}
  // Once: where an entry says what it has. Without a place for it there are no timers.
  void set_parts(const EntryParts& parts) { parts_ = parts; }
  bool possible() const { return parts_.timers != 0; }

  bool empty(TimerKind kind) const { return heap(kind).empty(); }
  // REQUIRES: not empty.
  Timestamp first_time(TimerKind kind) const { return heap(kind).front().time; }
  StoreEntry& first_entry(TimerKind kind) const { return entry_of(heap(kind).front()); }

  // Null: none.
  const TimersOfKey* of(const StoreEntry& entry) const { return parts_.timers_of(entry); }
  // How many the entry has.
  std::uint32_t count(const StoreEntry& entry) const;
  // visit(kind, time), in order within each kind.
  template <typename Visit>
  void for_each(const StoreEntry& entry, Visit&& visit) const {
    const TimersOfKey* const timers = of(entry);
    if (timers == nullptr) return;
    for (const TimerKind kind : {TimerKind::event, TimerKind::processing}) {
      const TimersOfKey::OfKind& own = of_kind(*timers, kind);
      if (own.position == TimersOfKey::none) continue;
      visit(kind, own.first);
      if (own.later == nullptr) continue;
      for (const Timestamp time : *own.later) visit(kind, time);
    }
  }

  // False: it is there already. REQUIRES: possible().
  bool add(TimerKind kind, Timestamp time, StoreEntry& entry);
  // False: there is none.
  bool remove(TimerKind kind, Timestamp time, StoreEntry& entry);
  // All of the entry's.
  void clear(StoreEntry& entry);

  // What they hold of memory, about.
  std::size_t memory_bytes() const;

 private:
  struct Item {
    Timestamp time = 0;
    std::uint64_t prefix = 0;  // of the key
    TimersOfKey* of = nullptr;
  };

  std::vector<Item>& heap(TimerKind kind) { return heaps_[static_cast<std::size_t>(kind)]; }
  const std::vector<Item>& heap(TimerKind kind) const {
    return heaps_[static_cast<std::size_t>(kind)];
  }
  template <typename Timers>
  static auto of_kind(Timers& timers, TimerKind kind)
      -> decltype((timers.kinds[static_cast<std::size_t>(kind)])) {
    return timers.kinds[static_cast<std::size_t>(kind)];
  }
  static StoreEntry& entry_of(const Item& item) {
    return static_cast<StoreEntry&>(*item.of->entry);
  }
  bool before(const Item& a, const Item& b) const;

  TimersOfKey& obtain(StoreEntry& entry);
  void release_if_unused(StoreEntry& entry);
  void put(TimerKind kind, std::size_t at, const Item& item);
  void sift_up(TimerKind kind, std::size_t at, const Item& item);
  void sift_down(TimerKind kind, std::size_t at, const Item& item);
  void take_out(TimerKind kind, TimersOfKey::OfKind& own);

  const KeyForm keys_;
  EntryParts parts_;
  std::array<std::vector<Item>, 2> heaps_;  // by TimerKind
  std::deque<TimersOfKey> blocks_;
  std::vector<TimersOfKey*> free_;
  std::size_t later_count_ = 0;
};

}  // namespace hummer
