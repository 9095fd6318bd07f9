// SessionJoin: what two keyed streams have in the same key and session of event time, where
// sessions are those of both sides together. (Over windows on a grid: window_join.hpp.)
//
// A function for KeyedProcessOperator with two keyed inputs. Each record is kept in a list of its
// key until its session is complete. When the watermark reaches a session's end, it is handed to
//
//   pairs      function(const A&, const B&) → Out, for each pair (window join)
//   co-group   function(TimeWindow, std::span<const A>, std::span<const B>,
//              KeyedOutput<Out>&), once; either side may be empty (outer joins)
//
// with records of a side in the order of their times. Results have the time of the session's last
// millisecond.
//
// A record that touches no session that is still open, and would be over by itself, goes to side
// output late_first<A> or late_second<B>; one without a time fails the job. REQUIRES: A and B own
// their text.
// Cost: one list entry per record; a session's end costs its records, sorted. Those of one key and
// session are in memory, a second time, while it goes out; where they have no room the job fails by
// name (limit_exceeded).
#pragma once

#include <algorithm>
#include <span>
#include <utility>

#include <hummer/detail/operators/timed_records.hpp>
#include <hummer/keyed_output.hpp>
#include <hummer/keyed_states.hpp>

namespace hummer {

template <typename A, typename B, typename Out, typename Function, bool co_group>
class SessionJoin {
 public:
  using Output = Out;
  static constexpr bool fires_timers_set_at_end = true;

  SessionJoin(SessionWindows windows, Function function)
      : windows_(windows), function_(std::move(function)) {}

  SideOutputPorts side_outputs() const {
    return hummer::side_outputs(late_first<A>, late_second<B>);
  }
  auto states() { return hummer::states(first_, second_, next_end_); }

  Status open(OperatorContext& context) {
    context_ = &context;
    memory_.open_part(context.memory(), "the session that goes out");
    if (windows_.domain != TimeDomain::event) {
      return {ErrorCode::invalid_argument, "a window join is one of event time"};
    }
    return windows_.check();
  }
  void process_first(const A& record, KeyedOutput<Out>& out) {
    add(first_, late_first<A>, record, out);
  }
  void process_second(const B& record, KeyedOutput<Out>& out) {
    add(second_, late_second<B>, record, out);
  }

  // Resumable between two pairs, and between two sessions.
  OperatorResult on_timer(Timestamp end, KeyedOutput<Out>& out) {
    for (;;) {
      if (!in_hand_) {
        if (!take_window(end)) break;
        if (Status room = memory_.set(window_bytes()); !room.ok()) {
          return context_->fail(std::move(room));
        }
        if (out.full()) return OperatorResult::more;
      }
      if (!emit_window(out)) return OperatorResult::more;
      in_hand_ = false;
      drop(first_);
      drop(second_);
    }
    schedule_next(out);
    return OperatorResult::done;
  }

 private:
  template <typename T>
  void add(ListState<Timed<T>>& side, const SideOutput<T>& late, const T& record,
           KeyedOutput<Out>& out) {
    const Timestamp time = detail::required_time(out.time(), "a window join");
    const auto end = detail::next_end(windows_, time, out.watermark());
    if (!end) {
      if (joins_open_session(time)) return side.add({time, record});  // whose timer is set
      context_->count_late(1);
      return out.side(late, record);
    }
    side.add({time, record});
    const Timestamp* const planned = next_end_.find();
    if (planned != nullptr && *planned <= *end) return;
    if (planned != nullptr) out.delete_event_timer(*planned);
    next_end_.set(*end);
    out.set_event_timer(*end);
  }

  // Records are kept as long as their session is open.
  bool joins_open_session(Timestamp time) const {
    const auto touches = [&](const auto& entry) {
      return time < time_after(entry.time, windows_.gap_ms) &&
             entry.time < time_after(time, windows_.gap_ms);
    };
    return std::ranges::any_of(first_.get(), touches) ||
           std::ranges::any_of(second_.get(), touches);
  }

  // The next session that is complete at `end`, with its records; false: none (more).
  bool take_window(Timestamp end) {
    times_.clear();
    for (const auto& entry : first_.get()) times_.push_back(entry.time);
    for (const auto& entry : second_.get()) times_.push_back(entry.time);
    if (times_.empty()) return false;
    window_ = detail::first_session(times_, windows_.gap_ms);
    if (window_.end_ms > end) return false;
    gather(first_, first_in_window_);
    gather(second_, second_in_window_);
    in_hand_ = true;
    pair_ = 0;
    return true;
  }
  template <typename T>
  void gather(const ListState<Timed<T>>& side, std::vector<T>& records) {
    std::vector<const Timed<T>*> entries;
    for (const Timed<T>& entry : side.get()) {
      if (entry.time >= window_.start_ms && entry.time < window_.end_ms) entries.push_back(&entry);
    }
    // By hand stable: std::stable_sort allocates, and draws warnings from some compilers.
    std::sort(entries.begin(), entries.end(), [](const auto* a, const auto* b) {
      return a->time != b->time ? a->time < b->time : a < b;
    });
    records.clear();
    for (const auto* entry : entries) records.push_back(entry->record);
  }

  // Of the window in hand.
  std::size_t window_bytes() const {
    return detail::heap_bytes_of(first_in_window_) + detail::heap_bytes_of(second_in_window_) +
           detail::heap_bytes_of(times_);
  }

  // False: the output is full.
  bool emit_window(KeyedOutput<Out>& out) {
    out.set_time(window_.end_ms - 1);
    if constexpr (co_group) {
      const bool empty = first_in_window_.empty() && second_in_window_.empty();
      if (!empty) {
        function_(window_, std::span<const A>(first_in_window_),
                  std::span<const B>(second_in_window_), out);
      }
    } else {
      for (; pair_ < first_in_window_.size() * second_in_window_.size(); ++pair_) {
        if (out.full()) return false;
        out.emit(function_(std::as_const(first_in_window_[pair_ / second_in_window_.size()]),
                           std::as_const(second_in_window_[pair_ % second_in_window_.size()])));
      }
    }
    return true;
  }

  // Records of the session in hand.
  template <typename T>
  void drop(ListState<Timed<T>>& side) {
    side.update([&](std::vector<Timed<T>>& entries) {
      std::erase_if(entries, [&](const Timed<T>& entry) {
        return entry.time >= window_.start_ms && entry.time < window_.end_ms;
      });
    });
  }

  void schedule_next(KeyedOutput<Out>& out) {
    if (times_.empty()) return next_end_.clear();
    next_end_.set(window_.end_ms);  // of the session that is not complete
    out.set_event_timer(window_.end_ms);
  }

  SessionWindows windows_;
  Function function_;
  OperatorContext* context_ = nullptr;
  ListState<Timed<A>> first_{"first"};
  ListState<Timed<B>> second_{"second"};
  ValueState<Timestamp> next_end_{"next_end"};  // the timer that is set

  // Of the timer that is firing.
  bool in_hand_ = false;
  TimeWindow window_{};
  std::vector<A> first_in_window_;
  std::vector<B> second_in_window_;
  std::size_t pair_ = 0;
  std::vector<Timestamp> times_;
  MemoryUse memory_;
};

}  // namespace hummer
