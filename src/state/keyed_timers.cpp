#include <hummer/detail/state/keyed_timers.hpp>

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include <hummer/status.hpp>

namespace hummer {
namespace {

// As many as are sorted at once: what they take and what they point to stays near.
constexpr std::size_t most_sorted = 512;
// So far ahead of their turn the timers of keys, and then the keys' entries and what of their
// timers lies apart, are brought near.
constexpr std::size_t timers_ahead = 8;
constexpr std::size_t entries_ahead = 4;
constexpr std::uint32_t most_serial = (std::uint32_t{1} << 30) - 1;

}  // namespace

// For a heap whose front is the first one.
bool KeyedTimers::comes_behind(const Item& a, const Item& b) { return comes_before(b, a); }

KeyedTimers::~KeyedTimers() {
  for (std::size_t number = 0; several_count_ > 0; ++number) {
    TimersOfKey& timers = timers_at(static_cast<std::uint32_t>(number));
    forget_later(timers, TimerKind::event);
    forget_later(timers, TimerKind::processing);
  }
}

std::uint32_t KeyedTimers::count(const StoreEntry& entry) const {
  std::uint32_t count = 0;
  for_each(entry, [&](TimerKind, Timestamp) { ++count; });
  return count;
}

bool KeyedTimers::add(TimerKind kind, Timestamp time, StoreEntry& entry) {
  HUMMER_ASSERT(kinds_.has(kind));
  if (of(entry) == nullptr) parts_.timers_of(entry) = &obtain(entry);
  TimersOfKey& timers = *of(entry);
  TimersOfKey::State& own = state_of(timers, kind);
  if (own.is_set) {
    const Timestamp first = first_time_of(timers, kind);
    if (time == first || !add_later(timers, kind, std::max(time, first))) return false;
    if (time > first) return true;
    forget(queue(kind), own);
  }
  own.is_set = true;
  first_time_of(timers, kind) = time;
  put(queue(kind), timers);
  return true;
}

bool KeyedTimers::remove(TimerKind kind, Timestamp time, StoreEntry& entry) {
  const std::optional<Timestamp> first = first_of(entry, kind);
  if (!first) return false;
  TimersOfKey& timers = *of(entry);
  if (time != *first) return remove_later(timers, kind, time);
  TimersOfKey::State& own = state_of(timers, kind);
  forget(queue(kind), own);
  if (const std::optional<Timestamp> next = take_first_later(timers, kind)) {
    first_time_of(timers, kind) = *next;
    put(queue(kind), timers);
  } else {
    own.is_set = false;
    release_if_unused(entry);
  }
  return true;
}

void KeyedTimers::clear(StoreEntry& entry) {
  if (!any(entry)) return;
  TimersOfKey& timers = *of(entry);
  for (const TimerKind kind : {TimerKind::event, TimerKind::processing}) {
    if (!first_of(entry, kind)) continue;
    TimersOfKey::State& own = state_of(timers, kind);
    own.is_set = false;
    forget(queue(kind), own);
  }
  release_if_unused(entry);
}

bool KeyedTimers::add_later(TimersOfKey& timers, TimerKind kind, Timestamp time) {
  TimersOfKey::Times& times = times_of(timers, kind);
  TimersOfKey::State& own = state_of(timers, kind);
  if (!own.has_several) {
    times.several = new TimersOfKey::Several{.first = times.first, .later = {}};
    own.has_several = true;
    ++several_count_;
  }
  if (!times.several->later.insert(time).second) return false;
  ++later_count_;
  return true;
}

bool KeyedTimers::remove_later(TimersOfKey& timers, TimerKind kind, Timestamp time) {
  if (!state_of(timers, kind).has_several) return false;
  if (times_of(timers, kind).several->later.erase(time) == 0) return false;
  --later_count_;
  return true;
}

std::optional<Timestamp> KeyedTimers::take_first_later(TimersOfKey& timers, TimerKind kind) {
  if (!state_of(timers, kind).has_several) return {};
  std::set<Timestamp>& later = times_of(timers, kind).several->later;
  if (later.empty()) return {};
  const Timestamp time = *later.begin();
  later.erase(later.begin());
  --later_count_;
  return time;
}

void KeyedTimers::forget_later(TimersOfKey& timers, TimerKind kind) {
  if (!kinds_.has(kind) || !state_of(timers, kind).has_several) return;
  TimersOfKey::Times& times = times_of(timers, kind);
  later_count_ -= times.several->later.size();
  --several_count_;
  delete std::exchange(times.several, nullptr);
  state_of(timers, kind).has_several = false;
}

std::size_t KeyedTimers::memory_bytes() const {
  constexpr std::size_t set_node_bytes = 48;
  constexpr std::size_t several_bytes = 64;
  std::size_t items = 0;
  for (const Queue& queue : queues_) items += queue.live + queue.stale;
  return (blocks_.size() * block_entries - free_.size()) * timers_bytes() + items * sizeof(Item) +
         later_count_ * set_node_bytes + several_count_ * several_bytes;
}

// ---- the timers of a key ----

TimersOfKey& KeyedTimers::obtain(StoreEntry& entry) {
  if (free_.empty()) {
    const auto first = static_cast<std::uint32_t>(blocks_.size() * block_entries);
    blocks_.push_back(std::make_unique<std::byte[]>(block_entries * timers_bytes()));
    for (std::size_t i = block_entries; i-- > 0;) {
      const auto number = static_cast<std::uint32_t>(first + i);
      TimersOfKey& timers = timers_at(number);
      if (timers_bytes() == sizeof(TimersOfBothKinds)) {
        new (&timers) TimersOfBothKinds();
      } else {
        new (&timers) TimersOfKey();
      }
      timers.number = number;
      free_.push_back(&timers);
    }
  }
  TimersOfKey& timers = *free_.back();
  free_.pop_back();
  timers.entry = &entry;
  return timers;
}

void KeyedTimers::release_if_unused(StoreEntry& entry) {
  if (first_of(entry, TimerKind::event) || first_of(entry, TimerKind::processing)) return;
  TimersOfKey& timers = *std::exchange(parts_.timers_of(entry), nullptr);
  forget_later(timers, TimerKind::event);
  forget_later(timers, TimerKind::processing);
  free_.push_back(&timers);
}

// ---- the queue ----

bool KeyedTimers::before(const Item& a, const Item& b) const {
  if (a.time != b.time) return a.time < b.time;
  if (a.prefix != b.prefix) return a.prefix < b.prefix;
  return keys_.before(entry_of(a), entry_of(b));
}

void KeyedTimers::put(Queue& queue, TimersOfKey& timers) {
  const Item item{number_of(first_time_of(timers, queue.kind)),
                  keys_.prefix(static_cast<StoreEntry&>(*timers.entry)), timers.number,
                  state_of(timers, queue.kind).serial};
  ++queue.live;
  if (item.time > queue.until) return put_in_bucket(queue, item);
  queue.heap.push_back(item);
  std::push_heap(queue.heap.begin(), queue.heap.end(), comes_behind);
  // As many come before those that are sorted as where a far one was looked at while it was alone.
  if (queue.heap.size() > std::max(most_sorted, (queue.live + queue.stale) / 4)) deal_anew(queue);
}

void KeyedTimers::put_in_bucket(Queue& queue, const Item& item) {
  const auto bucket = static_cast<unsigned>(std::bit_width(item.time ^ queue.until)) - 1;
  queue.buckets[bucket].push_back(item);
  queue.used |= std::uint64_t{1} << bucket;
}

// Its item is stale from now on.
void KeyedTimers::forget(Queue& queue, TimersOfKey::State& own) {
  own.serial = (own.serial + 1) & most_serial;
  --queue.live;
  ++queue.stale;
  if (queue.live == 0 || queue.stale > queue.live + most_sorted) sweep(queue);
}

const KeyedTimers::Item& KeyedTimers::first(Queue& queue) {
  for (;;) {
    pass_stale(queue);
    if (queue.heap.empty()) {
      if (!queue.sorted.empty()) return queue.sorted.back();
      HUMMER_ASSERT(queue.live > 0);
      sort_lowest_bucket(queue);
    } else if (queue.sorted.empty() || !comes_before(queue.sorted.back(), queue.heap.front())) {
      take_from_heap(queue);
    } else {
      return queue.sorted.back();
    }
  }
}

void KeyedTimers::pass_stale(Queue& queue) {
  std::vector<Item>& sorted = queue.sorted;
  while (!sorted.empty() && !is_live(queue, sorted.back())) {
    sorted.pop_back();
    --queue.stale;
    if (sorted.size() <= timers_ahead) continue;
    const std::size_t next = sorted.size() - 1;
    __builtin_prefetch(&timers_at(sorted[next - timers_ahead].number));
    TimersOfKey& soon = timers_at(sorted[next - entries_ahead].number);
    __builtin_prefetch(soon.entry);
    if (state_of(soon, queue.kind).has_several) {
      __builtin_prefetch(times_of(soon, queue.kind).several);
    }
  }
  while (!queue.heap.empty() && !is_live(queue, queue.heap.front())) {
    std::pop_heap(queue.heap.begin(), queue.heap.end(), comes_behind);
    queue.heap.pop_back();
    --queue.stale;
  }
}

// Sorts it where it is small; else those of its first time, while the others go to lower buckets.
void KeyedTimers::sort_lowest_bucket(Queue& queue) {
  HUMMER_ASSERT(queue.used != 0 && queue.sorted.empty());
  std::vector<Item>& bucket = queue.buckets[static_cast<std::size_t>(std::countr_zero(queue.used))];
  queue.used &= queue.used - 1;
  const std::size_t before = bucket.size();
  drop_stale(queue, bucket);
  queue.stale -= before - bucket.size();
  if (bucket.empty()) return;
  if (bucket.size() <= most_sorted) {
    queue.sorted.swap(bucket);
    sort(queue.sorted);
    queue.until = queue.sorted.front().time;
    return;
  }
  space_.swap(bucket);
  queue.until = std::min_element(space_.begin(), space_.end(), [](const Item& a, const Item& b) {
                  return a.time < b.time;
                })->time;
  for (const Item& item : space_) {
    if (item.time == queue.until) {
      queue.sorted.push_back(item);
    } else {
      put_in_bucket(queue, item);
    }
  }
  sort(queue.sorted);
  std::vector<Item>().swap(space_);
}

// The last one first.
void KeyedTimers::sort(std::vector<Item>& items) const {
  std::sort(items.begin(), items.end(),
            [this](const Item& a, const Item& b) { return before(b, a); });
}

// Those of its first time and prefix, which only their keys can tell from each other.
void KeyedTimers::take_from_heap(Queue& queue) {
  const Item least = queue.heap.front();
  std::vector<Item> tied;
  const auto take = [&](std::vector<Item>& from) {
    if (is_live(queue, from.back())) {
      tied.push_back(from.back());
    } else {
      --queue.stale;
    }
    from.pop_back();
  };
  while (!queue.heap.empty() && !comes_before(least, queue.heap.front())) {
    std::pop_heap(queue.heap.begin(), queue.heap.end(), comes_behind);
    take(queue.heap);
  }
  while (!queue.sorted.empty() && !comes_before(least, queue.sorted.back())) take(queue.sorted);
  sort(tied);
  queue.sorted.insert(queue.sorted.end(), tied.begin(), tied.end());
}

void KeyedTimers::drop_stale(const Queue& queue, std::vector<Item>& items) const {
  std::erase_if(items, [&](const Item& item) { return !is_live(queue, item); });
}

void KeyedTimers::sweep(Queue& queue) {
  drop_stale(queue, queue.sorted);
  drop_stale(queue, queue.heap);
  std::make_heap(queue.heap.begin(), queue.heap.end(), comes_behind);
  for (std::uint64_t used = queue.used; used != 0; used &= used - 1) {
    const auto bucket = static_cast<std::size_t>(std::countr_zero(used));
    drop_stale(queue, queue.buckets[bucket]);
    if (queue.buckets[bucket].empty()) queue.used &= ~(std::uint64_t{1} << bucket);
  }
  queue.stale = 0;
  if (queue.live == 0) queue.until = 0;
}

void KeyedTimers::deal_anew(Queue& queue) {
  std::vector<Item> all = std::move(queue.sorted);
  const auto add = [&](std::vector<Item>& items) {
    all.insert(all.end(), items.begin(), items.end());
    std::vector<Item>().swap(items);
  };
  add(queue.heap);
  for (; queue.used != 0; queue.used &= queue.used - 1) {
    add(queue.buckets[static_cast<std::size_t>(std::countr_zero(queue.used))]);
  }
  queue.sorted = {};
  queue.until = 0;
  queue.live = queue.stale = 0;
  for (const Item& item : all) {
    if (!is_live(queue, item)) continue;
    ++queue.live;
    if (item.time > 0) {
      put_in_bucket(queue, item);
    } else {
      queue.heap.push_back(item);
    }
  }
  std::make_heap(queue.heap.begin(), queue.heap.end(), comes_behind);
}

}  // namespace hummer
