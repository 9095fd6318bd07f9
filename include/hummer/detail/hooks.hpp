// The members of process functions: what is called, and what only looks like it.
//
// A hook is found by its name and its parameters, and one that is misnamed would be passed over in
// silence. So a member of a known wrong name, and a hook that can't be called as it is called, are
// refused. Overloaded and generic members are not looked at.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include <hummer/batch.hpp>
#include <hummer/detail/record_type.hpp>

namespace hummer {

class OperatorContext;
template <typename Out>
class ProcessOutput;
template <typename Out>
class KeyedOutput;
template <typename Out>
class BroadcastOutput;

namespace detail {

// Whether User has a function `name` as a member, whatever its parameters.
#define HUMMER_MEMBER(name)  \
  template <typename User>   \
  concept HasMember_##name = \
      requires { requires std::is_member_function_pointer_v<decltype(&User::name)>; };
HUMMER_MEMBER(open)
HUMMER_MEMBER(close)
HUMMER_MEMBER(watermark)
HUMMER_MEMBER(idle)
HUMMER_MEMBER(flush)
HUMMER_MEMBER(end)
HUMMER_MEMBER(timer)
HUMMER_MEMBER(snapshot)
HUMMER_MEMBER(restore)
HUMMER_MEMBER(on_timer)
HUMMER_MEMBER(on_processing_timer)
HUMMER_MEMBER(side_outputs)
HUMMER_MEMBER(on_open)
HUMMER_MEMBER(onOpen)
HUMMER_MEMBER(on_close)
HUMMER_MEMBER(onClose)
HUMMER_MEMBER(on_watermark)
HUMMER_MEMBER(onWatermark)
HUMMER_MEMBER(on_idle)
HUMMER_MEMBER(on_flush)
HUMMER_MEMBER(on_end)
HUMMER_MEMBER(onEnd)
HUMMER_MEMBER(on_snapshot)
HUMMER_MEMBER(on_restore)
HUMMER_MEMBER(on_timers)
HUMMER_MEMBER(onTimer)
HUMMER_MEMBER(on_event_timer)
HUMMER_MEMBER(onEventTimer)
HUMMER_MEMBER(on_event_time)
HUMMER_MEMBER(on_processing_timers)
HUMMER_MEMBER(onProcessingTimer)
HUMMER_MEMBER(on_processing_time)
HUMMER_MEMBER(sideOutputs)
#undef HUMMER_MEMBER

// What there is of a wrong name; the hook that is meant is said below.
enum class Misnamed {
  none,
  on_open,
  onOpen,
  on_close,
  onClose,
  on_watermark,
  onWatermark,
  on_idle,
  on_flush,
  on_end,
  onEnd,
  on_snapshot,
  on_restore,
  on_timers,
  onTimer,
  on_event_timer,
  onEventTimer,
  on_event_time,
  on_processing_timers,
  onProcessingTimer,
  on_processing_time,
  sideOutputs,
};
template <typename User>
consteval Misnamed misnamed_member() {
  if (HasMember_on_open<User>) return Misnamed::on_open;
  if (HasMember_onOpen<User>) return Misnamed::onOpen;
  if (HasMember_on_close<User>) return Misnamed::on_close;
  if (HasMember_onClose<User>) return Misnamed::onClose;
  if (HasMember_on_watermark<User>) return Misnamed::on_watermark;
  if (HasMember_onWatermark<User>) return Misnamed::onWatermark;
  if (HasMember_on_idle<User>) return Misnamed::on_idle;
  if (HasMember_on_flush<User>) return Misnamed::on_flush;
  if (HasMember_on_end<User>) return Misnamed::on_end;
  if (HasMember_onEnd<User>) return Misnamed::onEnd;
  if (HasMember_on_snapshot<User>) return Misnamed::on_snapshot;
  if (HasMember_on_restore<User>) return Misnamed::on_restore;
  if (HasMember_on_timers<User>) return Misnamed::on_timers;
  if (HasMember_onTimer<User>) return Misnamed::onTimer;
  if (HasMember_on_event_timer<User>) return Misnamed::on_event_timer;
  if (HasMember_onEventTimer<User>) return Misnamed::onEventTimer;
  if (HasMember_on_event_time<User>) return Misnamed::on_event_time;
  if (HasMember_on_processing_timers<User>) return Misnamed::on_processing_timers;
  if (HasMember_onProcessingTimer<User>) return Misnamed::onProcessingTimer;
  if (HasMember_on_processing_time<User>) return Misnamed::on_processing_time;
  if (HasMember_sideOutputs<User>) return Misnamed::sideOutputs;
  return Misnamed::none;
}
consteval bool is_one_of(Misnamed member, std::initializer_list<Misnamed> names) {
  for (const Misnamed name : names) {
    if (member == name) return true;
  }
  return false;
}
template <typename User, Misnamed member>
consteval bool check_member() {
  constexpr bool open = is_one_of(member, {Misnamed::on_open, Misnamed::onOpen});
  static_assert(
      !open,
      "process: nothing calls this member of the function (member): the hook is called open");
  constexpr bool close = is_one_of(member, {Misnamed::on_close, Misnamed::onClose});
  static_assert(
      !close,
      "process: nothing calls this member of the function (member): the hook is called close");
  constexpr bool watermark = is_one_of(member, {Misnamed::on_watermark, Misnamed::onWatermark});
  static_assert(!watermark,
                "process: nothing calls this member of the function (member): the hook is called "
                "watermark (of functions without keys)");
  constexpr bool idle = is_one_of(member, {Misnamed::on_idle});
  static_assert(!idle,
                "process: nothing calls this member of the function (member): the hook is called "
                "idle (of functions without keys)");
  constexpr bool flush = is_one_of(member, {Misnamed::on_flush});
  static_assert(!flush,
                "process: nothing calls this member of the function (member): the hook is called "
                "flush (of functions without keys)");
  constexpr bool end = is_one_of(member, {Misnamed::on_end, Misnamed::onEnd});
  static_assert(!end,
                "process: nothing calls this member of the function (member): the hook is called "
                "end (with keys none is: event timers fire at the end)");
  constexpr bool snapshot = is_one_of(member, {Misnamed::on_snapshot});
  static_assert(!snapshot,
                "process: nothing calls this member of the function (member): the hook is called "
                "snapshot (of functions without keys)");
  constexpr bool restore = is_one_of(member, {Misnamed::on_restore});
  static_assert(!restore,
                "process: nothing calls this member of the function (member): the hook is called "
                "restore (of functions without keys)");
  constexpr bool on_timer =
      is_one_of(member, {Misnamed::on_timers, Misnamed::onTimer, Misnamed::on_event_timer,
                         Misnamed::onEventTimer, Misnamed::on_event_time});
  static_assert(
      !on_timer,
      "process: nothing calls this member of the function (member): the hook is called on_timer "
      "with keys, timer without");
  constexpr bool on_processing_timer = is_one_of(
      member,
      {Misnamed::on_processing_timers, Misnamed::onProcessingTimer, Misnamed::on_processing_time});
  static_assert(!on_processing_timer,
                "process: nothing calls this member of the function (member): the hook is called "
                "on_processing_timer with keys, timer without");
  constexpr bool side_outputs = is_one_of(member, {Misnamed::sideOutputs});
  static_assert(!side_outputs,
                "process: nothing calls this member of the function (member): the hook is called "
                "side_outputs");
  return member == Misnamed::none;
}

// A hook that the function has, and whether it can be called with what it is called with.
enum class Hook {
  open,
  close,
  watermark,
  idle,
  flush,
  end,
  timer,
  snapshot,
  restore,
  on_timer,
  on_processing_timer
};
template <typename User, Hook hook, bool is_called>
consteval bool check_hook() {
  static_assert(is_called || hook != Hook::open,
                "process: the hook open of the function has other parameters than it is called "
                "with: open(hummer::OperatorContext&)");
  static_assert(is_called || hook != Hook::close,
                "process: the hook close of the function has other parameters than it is called "
                "with: close()");
  static_assert(is_called || hook != Hook::watermark,
                "process: the hook watermark of the function has other parameters than it is "
                "called with: watermark(hummer::Timestamp, hummer::ProcessOutput<Out>&)");
  static_assert(is_called || hook != Hook::idle,
                "process: the hook idle of the function has other parameters than it is called "
                "with: idle(hummer::ProcessOutput<Out>&)");
  static_assert(is_called || hook != Hook::flush,
                "process: the hook flush of the function has other parameters than it is called "
                "with: flush(hummer::ProcessOutput<Out>&)");
  static_assert(is_called || hook != Hook::end,
                "process: the hook end of the function has other parameters than it is called "
                "with: end(hummer::ProcessOutput<Out>&)");
  static_assert(is_called || hook != Hook::timer,
                "process: the hook timer of the function has other parameters than it is called "
                "with: timer(std::int64_t now, hummer::ProcessOutput<Out>&)");
  static_assert(is_called || hook != Hook::snapshot,
                "process: the hook snapshot of the function has other parameters than it is called "
                "with: snapshot(hummer::ByteWriter&)");
  static_assert(is_called || hook != Hook::restore,
                "process: the hook restore of the function has other parameters than it is called "
                "with: restore(hummer::ByteReader&)");
  static_assert(is_called || hook != Hook::on_timer,
                "process: the hook on_timer of the function has other parameters than it is called "
                "with: on_timer(hummer::Timestamp, hummer::KeyedOutput<Out>&)");
  static_assert(
      is_called || hook != Hook::on_processing_timer,
      "process: the hook on_processing_timer of the function has other parameters than it is "
      "called with: on_processing_timer(hummer::Timestamp, hummer::KeyedOutput<Out>&)");
  return is_called;
}

template <typename User>
consteval bool check_side_outputs() {
  constexpr bool lists_sides =
      !HasMember_side_outputs<User> || requires(const User& user) { user.side_outputs(); };
  static_assert(lists_sides,
                "process: side_outputs() of the function is called on a const object: declare it "
                "hummer::SideOutputPorts side_outputs() const");
  return lists_sides;
}

template <typename User, typename Out>
consteval bool check_hooks() {
  if constexpr (!std::is_class_v<User>) {
    return true;
  } else if constexpr (HasMember_on_timer<User> || HasMember_on_processing_timer<User>) {
    static_assert(never<User>,
                  "process: on_timer and on_processing_timer are hooks of functions with keys: put "
                  "key_by(...) in front, or call the hook timer");
    return false;
  } else {
    return check_member<User, misnamed_member<User>()>() && check_side_outputs<User>() &&
           check_hook<User, Hook::open,
                      !HasMember_open<User> ||
                          requires(User& user, OperatorContext& context) {
                            user.open(context);
                          }>() &&
           check_hook<User, Hook::close,
                      !HasMember_close<User> || requires(User& user) { user.close(); }>() &&
           check_hook<User, Hook::watermark,
                      !HasMember_watermark<User> ||
                          requires(User& user, Timestamp time, ProcessOutput<Out>& out) {
                            user.watermark(time, out);
                          }>() &&
           check_hook<User, Hook::idle,
                      !HasMember_idle<User> ||
                          requires(User& user, ProcessOutput<Out>& out) { user.idle(out); }>() &&
           check_hook<User, Hook::flush,
                      !HasMember_flush<User> ||
                          requires(User& user, ProcessOutput<Out>& out) { user.flush(out); }>() &&
           check_hook<User, Hook::end,
                      !HasMember_end<User> ||
                          requires(User& user, ProcessOutput<Out>& out) { user.end(out); }>() &&
           check_hook<User, Hook::timer,
                      !HasMember_timer<User> ||
                          requires(User& user, std::int64_t now, ProcessOutput<Out>& out) {
                            user.timer(now, out);
                          }>() &&
           check_hook<User, Hook::snapshot,
                      !HasMember_snapshot<User> ||
                          requires(User& user, ByteWriter& out) { user.snapshot(out); }>() &&
           check_hook<User, Hook::restore,
                      !HasMember_restore<User> ||
                          requires(User& user, ByteReader& in) { user.restore(in); }>();
  }
}

template <typename User, typename Out>
consteval bool check_keyed_hooks() {
  if constexpr (!std::is_class_v<User>) {
    return true;
  } else if constexpr (std::is_aggregate_v<User> && !Reflectable<User> &&
                       !requires(User& user) { user.states(); }) {
    static_assert(
        never<User>,
        "process: the states of a function with a base class or an array are not found by "
        "themselves: list them, auto states() { return hummer::states(last, count); }");
    return false;
  } else if constexpr (
      requires(User& user, KeyedOutput<Out>& out) { user.end(out); } ||
      requires(User& user, KeyedOutput<Out>& out) { user.idle(out); }) {
    static_assert(never<User>,
                  "process: end and idle are no hooks of functions with keys, whose event timers "
                  "fire at the end: use set_event_timer, on_timer and out.ending()");
    return false;
  } else if constexpr (
      requires(User& user, Timestamp time, KeyedOutput<Out>& out) { user.timer(time, out); } ||
      requires(User& user, Timestamp time, KeyedOutput<Out>& out) { user.watermark(time, out); }) {
    static_assert(never<User>,
                  "process: timer and watermark are no hooks of functions with keys: use on_timer "
                  "and on_processing_timer");
    return false;
  } else {
    return check_member<User, misnamed_member<User>()>() && check_side_outputs<User>() &&
           check_hook<User, Hook::open,
                      !HasMember_open<User> ||
                          requires(User& user, OperatorContext& context) {
                            user.open(context);
                          }>() &&
           check_hook<User, Hook::close,
                      !HasMember_close<User> || requires(User& user) { user.close(); }>() &&
           check_hook<User, Hook::on_timer,
                      !HasMember_on_timer<User> ||
                          requires(User& user, Timestamp time, KeyedOutput<Out>& out) {
                            user.on_timer(time, out);
                          }>() &&
           check_hook<User, Hook::on_processing_timer,
                      !HasMember_on_processing_timer<User> ||
                          requires(User& user, Timestamp time, KeyedOutput<Out>& out) {
                            user.on_processing_timer(time, out);
                          }>();
  }
}

}  // namespace detail
}  // namespace hummer
