// KeyedTimers: the timers of a KeyedStore's entries, of both kinds of time.
//
// Each entry has its first timer of each kind in a queue; further ones wait in a set of their own.
// So a key with one timer, as nearly all have, costs no allocation: 24 bytes, or 40 where the store
// has timers of both kinds, and 24 in the queue. Who has had several of a kind keeps the set, which
// may be empty by then, until it has none of any kind.
//
// The queue is a radix heap (Ahuja, Mehlhorn, Orlin and Tarjan, 1990): timers lie unordered in
// buckets by the highest bit in which their time differs from that of the last one that was sorted.
// The lowest bucket is sorted when its turn has come, where it is small, or dealt to lower ones. A
// timer that is removed, or is no longer its key's first, stays where it is and is passed over when
// its turn comes: its serial number is not its key's any more. Where there are more of those than
// others, they are swept out.
//
// Equal times follow each other in the order of their keys (KeyForm). Thread: that of the store.
// Cost: a timer is written down once, moved at most a few times to a lower bucket, and sorted among
// a few hundred; to remove it costs nothing but the look at its key. Where many come that are
// earlier than those sorted already, they wait in a binary heap.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include <hummer/detail/state/store_entry.hpp>

namespace hummer {

// Of the one kind that its store has timers of, or of the first of two: TimersOfBothKinds.
struct TimersOfKey {
  struct Several {
    Timestamp first = end_of_time;
    std::set<Timestamp> later;
  };
  union Times {
    Timestamp first = end_of_time;
    Several* several;  // owned
  };
  struct State {
    std::uint32_t serial : 30 = 0;  // changes with the first one
    std::uint32_t is_set : 1 = 0;
    std::uint32_t has_several : 1 = 0;  // which of its Times it is
  };
  KeyedEntry* entry = nullptr;
  Times times;
  std::uint32_t number = 0;  // its own
  State state;
};
struct TimersOfBothKinds : TimersOfKey {
  Times second_times;
  State second_state;
};
static_assert(sizeof(TimersOfKey) == 24 && sizeof(TimersOfBothKinds) == 40);

class KeyedTimers {
 public:
  explicit KeyedTimers(KeyForm keys) : keys_(keys) {}
  KeyedTimers(const KeyedTimers&) = delete;
  KeyedTimers& operator=(const KeyedTimers&) = delete;
  ~KeyedTimers();
  // Once: where an entry says what it has, and of which kinds. Without a place for it there are no
  // timers.
  void set_parts(const EntryParts& parts, TimerKinds kinds) {
    parts_ = parts;
    kinds_ = kinds;
  }
  bool possible() const { return parts_.timers != 0; }

  bool empty(TimerKind kind) const { return queue(kind).live == 0; }
  struct Timer {
    Timestamp time = end_of_time;
    StoreEntry* entry = nullptr;
  };
  // REQUIRES: not empty.
  Timer first(TimerKind kind) {
    const Item& item = first(queue(kind));
    return {time_of(item.time), &entry_of(item)};
  }

  // Whether the entry has one.
  bool any(const StoreEntry& entry) const { return of(entry) != nullptr; }
  // Its first one; none: it has none of this kind.
  std::optional<Timestamp> first_of(const StoreEntry& entry, TimerKind kind) const {
    if (!any(entry) || !kinds_.has(kind) || !is_set(*of(entry), kind)) return {};
    return first_time_of(*of(entry), kind);
  }
  // How many the entry has.
  std::uint32_t count(const StoreEntry& entry) const;
  // visit(kind, time), in order within each kind.
  template <typename Visit>
  void for_each(const StoreEntry& entry, Visit&& visit) const {
    for (const TimerKind kind : {TimerKind::event, TimerKind::processing}) {
      const std::optional<Timestamp> first = first_of(entry, kind);
      if (!first) continue;
      visit(kind, *first);
      if (!state_of(*of(entry), kind).has_several) continue;
      for (const Timestamp time : times_of(*of(entry), kind).several->later) visit(kind, time);
    }
  }

  // False: it is there already. REQUIRES: possible(), of this kind.
  bool add(TimerKind kind, Timestamp time, StoreEntry& entry);
  // False: there is none.
  bool remove(TimerKind kind, Timestamp time, StoreEntry& entry);
  // All of the entry's.
  void clear(StoreEntry& entry);

  // What they hold of memory, about.
  std::size_t memory_bytes() const;

