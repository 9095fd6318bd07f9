// The members of process functions: what is called, and what only looks like it.
//
// A hook is found by its name and its parameters, and one that is misnamed would be passed over in
// silence. So a member of a known wrong name, and a hook that can't be called as it is called, are
// refused. Overloaded and generic members are not looked at.
#pragma once

#include <cstdint>
#include <type_traits>

#include <hummer/batch.hpp>
#include <hummer/record_type.hpp>

namespace hummer {

class OperatorContext;
template <typename Out>
class ProcessOutput;
template <typename Out>
class KeyedOutput;
template <typename Out>
class BroadcastOutput;

namespace detail {

// Its member `name`, whatever its parameters; called with arguments of these types.
#define HUMMER_MEMBER(name)  \
  template <typename User>   \
  concept HasMember_##name = \
      requires { requires std::is_member_function_pointer_v<decltype(&User::name)>; };
#define HUMMER_HOOK(name, parameters)                                                           \
  HUMMER_MEMBER(name)                                                                           \
  template <typename User, typename... Arguments>                                               \
  consteval bool check_hook_##name() {                                                          \
    if constexpr (HasMember_##name<User>) {                                                     \
      constexpr bool is_called =                                                                \
          requires(User& user, Arguments&... arguments) { user.name(arguments...); };           \
      static_assert(is_called,                                                                  \
                    "process: the function's hook " #name                                       \
                    " has other parameters than it is called with: " #name "(" parameters ")"); \
      return is_called;                                                                         \
    }                                                                                           \
    return true;                                                                                \
  }
#define HUMMER_NO_HOOK(name, hook)                                                               \
  HUMMER_MEMBER(name)                                                                            \
  template <typename User>                                                                       \
  consteval bool check_no_##name() {                                                             \
    static_assert(!HasMember_##name<User>, "process: nothing calls the function's member " #name \
                                           "; the hook is called " hook);                        \
    return !HasMember_##name<User>;                                                              \
  }

HUMMER_HOOK(open, "hummer::OperatorContext&")
HUMMER_HOOK(close, "")
HUMMER_HOOK(watermark, "hummer::Timestamp, hummer::ProcessOutput<Out>&")
HUMMER_HOOK(idle, "hummer::ProcessOutput<Out>&")
HUMMER_HOOK(flush, "hummer::ProcessOutput<Out>&")
HUMMER_HOOK(end, "hummer::ProcessOutput<Out>&")
HUMMER_HOOK(timer, "std::int64_t now, hummer::ProcessOutput<Out>&")
HUMMER_HOOK(snapshot, "hummer::ByteWriter&")
HUMMER_HOOK(restore, "hummer::ByteReader&")
HUMMER_HOOK(on_timer, "hummer::Timestamp, hummer::KeyedOutput<Out>&")
HUMMER_HOOK(on_processing_timer, "hummer::Timestamp, hummer::KeyedOutput<Out>&")
HUMMER_MEMBER(side_outputs)

HUMMER_NO_HOOK(on_open, "open")
HUMMER_NO_HOOK(onOpen, "open")
HUMMER_NO_HOOK(on_close, "close")
HUMMER_NO_HOOK(onClose, "close")
HUMMER_NO_HOOK(on_record, "process")
HUMMER_NO_HOOK(on_element, "process")
HUMMER_NO_HOOK(process_element, "process")
HUMMER_NO_HOOK(processElement, "process")
HUMMER_NO_HOOK(on_watermark, "watermark (without keys)")
HUMMER_NO_HOOK(onWatermark, "watermark (without keys)")
HUMMER_NO_HOOK(on_end, "end (without keys; with keys event timers fire at the end)")
HUMMER_NO_HOOK(onEnd, "end (without keys; with keys event timers fire at the end)")
HUMMER_NO_HOOK(on_idle, "idle (without keys)")
HUMMER_NO_HOOK(on_flush, "flush (without keys)")
HUMMER_NO_HOOK(on_snapshot, "snapshot (without keys)")
HUMMER_NO_HOOK(on_restore, "restore (without keys)")
HUMMER_NO_HOOK(on_timers, "on_timer (with keys) or timer")
HUMMER_NO_HOOK(onTimer, "on_timer (with keys) or timer")
HUMMER_NO_HOOK(on_event_timer, "on_timer (with keys) or timer")
HUMMER_NO_HOOK(onEventTimer, "on_timer (with keys) or timer")
HUMMER_NO_HOOK(on_event_time, "on_timer (with keys) or timer")
HUMMER_NO_HOOK(onProcessingTimer, "on_processing_timer (with keys) or timer")
HUMMER_NO_HOOK(on_processing_timers, "on_processing_timer (with keys) or timer")
HUMMER_NO_HOOK(on_processing_time, "on_processing_timer (with keys) or timer")
HUMMER_NO_HOOK(processFirst, "process_first")
HUMMER_NO_HOOK(processSecond, "process_second")
HUMMER_NO_HOOK(processBroadcast, "process_broadcast")
HUMMER_NO_HOOK(process_broadcast_element, "process_broadcast")
HUMMER_NO_HOOK(sideOutputs, "side_outputs")

#undef HUMMER_NO_HOOK
#undef HUMMER_HOOK
#undef HUMMER_MEMBER

template <typename User>
consteval bool check_names() {
  return check_no_on_open<User>() && check_no_onOpen<User>() && check_no_on_close<User>() &&
         check_no_onClose<User>() && check_no_on_record<User>() && check_no_on_element<User>() &&
         check_no_process_element<User>() && check_no_processElement<User>() &&
         check_no_on_watermark<User>() && check_no_onWatermark<User>() && check_no_on_end<User>() &&
         check_no_onEnd<User>() && check_no_on_idle<User>() && check_no_on_flush<User>() &&
         check_no_on_snapshot<User>() && check_no_on_restore<User>() &&
         check_no_on_timers<User>() && check_no_onTimer<User>() &&
         check_no_on_event_timer<User>() && check_no_onEventTimer<User>() &&
         check_no_on_event_time<User>() && check_no_onProcessingTimer<User>() &&
         check_no_on_processing_timers<User>() && check_no_on_processing_time<User>() &&
         check_no_processFirst<User>() && check_no_processSecond<User>() &&
         check_no_processBroadcast<User>() && check_no_process_broadcast_element<User>() &&
         check_no_sideOutputs<User>();
}

// What functions with and without keys have in common.
template <typename User>
consteval bool check_common_hooks() {
  constexpr bool lists_sides =
      !HasMember_side_outputs<User> || requires(const User& user) { user.side_outputs(); };
  static_assert(lists_sides,
                "process: side_outputs() of the function is called on a const object: declare it "
                "hummer::SideOutputPorts side_outputs() const");
  return lists_sides && check_hook_open<User, OperatorContext>() && check_hook_close<User>();
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
    return check_names<User>() && check_common_hooks<User>() &&
           check_hook_watermark<User, const Timestamp, ProcessOutput<Out>>() &&
           check_hook_idle<User, ProcessOutput<Out>>() &&
           check_hook_flush<User, ProcessOutput<Out>>() &&
           check_hook_end<User, ProcessOutput<Out>>() &&
           check_hook_timer<User, const std::int64_t, ProcessOutput<Out>>() &&
           check_hook_snapshot<User, ByteWriter>() && check_hook_restore<User, ByteReader>();
  }
}

