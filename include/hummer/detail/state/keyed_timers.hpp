// KeyedTimers<Entry, Order>: the timers of a KeyedStore's entries, of both kinds of time.
//
// Each entry has its first timer of each kind in a heap; further ones wait in a set of their own.
// So a key with one timer, as nearly all have, costs no allocation, and its order is found in a
// heap of 24 bytes per key whose items know where they are: a timer goes as quickly as it came.
//
// Order: says how the keys of equal times follow each other:
//   static Prefix prefix(const Entry&)                        what decides most of the time
//   static bool before(const Entry& a, const Entry& b)        of equal prefixes
//
// Entry: has a member `TimersOfKey* timers`, null at first. Thread: that of the store. Cost:
// O(log n) per call, O(1) for a timer that comes behind all others.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include <hummer/detail/state/keyed_backend.hpp>

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

template <typename Entry, typename Order>
class KeyedTimers {
 public:
  bool empty(TimerKind kind) const { return heap(kind).empty(); }
  // REQUIRES: not empty.
  Timestamp first_time(TimerKind kind) const { return heap(kind).front().time; }
  Entry& first_entry(TimerKind kind) const { return entry_of(heap(kind).front()); }

  // How many the entry has.
  static std::uint32_t count(const Entry& entry) {
    std::uint32_t count = 0;
    for_each(entry, [&](TimerKind, Timestamp) { ++count; });
    return count;
  }
  // visit(kind, time), in order within each kind.
  template <typename Visit>
  static void for_each(const Entry& entry, Visit&& visit) {
    if (entry.timers == nullptr) return;
    for (const TimerKind kind : {TimerKind::event, TimerKind::processing}) {
      const TimersOfKey::OfKind& own = of_kind(*entry.timers, kind);
      if (own.position == TimersOfKey::none) continue;
      visit(kind, own.first);
      if (own.later == nullptr) continue;
      for (const Timestamp time : *own.later) visit(kind, time);
    }
  }

  // False: it is there already.
  bool add(TimerKind kind, Timestamp time, Entry& entry) {
    if (entry.timers == nullptr) entry.timers = &obtain(entry);
    TimersOfKey::OfKind& own = of_kind(*entry.timers, kind);
    if (own.position == TimersOfKey::none) {
      own.first = time;
      heap(kind).emplace_back();
      sift_up(kind, heap(kind).size() - 1, {time, Order::prefix(entry), entry.timers});
      return true;
    }
    if (time == own.first) return false;
    if (own.later == nullptr) own.later = std::make_unique<std::set<Timestamp>>();
    if (!own.later->insert(std::max(time, own.first)).second) return false;
    ++later_count_;
    if (time > own.first) return true;
    own.first = time;
    Item item = heap(kind)[own.position];
    item.time = time;
    sift_up(kind, own.position, item);
    return true;
  }
  // False: there is none.
  bool remove(TimerKind kind, Timestamp time, Entry& entry) {
    if (entry.timers == nullptr) return false;
    TimersOfKey::OfKind& own = of_kind(*entry.timers, kind);
    if (own.position == TimersOfKey::none) return false;
    if (time != own.first) {
      if (own.later == nullptr || own.later->erase(time) == 0) return false;
      --later_count_;
      return true;
    }
    if (own.later != nullptr && !own.later->empty()) {
      own.first = *own.later->begin();
      own.later->erase(own.later->begin());
      --later_count_;
      Item item = heap(kind)[own.position];
      item.time = own.first;
      sift_down(kind, own.position, item);
    } else {
      take_out(kind, own);
      release_if_unused(entry);
    }
    return true;
  }
  // All of the entry's.
  void clear(Entry& entry) {
    if (entry.timers == nullptr) return;
    for (const TimerKind kind : {TimerKind::event, TimerKind::processing}) {
      TimersOfKey::OfKind& own = of_kind(*entry.timers, kind);
      if (own.later != nullptr) later_count_ -= own.later->size();
      own.later.reset();
      if (own.position != TimersOfKey::none) take_out(kind, own);
    }
    release_if_unused(entry);
  }