 private:
  struct Item {
    std::uint64_t time = 0;    // as a number without a sign that is in the same order
    std::uint64_t prefix = 0;  // of the key
    std::uint32_t number = 0;  // of the TimersOfKey
    std::uint32_t serial = 0;
  };
  // The items up to `until` are in `sorted` and, where they came later, in `heap`.
  struct Queue {
    explicit Queue(TimerKind kind_of_time) : kind(kind_of_time) {}

    const TimerKind kind;
    std::vector<Item> sorted;  // the first one at the back
    std::vector<Item> heap;    // by time and prefix
    std::uint64_t until = 0;
    std::array<std::vector<Item>, 64> buckets;  // by the highest bit of time ^ until
    std::uint64_t used = 0;                     // a bit for each of them
    std::size_t live = 0;
    std::size_t stale = 0;  // items that are passed over
  };

  static constexpr std::size_t block_entries = 256;

  Queue& queue(TimerKind kind) { return queues_[static_cast<std::size_t>(kind)]; }
  const Queue& queue(TimerKind kind) const { return queues_[static_cast<std::size_t>(kind)]; }
  // Null: it has none.
  TimersOfKey* of(const StoreEntry& entry) const { return parts_.timers_of(entry); }
  bool is_second(TimerKind kind) const { return kind == TimerKind::processing && kinds_.event; }
  TimersOfKey::State& state_of(TimersOfKey& timers, TimerKind kind) const {
    return is_second(kind) ? static_cast<TimersOfBothKinds&>(timers).second_state : timers.state;
  }
  bool is_set(TimersOfKey& timers, TimerKind kind) const { return state_of(timers, kind).is_set; }
  TimersOfKey::Times& times_of(TimersOfKey& timers, TimerKind kind) const {
    return is_second(kind) ? static_cast<TimersOfBothKinds&>(timers).second_times : timers.times;
  }
  Timestamp& first_time_of(TimersOfKey& timers, TimerKind kind) const {
    TimersOfKey::Times& times = times_of(timers, kind);
    return state_of(timers, kind).has_several ? times.several->first : times.first;
  }
  static constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63;
  static std::uint64_t number_of(Timestamp time) {
    return static_cast<std::uint64_t>(time) ^ sign_bit;
  }
  static Timestamp time_of(std::uint64_t number) {
    return static_cast<Timestamp>(number ^ sign_bit);
  }
  std::size_t timers_bytes() const {
    return kinds_.event && kinds_.processing ? sizeof(TimersOfBothKinds) : sizeof(TimersOfKey);
  }
  TimersOfKey& timers_at(std::uint32_t number) const {
    std::byte* const block = blocks_[number / block_entries].get();
    return *reinterpret_cast<TimersOfKey*>(block + number % block_entries * timers_bytes());
  }
  StoreEntry& entry_of(const Item& item) const {
    return static_cast<StoreEntry&>(*timers_at(item.number).entry);
  }
  bool is_live(const Queue& queue, const Item& item) const {
    return state_of(timers_at(item.number), queue.kind).serial == item.serial;
  }
  static bool comes_before(const Item& a, const Item& b) {
    return a.time != b.time ? a.time < b.time : a.prefix < b.prefix;
  }
  static bool comes_behind(const Item& a, const Item& b);
  bool before(const Item& a, const Item& b) const;  // both live

  TimersOfKey& obtain(StoreEntry& entry);
  void release_if_unused(StoreEntry& entry);
  bool add_later(TimersOfKey& timers, TimerKind kind, Timestamp time);
  bool remove_later(TimersOfKey& timers, TimerKind kind, Timestamp time);
  // None: there is none.
  std::optional<Timestamp> take_first_later(TimersOfKey& timers, TimerKind kind);
  void forget_later(TimersOfKey& timers, TimerKind kind);
  void put(Queue& queue, TimersOfKey& timers);
  static void put_in_bucket(Queue& queue, const Item& item);
  void forget(Queue& queue, TimersOfKey::State& own);
  const Item& first(Queue& queue);
  void pass_stale(Queue& queue);
  void sort_lowest_bucket(Queue& queue);
  void sort(std::vector<Item>& items) const;
  void take_from_heap(Queue& queue);
  void drop_stale(const Queue& queue, std::vector<Item>& items) const;
  void sweep(Queue& queue);
  void deal_anew(Queue& queue);

  const KeyForm keys_;
  EntryParts parts_;
  TimerKinds kinds_;
  std::array<Queue, 2> queues_{Queue(TimerKind::event), Queue(TimerKind::processing)};
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::vector<TimersOfKey*> free_;
  std::size_t several_count_ = 0;
  std::size_t later_count_ = 0;
  std::vector<Item> space_;
};

}  // namespace hummer
