#include <hummer/detail/state/keyed_timers.hpp>

#include <algorithm>
#include <bit>
#include <utility>

#include <hummer/status.hpp>

namespace hummer {
namespace {

// As many as are sorted at once: what they take and what they point to stays near.
constexpr std::size_t most_sorted = 512;
// So far ahead of their turn the timers of keys, and then the keys' entries, are brought near.
constexpr std::size_t timers_ahead = 8;
constexpr std::size_t entries_ahead = 4;

}  // namespace

// For a heap whose front is the first one.
bool KeyedTimers::comes_behind(const Item& a, const Item& b) { return comes_before(b, a); }

std::uint32_t KeyedTimers::count(const StoreEntry& entry) const {
  std::uint32_t count = 0;
  for_each(entry, [&](TimerKind, Timestamp) { ++count; });
  return count;
}

bool KeyedTimers::add(TimerKind kind, Timestamp time, StoreEntry& entry) {
  TimersOfKey*& timers = parts_.timers_of(entry);
  if (timers == nullptr) timers = &obtain(entry);
  TimersOfKey::OfKind& own = of_kind(*timers, kind);
  if (!own.is_set) {
    own.is_set = true;
    own.first = time;
    put(queue(kind), *timers);
    return true;
  }
  if (time == own.first) return false;
  if (own.later == nullptr) own.later = std::make_unique<std::set<Timestamp>>();
  if (!own.later->insert(std::max(time, own.first)).second) return false;
  ++later_count_;
  if (time > own.first) return true;
  forget(queue(kind), own);
  own.first = time;
  put(queue(kind), *timers);
  return true;
}

bool KeyedTimers::remove(TimerKind kind, Timestamp time, StoreEntry& entry) {
  if (of(entry) == nullptr) return false;
  TimersOfKey& timers = *parts_.timers_of(entry);
  TimersOfKey::OfKind& own = of_kind(timers, kind);
  if (!own.is_set) return false;
  if (time != own.first) {
    if (own.later == nullptr || own.later->erase(time) == 0) return false;
    --later_count_;
    return true;
  }
  forget(queue(kind), own);
  if (own.later != nullptr && !own.later->empty()) {
    own.first = *own.later->begin();
    own.later->erase(own.later->begin());
    --later_count_;
    put(queue(kind), timers);
  } else {
    own.is_set = false;
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
    if (std::exchange(own.is_set, false)) forget(queue(kind), own);
  }
  release_if_unused(entry);
}

std::size_t KeyedTimers::memory_bytes() const {
  constexpr std::size_t set_node_bytes = 48;
  std::size_t items = 0;
  for (const Queue& queue : queues_) items += queue.live + queue.stale;
  return (blocks_.size() * block_entries - free_.size()) * sizeof(TimersOfKey) +
         items * sizeof(Item) + later_count_ * set_node_bytes;
}

// ---- the timers of a key ----

TimersOfKey& KeyedTimers::obtain(StoreEntry& entry) {
  if (free_.empty()) {
    auto first = static_cast<std::uint32_t>(blocks_.size() * block_entries);
    TimersOfKey* const block =
        blocks_.emplace_back(std::make_unique<TimersOfKey[]>(block_entries)).get();
    for (std::size_t i = 0; i < block_entries; ++i) block[i].number = first++;
    for (std::size_t i = block_entries; i-- > 0;) free_.push_back(&block[i]);
  }
  TimersOfKey& timers = *free_.back();
  free_.pop_back();
  timers.entry = &entry;
  return timers;
}

void KeyedTimers::release_if_unused(StoreEntry& entry) {
  TimersOfKey*& timers = parts_.timers_of(entry);
  for (const TimersOfKey::OfKind& own : timers->kinds) {
    if (own.is_set) return;
  }
  for (TimersOfKey::OfKind& own : timers->kinds) own.later.reset();
  free_.push_back(std::exchange(timers, nullptr));
}

// ---- the queue ----

bool KeyedTimers::before(const Item& a, const Item& b) const {
  if (a.time != b.time) return a.time < b.time;
  if (a.prefix != b.prefix) return a.prefix < b.prefix;
  return keys_.before(entry_of(a), entry_of(b));
}

void KeyedTimers::put(Queue& queue, const TimersOfKey& timers) {
  const TimersOfKey::OfKind& own = of_kind(timers, queue.kind);
  const Item item{number_of(own.first), keys_.prefix(static_cast<StoreEntry&>(*timers.entry)),
                  timers.number, own.serial};
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
void KeyedTimers::forget(Queue& queue, TimersOfKey::OfKind& own) {
  ++own.serial;
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
    const Item* const next = &sorted.back();
    __builtin_prefetch(&timers_at(next[-static_cast<std::ptrdiff_t>(timers_ahead)].number));
    __builtin_prefetch(timers_at(next[-static_cast<std::ptrdiff_t>(entries_ahead)].number).entry);
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