  // What they hold of memory, about.
  std::size_t memory_bytes() const {
    constexpr std::size_t set_node_bytes = 48;
    return (blocks_.size() - free_.size()) * sizeof(TimersOfKey) +
           (heaps_[0].size() + heaps_[1].size()) * sizeof(Item) + later_count_ * set_node_bytes;
  }

 private:
  struct Item {
    Timestamp time = 0;
    typename Order::Prefix prefix{};
    TimersOfKey* of = nullptr;
  };
  static constexpr std::size_t arity = 4;  // fewer levels than two, with neighbours in one line

  std::vector<Item>& heap(TimerKind kind) { return heaps_[static_cast<std::size_t>(kind)]; }
  const std::vector<Item>& heap(TimerKind kind) const {
    return heaps_[static_cast<std::size_t>(kind)];
  }
  template <typename Timers>
  static auto& of_kind(Timers& timers, TimerKind kind) {
    return timers.kinds[static_cast<std::size_t>(kind)];
  }
  static Entry& entry_of(const Item& item) { return static_cast<Entry&>(*item.of->entry); }
  static bool before(const Item& a, const Item& b) {
    if (a.time != b.time) return a.time < b.time;
    if (a.prefix != b.prefix) return a.prefix < b.prefix;
    return Order::before(entry_of(a), entry_of(b));
  }

  TimersOfKey& obtain(Entry& entry) {
    if (free_.empty()) free_.push_back(&blocks_.emplace_back());
    TimersOfKey& timers = *free_.back();
    free_.pop_back();
    timers.entry = &entry;
    return timers;
  }
  void release_if_unused(Entry& entry) {
    for (TimersOfKey::OfKind& own : entry.timers->kinds) {
      if (own.position != TimersOfKey::none) return;
    }
    for (TimersOfKey::OfKind& own : entry.timers->kinds) own.later.reset();
    free_.push_back(std::exchange(entry.timers, nullptr));
  }

  void put(TimerKind kind, std::size_t at, const Item& item) {
    heap(kind)[at] = item;
    of_kind(*item.of, kind).position = static_cast<std::uint32_t>(at);
  }
  void sift_up(TimerKind kind, std::size_t at, const Item& item) {
    while (at > 0 && before(item, heap(kind)[(at - 1) / arity])) {
      put(kind, at, heap(kind)[(at - 1) / arity]);
      at = (at - 1) / arity;
    }
    put(kind, at, item);
  }
  void sift_down(TimerKind kind, std::size_t at, const Item& item) {
    const std::vector<Item>& items = heap(kind);
    for (;;) {
      const std::size_t first = at * arity + 1;
      if (first >= items.size()) break;
      std::size_t least = first;
      for (std::size_t i = first + 1; i < std::min(first + arity, items.size()); ++i) {
        if (before(items[i], items[least])) least = i;
      }
      if (!before(items[least], item)) break;
      put(kind, at, items[least]);
      at = least;
    }
    put(kind, at, item);
  }
  void take_out(TimerKind kind, TimersOfKey::OfKind& own) {
    const std::size_t at = std::exchange(own.position, TimersOfKey::none);
    HUMMER_ASSERT(at < heap(kind).size());
    const Item last = heap(kind).back();
    heap(kind).pop_back();
    if (at == heap(kind).size()) return;
    if (at > 0 && before(last, heap(kind)[(at - 1) / arity])) {
      sift_up(kind, at, last);
    } else {
      sift_down(kind, at, last);
    }
  }

  std::array<std::vector<Item>, 2> heaps_;  // by TimerKind
  std::deque<TimersOfKey> blocks_;
  std::vector<TimersOfKey*> free_;
  std::size_t later_count_ = 0;
};

}  // namespace hummer
