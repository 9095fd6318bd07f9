// The members of process functions: what is called, and what only looks like it.
//
// A hook is found by its name and its parameters, and one that is misnamed would be passed over in
// silence. So a member of a known wrong name, and a hook that can't be called as it is called, are
// refused. Overloaded and generic members are not looked at.
#pragma once

#include <cstdint>
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

// Members with a wrong name, of which check_member says the right one; and the hooks.
// clang-format off
#define HUMMER_MISNAMED_MEMBERS(X)                                                       \
  X(on_open) X(onOpen) X(on_close) X(onClose) X(on_watermark) X(onWatermark) X(on_idle)  \
  X(on_flush) X(on_end) X(onEnd) X(on_snapshot) X(on_restore) X(on_timers) X(onTimer)    \
  X(on_event_timer) X(onEventTimer) X(on_event_time) X(on_processing_timers)             \
  X(onProcessingTimer) X(on_processing_time) X(sideOutputs)
#define HUMMER_HOOKS(X)                                                                  \
  X(open) X(close) X(watermark) X(idle) X(flush) X(end) X(timer) X(snapshot) X(restore)  \
  X(on_timer) X(on_processing_timer)
// clang-format on

// Whether User has a function `name` as a member, whatever its parameters.
#define HUMMER_MEMBER(name)  \
  template <typename User>   \
  concept HasMember_##name = \
      requires { requires std::is_member_function_pointer_v<decltype(&User::name)>; };
HUMMER_MISNAMED_MEMBERS(HUMMER_MEMBER)
HUMMER_HOOKS(HUMMER_MEMBER)
HUMMER_MEMBER(side_outputs)
#undef HUMMER_MEMBER

#define HUMMER_NAME(name) name,
enum class Misnamed { HUMMER_MISNAMED_MEMBERS(HUMMER_NAME) none };
// A hook that the function has.
enum class Hook { HUMMER_HOOKS(HUMMER_NAME) };
#undef HUMMER_NAME

template <typename User>
consteval Misnamed misnamed_member() {
#define HUMMER_FIND(name) \
  if (HasMember_##name<User>) return Misnamed::name;
  HUMMER_MISNAMED_MEMBERS(HUMMER_FIND)
#undef HUMMER_FIND
  return Misnamed::none;
}
#undef HUMMER_HOOKS
#undef HUMMER_MISNAMED_MEMBERS

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

// False (with an error): its parameters are others than it is called with.
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
