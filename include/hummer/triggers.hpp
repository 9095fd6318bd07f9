// Triggers: when the result of a window goes out.
//
//   EventTimeTrigger{}             once the watermark has reached the window's end (the default)
//   ProcessingTimeTrigger{}        once the clock has
//   CountTrigger::of(n)            every n records of a key and window
//   ContinuousTrigger::every(ms)   whenever the watermark has passed a multiple of `ms`, and at
//                                  the window's end; in_processing_time(): whenever the clock
//                                  has, and at the window's end
//   PurgingTrigger(other)          as the other; what has gone out is forgotten
//
// One of your own is copied into each subtask and called for each key and window:
//
//   struct FirstRecord {
//     struct State { bool seen = false; };        plain data with a codec; kept per key and window
//     TriggerResult record(TriggerContext&, State&) const;            after each record
//     TriggerResult event_time(TriggerContext&, State&) const;        the event timer has come
//     TriggerResult processing_time(TriggerContext&, State&) const;   the other timer has come
//     void merge(State& state, const State& other) const;             sessions became one
//   };
//
// A window has one timer of each kind: a new call of call_at_* replaces the old. It is
// forgotten once the watermark (the clock, for windows of processing time) has passed
// its end and the allowed lateness; timers for later moments do not come. GlobalWindows get
// a last event_time at the end of the stream, asked for or not.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include <hummer/windows.hpp>

namespace hummer {

enum class TriggerResult : std::uint8_t { go_on, fire, purge, fire_and_purge };

struct TriggerContext {
  TimeWindow window;
  Timestamp time;       // of the record in hand; else no_timestamp
  Timestamp watermark;  // no_timestamp: none yet
  Timestamp processing_time_ms;
  // end_of_time: none. At the end of the stream both times are end_of_time.
  Timestamp event_timer = end_of_time;
  Timestamp processing_timer = end_of_time;
  TimeDomain domain = TimeDomain::event;  // of the window

  void call_at_event_time(Timestamp when) { event_timer = when; }
  void call_at_processing_time(Timestamp when) { processing_timer = when; }
};

struct NoTriggerState {
  std::uint8_t unused = 0;
};

// At the window's end, in the time that the window is of.
struct DefaultTrigger {};

}  // namespace hummer

#include <hummer/detail/built_in_triggers.hpp>
