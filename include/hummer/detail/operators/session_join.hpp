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
// Cost: a copy of each record; a session's end costs its records, sorted. Those of one key are in
// memory while a session of it goes out, those of a co-group's session a second time; where they
// have no room the job fails by name (limit_exceeded).
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include <hummer/detail/operators/timed_records.hpp>
#include <hummer/detail/state/record_list.hpp>
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
        if (!(take_all(end) || take_session(end))) break;
        if (Status room = memory_.set(session_bytes()); !room.ok()) {
          return context_->fail(std::move(room));
        }
        if (out.full()) return OperatorResult::more;
      }
      if (!emit_session(out)) return OperatorResult::more;
      in_hand_ = false;
      if (!has_more_) {
        first_.clear();
        second_.clear();
        next_end_.clear();
        return OperatorResult::done;
      }
      drop(first_);
      drop(second_);
    }
    schedule_next(out);
    return OperatorResult::done;
  }

 private:
  // A record of the key. Records do not move while the timer is being handled, between two calls
  // either: nothing else of the operator is called then.
  struct Item {
    Timestamp time;
    std::uint32_t arrival;
    const void* record;
    friend bool operator<(const Item& a, const Item& b) {
      return a.time != b.time ? a.time < b.time : a.arrival < b.arrival;
    }
  };
  // Those of one side, in order of time, then of arrival.
  struct Side {
    std::vector<Item> items;
    std::size_t count = 0;  // the first ones, which are in the session in hand

    template <typename T>
    const T& record(std::size_t i) const {
      return *static_cast<const T*>(items[i].record);
    }
  };

  template <typename T>
  void add(RecordList<T>& side, const SideOutput<T>& late, const T& record, KeyedOutput<Out>& out) {
    const Timestamp time = detail::required_time(out.time(), "a window join");
    const auto end = detail::next_end(windows_, time, out.watermark());
    if (!end) {
      if (joins_open_session(time)) return side.add(time, record);  // whose timer is set
      context_->count_late(1);
      return out.side(late, record);
    }
    side.add(time, record);
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
    return first_.any_of(touches) || second_.any_of(touches);
  }

  // The key's only session, which is complete at `end`, where records came in the order of their
  // times on both sides: as nearly always, and without a look at them but for that. False: it is
  // not so; is_open_: since it is not complete, which session_ says when it is.
  bool take_all(Timestamp end) {
    auto first = first_.begin();
    auto second = second_.begin();
    is_open_ = false;
    if (!first && !second) return false;
    Timestamp last = no_timestamp;
    for (bool is_first = true; first || second; is_first = false) {
      const bool of_first = first && (!second || first->time <= second->time);
      const Timestamp time = of_first ? first->time : second->time;
      if (is_first) session_ = {time, time_after(time, windows_.gap_ms)};
      if (time < last || !in_session(time)) return false;
      session_.end_ms = std::max(session_.end_ms, time_after(time, windows_.gap_ms));
      last = time;
      of_first ? first.next() : second.next();
    }
    is_open_ = has_more_ = session_.end_ms > end;
    if (is_open_) return false;
    in_hand_ = has_all_ = true;
    first_at_ = first_.begin();
    second_at_ = second_.begin();
    if constexpr (co_group) {
      copy(first_, firsts_);
      copy(second_, seconds_);
    }
    return true;
  }
  // The next session that is complete at `end`, with its records; false: none (more).
  bool take_session(Timestamp end) {
    if (is_open_) return false;
    has_all_ = false;
    gather(first_, sides_[0]);
    gather(second_, sides_[1]);
    session_ = {end_of_time, end_of_time};
    for (const Side& side : sides_) {
      if (!side.items.empty()) {
        session_.start_ms = std::min(session_.start_ms, side.items.front().time);
      }
    }
    has_more_ = !sides_[0].items.empty() || !sides_[1].items.empty();
    if (!has_more_) return false;
    session_.end_ms = time_after(session_.start_ms, windows_.gap_ms);
    for (bool grows = true; grows;) {
      grows = false;
      for (Side& side : sides_) {
        for (; side.count < side.items.size() && in_session(side.items[side.count].time);
             ++side.count) {
          const Timestamp its_end = time_after(side.items[side.count].time, windows_.gap_ms);
          grows |= its_end > session_.end_ms;
          session_.end_ms = std::max(session_.end_ms, its_end);
        }
      }
    }
    if (session_.end_ms > end) return false;
    if constexpr (co_group) {
      copy(sides_[0], firsts_);
      copy(sides_[1], seconds_);
    }
    has_more_ = sides_[0].count + sides_[1].count < sides_[0].items.size() + sides_[1].items.size();
    in_hand_ = true;
    pair_ = 0;
    return true;
  }
  // REQUIRES: it is not before the session. Behind the last time there is none.
  bool in_session(Timestamp time) const {
    return time < session_.end_ms || time == session_.start_ms;
  }
  template <typename T>
  static void gather(const RecordList<T>& list, Side& side) {
    side.items.clear();
    side.count = 0;
    std::uint32_t arrival = 0;
    bool in_order = true;
    Timestamp last = no_timestamp;
    list.for_each([&](const Timed<T>& entry) {
      side.items.push_back({entry.time, arrival++, &entry.record});
      in_order &= last <= entry.time;
      last = entry.time;
    });
    if (!in_order) std::sort(side.items.begin(), side.items.end());
  }
  template <typename T>
  static void copy(const RecordList<T>& side, std::vector<T>& records) {
    records.clear();
    for (auto at = side.begin(); at; at.next()) records.push_back(at->record);
  }
  template <typename T>
  static void copy(const Side& side, std::vector<T>& records) {
    records.clear();
    for (std::size_t i = 0; i < side.count; ++i) records.push_back(side.template record<T>(i));
  }

  // Of the session in hand.
  std::size_t session_bytes() const {
    return detail::heap_bytes_of(sides_[0].items) + detail::heap_bytes_of(sides_[1].items) +
           detail::heap_bytes_of(firsts_) + detail::heap_bytes_of(seconds_);
  }

  // False: the output is full.
  bool emit_session(KeyedOutput<Out>& out) {
    out.set_time(session_.end_ms - 1);
    if constexpr (co_group) {
      function_(session_, std::span<const A>(firsts_), std::span<const B>(seconds_), out);
    } else if (has_all_) {
      for (; first_at_; first_at_.next(), second_at_ = second_.begin()) {
        for (; second_at_; second_at_.next()) {
          if (out.full()) return false;
          out.emit(function_(first_at_->record, second_at_->record));
        }
      }
    } else {
      const std::size_t seconds = sides_[1].count;
      for (; pair_ < sides_[0].count * seconds; ++pair_) {
        if (out.full()) return false;
        out.emit(function_(sides_[0].template record<A>(pair_ / seconds),
                           sides_[1].template record<B>(pair_ % seconds)));
      }
    }
    return true;
  }

  // Records of the session in hand.
  template <typename T>
  void drop(RecordList<T>& side) {
    side.remove_if([&](const Timed<T>& entry) { return in_session(entry.time); });
  }

  void schedule_next(KeyedOutput<Out>& out) {
    if (!has_more_) return next_end_.clear();
    next_end_.set(session_.end_ms);  // of the session that is not complete
    out.set_event_timer(session_.end_ms);
  }

  SessionWindows windows_;
  Function function_;
  OperatorContext* context_ = nullptr;
  RecordList<A> first_{"first"};
  RecordList<B> second_{"second"};
  ValueState<Timestamp> next_end_{"next_end"};  // the timer that is set

  // Of the timer that is firing.
  bool in_hand_ = false;
  bool is_open_ = false;
  bool has_more_ = false;  // the key, than the session
  bool has_all_ = false;   // the session, of the key: it is not in sides_
  TimeWindow session_{};
  std::array<Side, 2> sides_;
  std::vector<A> firsts_;  // of a co-group
  std::vector<B> seconds_;
  std::size_t pair_ = 0;
  typename RecordList<A>::Cursor first_at_;
  typename RecordList<B>::Cursor second_at_;
  MemoryUse memory_;
};

}  // namespace hummer
