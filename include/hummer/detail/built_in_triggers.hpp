// The triggers that are built in, as hummer/triggers.hpp describes them. Included by it, never by
// itself.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <hummer/triggers.hpp>

namespace hummer {

struct EventTimeTrigger {
  using State = NoTriggerState;
  TriggerResult record(TriggerContext& context, State&) const {
    if (context.window.end_ms <= context.watermark) return TriggerResult::fire;
    context.call_at_event_time(context.window.end_ms);
    return TriggerResult::go_on;
  }
  TriggerResult event_time(TriggerContext&, State&) const { return TriggerResult::fire; }
  TriggerResult processing_time(TriggerContext&, State&) const { return TriggerResult::go_on; }
  void merge(State&, const State&) const {}
};

struct ProcessingTimeTrigger {
  using State = NoTriggerState;
  TriggerResult record(TriggerContext& context, State&) const {
    if (context.window.end_ms <= context.processing_time_ms) return TriggerResult::fire;
    context.call_at_processing_time(context.window.end_ms);
    return TriggerResult::go_on;
  }
  TriggerResult event_time(TriggerContext&, State&) const { return TriggerResult::go_on; }
  TriggerResult processing_time(TriggerContext&, State&) const { return TriggerResult::fire; }
  void merge(State&, const State&) const {}
};

// Of windows whose time is known when the job runs.
struct WindowEndTrigger {
  using State = NoTriggerState;
  TimeDomain domain;
  TriggerResult record(TriggerContext& context, State& state) const {
    return domain == TimeDomain::event ? EventTimeTrigger().record(context, state)
                                       : ProcessingTimeTrigger().record(context, state);
  }
  TriggerResult event_time(TriggerContext&, State&) const { return TriggerResult::fire; }
  TriggerResult processing_time(TriggerContext&, State&) const { return TriggerResult::fire; }
  void merge(State&, const State&) const {}
};

struct CountTrigger {
  struct State {
    std::uint64_t records = 0;
  };
  std::uint64_t count = 1;
  static CountTrigger of(std::uint64_t count) { return {count}; }

  TriggerResult record(TriggerContext&, State& state) const {
    if (++state.records < count) return TriggerResult::go_on;
    state.records = 0;
    return TriggerResult::fire;
  }
  TriggerResult event_time(TriggerContext&, State&) const { return TriggerResult::go_on; }
  TriggerResult processing_time(TriggerContext&, State&) const { return TriggerResult::go_on; }
  void merge(State& state, const State& other) const { state.records += other.records; }
};

struct ContinuousTrigger {
  struct State {
    Timestamp next = end_of_time;  // no_timestamp: the window's end has come
  };
  std::int64_t interval_ms = 1;
  TimeDomain domain = TimeDomain::event;

  static ContinuousTrigger every(std::int64_t milliseconds) { return {milliseconds}; }
  ContinuousTrigger in_processing_time() const { return {interval_ms, TimeDomain::processing}; }

  TriggerResult record(TriggerContext& context, State& state) const {
    if (context.window.end_ms <= now(context, context.domain)) return TriggerResult::fire;
    if (state.next == end_of_time || state.next == no_timestamp) {
      const Timestamp at = now(context, domain);
      state.next = behind(domain == context.domain ? std::max(context.time, at) : at);
    }
    call_at(context, state.next);
    return TriggerResult::go_on;
  }
  TriggerResult event_time(TriggerContext& context, State& state) const {
    return time_has_come(context, state);
  }
  TriggerResult processing_time(TriggerContext& context, State& state) const {
    return time_has_come(context, state);
  }
  void merge(State& state, const State& other) const {
    state.next = std::min(state.next, other.next);
  }

 private:
  static Timestamp now(const TriggerContext& context, TimeDomain domain) {
    return domain == TimeDomain::event ? context.watermark : context.processing_time_ms;
  }
  static void call_at(TriggerContext& context, TimeDomain domain, Timestamp when) {
    if (domain == TimeDomain::event) {
      context.call_at_event_time(when);
    } else {
      context.call_at_processing_time(when);
    }
  }
  // At `next` by the trigger's time, and at the window's end by its own.
  void call_at(TriggerContext& context, Timestamp next) const {
    call_at(context, context.domain, context.window.end_ms);
    const bool one_time = domain == context.domain;
    call_at(context, domain, one_time ? std::min(next, context.window.end_ms) : next);
  }
  TriggerResult time_has_come(TriggerContext& context, State& state) const {
    if (context.window.end_ms > now(context, context.domain)) {
      state.next = behind(now(context, domain));
      call_at(context, state.next);
      return TriggerResult::fire;
    }
    // Two timers may be left at the window's end.
    const bool again = std::exchange(state.next, no_timestamp) == no_timestamp;
    return again ? TriggerResult::go_on : TriggerResult::fire;
  }
  Timestamp behind(Timestamp time) const {
    const WindowGrid grid{interval_ms, interval_ms};
    return time_after(grid.floor(time, interval_ms), interval_ms);
  }
};

template <typename Other>
struct PurgingTrigger {
  using State = typename Other::State;
  Other other;
  explicit PurgingTrigger(Other inner) : other(std::move(inner)) {}

  TriggerResult record(TriggerContext& context, State& state) const {
    return purging(other.record(context, state));
  }
  TriggerResult event_time(TriggerContext& context, State& state) const {
    return purging(other.event_time(context, state));
  }
  TriggerResult processing_time(TriggerContext& context, State& state) const {
    return purging(other.processing_time(context, state));
  }
  void merge(State& state, const State& from) const { other.merge(state, from); }

 private:
  static TriggerResult purging(TriggerResult result) {
    return result == TriggerResult::fire ? TriggerResult::fire_and_purge : result;
  }
};

template <typename Windows, typename Trigger>
auto trigger_for(const Windows& windows, const Trigger& trigger) {
  if constexpr (std::is_same_v<Trigger, DefaultTrigger>) {
    return WindowEndTrigger{windows.domain};
  } else {
    (void)windows;
    return trigger;
  }
}

}  // namespace hummer
