#include <hummer/detail/state/keyed_timers.hpp>

#include <algorithm>
#include <utility>

#include <hummer/status.hpp>

namespace hummer {
namespace {

constexpr std::size_t arity = 4;  // fewer levels than two, with neighbours in one line

}  // namespace

std::uint32_t KeyedTimers::count(const StoreEntry& entry) const {
  std::uint32_t count = 0;
  for_each(entry, [&](TimerKind, Timestamp) { ++count; });
  return count;
}

bool KeyedTimers::add(TimerKind kind, Timestamp time, StoreEntry& entry) {
  TimersOfKey*& timers = parts_.timers_of(entry);
  if (timers == nullptr) timers = &obtain(entry);
  TimersOfKey::OfKind& own = of_kind(*timers, kind);
  if (own.position == TimersOfKey::none) {
    own.first = time;
    heap(kind).emplace_back();
    sift_up(kind, heap(kind).size() - 1, {time, keys_.prefix(entry), timers});
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

bool KeyedTimers::remove(TimerKind kind, Timestamp time, StoreEntry& entry) {
  if (of(entry) == nullptr) return false;
  TimersOfKey::OfKind& own = of_kind(*parts_.timers_of(entry), kind);
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

void KeyedTimers::clear(StoreEntry& entry) {
  if (of(entry) == nullptr) return;
  for (const TimerKind kind : {TimerKind::event, TimerKind::processing}) {
    TimersOfKey::OfKind& own = of_kind(*parts_.timers_of(entry), kind);
    if (own.later != nullptr) later_count_ -= own.later->size();
    own.later.reset();
    if (own.position != TimersOfKey::none) take_out(kind, own);
  }
  release_if_unused(entry);
}

std::size_t KeyedTimers::memory_bytes() const {
  constexpr std::size_t set_node_bytes = 48;
  return (blocks_.size() - free_.size()) * sizeof(TimersOfKey) +
         (heaps_[0].size() + heaps_[1].size()) * sizeof(Item) + later_count_ * set_node_bytes;
}

bool KeyedTimers::before(const Item& a, const Item& b) const {
  if (a.time != b.time) return a.time < b.time;
  if (a.prefix != b.prefix) return a.prefix < b.prefix;
  return keys_.before(entry_of(a), entry_of(b));
}

TimersOfKey& KeyedTimers::obtain(StoreEntry& entry) {
  if (free_.empty()) free_.push_back(&blocks_.emplace_back());
  TimersOfKey& timers = *free_.back();
  free_.pop_back();
  timers.entry = &entry;
  return timers;
}

void KeyedTimers::release_if_unused(StoreEntry& entry) {
  TimersOfKey*& timers = parts_.timers_of(entry);
  for (TimersOfKey::OfKind& own : timers->kinds) {
    if (own.position != TimersOfKey::none) return;
  }
  for (TimersOfKey::OfKind& own : timers->kinds) own.later.reset();
  free_.push_back(std::exchange(timers, nullptr));
}

void KeyedTimers::put(TimerKind kind, std::size_t at, const Item& item) {
  heap(kind)[at] = item;
  of_kind(*item.of, kind).position = static_cast<std::uint32_t>(at);
}

void KeyedTimers::sift_up(TimerKind kind, std::size_t at, const Item& item) {
  while (at > 0 && before(item, heap(kind)[(at - 1) / arity])) {
    put(kind, at, heap(kind)[(at - 1) / arity]);
    at = (at - 1) / arity;
  }
  put(kind, at, item);
}

void KeyedTimers::sift_down(TimerKind kind, std::size_t at, const Item& item) {
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

void KeyedTimers::take_out(TimerKind kind, TimersOfKey::OfKind& own) {
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

}  // namespace hummer