template <typename User, typename Out>
consteval bool check_keyed_hooks() {
  if constexpr (!std::is_class_v<User>) {
    return true;
  } else if constexpr (
      requires(User& user, KeyedOutput<Out>& out) { user.end(out); } ||
      requires(User& user, KeyedOutput<Out>& out) { user.flush(out); } ||
      requires(User& user, KeyedOutput<Out>& out) { user.idle(out); }) {
    static_assert(never<User>,
                  "process: end, flush and idle are no hooks of functions with keys, whose timers "
                  "fire at the end: set_event_timer, on_timer and out.ending()");
    return false;
  } else if constexpr (
      requires(User& user, Timestamp time, KeyedOutput<Out>& out) { user.timer(time, out); } ||
      requires(User& user, Timestamp time, KeyedOutput<Out>& out) { user.watermark(time, out); }) {
    static_assert(never<User>,
                  "process: timer and watermark are no hooks of functions with keys: use on_timer "
                  "and on_processing_timer");
    return false;
  } else {
    return check_names<User>() && check_common_hooks<User>() &&
           check_hook_on_timer<User, const Timestamp, KeyedOutput<Out>>() &&
           check_hook_on_processing_timer<User, const Timestamp, KeyedOutput<Out>>();
  }
}

}  // namespace detail
}  // namespace hummer
