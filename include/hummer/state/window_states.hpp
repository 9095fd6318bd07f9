// WindowStates: what KeyedWindowOperator keeps: the open windows of each key, and
// queues of when each wants to be looked at.
//
// A window is in a queue at most once per kind of time, at the earliest moment that
// anybody asked for; whoever takes it out and finds that it is too early puts it
// back. Windows that are gone (sessions that became one) are found out by their
// number. Order within a queue: time, then the order in which keys came, then the
// window's start.
//
// Keys are forgotten with their last window. Thread: one. Cost: one hash look-up per
// record; O(log n) per entry of a queue.
#pragma once

#include <algorithm>
#include <queue>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <hummer/key_hash.hpp>
#include <hummer/triggers.hpp>

namespace hummer {

// How a key is kept in a map: itself, its text, or its canonical bytes.
template <typename K>
struct KeyForm {
  static constexpr bool direct = std::is_integral_v<K> || std::is_enum_v<K>;
  static constexpr bool text = std::is_same_v<K, std::string_view>;
  using Kept = std::conditional_t<direct, K, std::string>;
  using View = std::conditional_t<direct, K, std::string_view>;

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const View& key) const { return key_hash(key); }
  };
  static View view(const K& key, std::string& space) {
    if constexpr (direct || text) {
      return key;
    } else {
      space.clear();
      ByteWriter out(space, true);
      Codec<K>::encode(key, out);
      return space = std::string(out.view());
    }
  }
  static K key(const Kept& kept) {
    if constexpr (direct || text) {
      return kept;
    } else {
      K key{};
      ByteReader in(kept);
      HUMMER_ASSERT(Codec<K>::decode(in, key));
      return key;
    }
  }
};

template <typename K, typename Accumulator, typename TriggerState>
class WindowStates {
 public:
  static constexpr Timestamp not_queued = no_timestamp;

  struct Window {
    TimeWindow window;
    Accumulator accumulator{};
    bool filled = false;  // there is something in the accumulator
    TriggerState trigger{};
    Timestamp event_timer = end_of_time;
    Timestamp processing_timer = end_of_time;

    std::uint64_t number = 0;
    Timestamp queued_event = not_queued;
    Timestamp queued_processing = not_queued;
  };
  struct PerKey {
    std::vector<Window> windows;
    std::uint64_t number = 0;
    std::uint32_t queued = 0;  // entries of the queues that point here
  };
  using Form = KeyForm<K>;
  using Map = std::unordered_map<typename Form::Kept, PerKey, typename Form::Hash, std::equal_to<>>;
  using Entry = typename Map::value_type;

  struct Queued {
    Timestamp time;
    std::uint64_t key_number;
    Timestamp start;
    std::uint64_t window_number;
    Entry* entry;
    bool operator>(const Queued& other) const {
      return std::tie(time, key_number, start, window_number) >
             std::tie(other.time, other.key_number, other.start, other.window_number);
    }
  };
  using Queue = std::priority_queue<Queued, std::vector<Queued>, std::greater<>>;

  Queue& events() { return events_; }
  Queue& processing() { return processing_; }

  Entry& at(const K& key) {
    const typename Form::View view = Form::view(key, space_);
    auto found = map_.find(view);
    if (found == map_.end()) {
      found = map_.emplace(typename Form::Kept(view), PerKey()).first;
      found->second.number = ++last_number_;
    }
    return *found;
  }
  Window& add(PerKey& key, const TimeWindow& window) {
    Window& added = key.windows.emplace_back();
    added.window = window;
    added.number = ++last_number_;
    return added;
  }
  void forget_if_unused(Entry& entry) {
    if (entry.second.windows.empty() && entry.second.queued == 0)
      map_.erase(map_.find(entry.first));
  }

  void queue_event(Entry& entry, Window& window, Timestamp time) {
    if (window.queued_event != not_queued && time >= window.queued_event) return;
    window.queued_event = time;
    put(events_, entry, window, time);
  }
  void queue_processing(Entry& entry, Window& window, Timestamp time) {
    if (window.queued_processing != not_queued && time >= window.queued_processing) return;
    window.queued_processing = time;
    put(processing_, entry, window, time);
  }
  // The first entry's window, or null when it is gone or was queued again for an earlier time.
  Window* take(Queue& queue, Queued& taken) {
    taken = queue.top();
    queue.pop();
    --taken.entry->second.queued;
    for (Window& window : taken.entry->second.windows) {
      if (window.number == taken.window_number) return &window;
    }
    return nullptr;
  }

  // Keys in the order in which they came.
  std::vector<const Entry*> in_order() const {
    std::vector<const Entry*> entries;
    entries.reserve(map_.size());
    for (const Entry& entry : map_) entries.push_back(&entry);
    std::sort(entries.begin(), entries.end(),
              [](const Entry* a, const Entry* b) { return a->second.number < b->second.number; });
    return entries;
  }
  bool empty() const { return map_.empty(); }

 private:
  void put(Queue& queue, Entry& entry, const Window& window, Timestamp time) {
    queue.push({time, entry.second.number, window.window.start_ms, window.number, &entry});
    ++entry.second.queued;
  }

  Map map_;
  Queue events_;
  Queue processing_;
  std::uint64_t last_number_ = 0;
  std::string space_;
};

}  // namespace hummer
