// IntervalJoinFunction: pairs of two keyed streams with equal keys whose times are
// near each other: first.time + lower ≤ second.time ≤ first.time + upper.
//
// A function for KeyedProcessOperator with two keyed inputs. A pair is put out as
// soon as its second half arrives, with the later of the two times. A record is
// kept, in the order of times, until the watermark says that no partner can come
// any more, and up to a quarter of upper - lower longer: so a key has a few timers
// in that time, and not one for each record. One that comes behind the watermark
// goes to side output late_first<A> or late_second<B>; one without a time fails
// the job.
//
// REQUIRES: A and B own their text; lower ≤ upper. Cost: a binary search and the
// matches per record; a record that comes in order is appended.
#pragma once

#include <utility>

#include <hummer/detail/operators/timed_records.hpp>
#include <hummer/keyed_output.hpp>
#include <hummer/keyed_states.hpp>

namespace hummer {

template <typename A, typename B, typename Out, typename Function>
class IntervalJoinFunction {
 public:
  using Output = Out;

  IntervalJoinFunction(std::int64_t lower_ms, std::int64_t upper_ms, Function function)
      : lower_ms_(lower_ms),
        upper_ms_(upper_ms),
        slack_ms_(static_cast<std::int64_t>(
            (static_cast<std::uint64_t>(upper_ms) - static_cast<std::uint64_t>(lower_ms)) / 4)),
        function_(std::move(function)) {}

  SideOutputPorts side_outputs() const {
    return hummer::side_outputs(late_first<A>, late_second<B>);
  }
  auto states() { return hummer::states(first_, second_, next_drop_); }

  Status open(OperatorContext& context) {
    context_ = &context;
    if (lower_ms_ <= upper_ms_) return {};
    return {ErrorCode::invalid_argument,
            "interval_join: between(lower, upper) needs lower <= upper"};
  }
  void process_first(const A& record, KeyedOutput<Out>& out) {
    add(first_, second_, late_first<A>, record, lower_ms_, upper_ms_, out,
        [&](const B& other) { return function_(record, other); });
  }
  void process_second(const B& record, KeyedOutput<Out>& out) {
    add(second_, first_, late_second<B>, record, -upper_ms_, -lower_ms_, out,
        [&](const A& other) { return function_(other, record); });
  }
  void on_timer(Timestamp time, KeyedOutput<Out>& out) {
    drop(first_, upper_ms_, time);
    drop(second_, -lower_ms_, time);
    Timestamp next = end_of_time;
    if (!first_.empty()) next = drop_time(first_.get().front().time, upper_ms_);
    if (!second_.empty()) {
      next = std::min(next, drop_time(second_.get().front().time, -lower_ms_));
    }
    if (next == end_of_time) return next_drop_.clear();
    next = time_after(next, slack_ms_);
    next_drop_.set(next);
    out.set_event_timer(next);
  }

 private:
  // No partner comes from here on: those later than `reach_ms` behind are no partners.
  static Timestamp drop_time(Timestamp time, std::int64_t reach_ms) {
    return time_after(time_after(time, reach_ms), 1);
  }

  template <typename T, typename Other, typename Combine>
  void add(ListState<Timed<T>>& own, ListState<Timed<Other>>& others, const SideOutput<T>& late,
           const T& record, std::int64_t from_ms, std::int64_t to_ms, KeyedOutput<Out>& out,
           Combine&& combine) {
    const Timestamp time = detail::required_time(out.time(), "an interval join");
    if (time < out.watermark()) {
      context_->count_late(1);
      return out.side(late, record);
    }
    const auto candidates = others.get();
    auto at = std::lower_bound(
        candidates.begin(), candidates.end(), time_after(time, from_ms),
        [](const Timed<Other>& entry, Timestamp moment) { return entry.time < moment; });
    for (; at != candidates.end() && at->time <= time_after(time, to_ms); ++at) {
      out.emit(combine(at->record), std::max(time, at->time));
    }
    const Timestamp drop_at = drop_time(time, to_ms);
    if (drop_at <= out.watermark()) return;
    own.update([&](std::vector<Timed<T>>& entries) {
      auto place = entries.end();
      while (place != entries.begin() && std::prev(place)->time > time) --place;
      entries.insert(place, Timed<T>{time, record});
    });
    const Timestamp at_latest = time_after(drop_at, slack_ms_);
    const Timestamp* const planned = next_drop_.find();
    if (planned != nullptr && *planned <= at_latest) return;
    if (planned != nullptr) out.delete_event_timer(*planned);
    next_drop_.set(at_latest);
    out.set_event_timer(at_latest);
  }
  template <typename T>
  static void drop(ListState<Timed<T>>& side, std::int64_t reach_ms, Timestamp time) {
    if (side.empty() || drop_time(side.get().front().time, reach_ms) > time) return;
    side.update([&](std::vector<Timed<T>>& entries) {
      auto kept = entries.begin();
      while (kept != entries.end() && drop_time(kept->time, reach_ms) <= time) ++kept;
      entries.erase(entries.begin(), kept);
    });
  }

  std::int64_t lower_ms_;
  std::int64_t upper_ms_;
  std::int64_t slack_ms_;
  Function function_;
  OperatorContext* context_ = nullptr;
  ListState<Timed<A>> first_{"first"};
  ListState<Timed<B>> second_{"second"};
  ValueState<Timestamp> next_drop_{"next_drop"};  // the timer that is set
};

}  // namespace hummer
