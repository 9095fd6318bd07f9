// The checks of process functions, with and without keys, of one stream or two: as checks.hpp.
#pragma once

#include <type_traits>

#include <hummer/detail/checks.hpp>
#include <hummer/detail/hooks.hpp>

namespace hummer::detail {

// Whether it takes records that own their text; see owned_text.hpp.
template <typename User, typename T, template <typename> typename Emit, typename Out>
consteval bool takes_owned_process() {
  if constexpr (std::is_void_v<Out>) {
    return false;
  } else {
    return process_wants_owned<User, T, Emit<Out>>;
  }
}

template <typename User, typename Record, typename Emit>
concept HasProcessFirst =
    requires(User& user, const Record& record, Emit& emit) { user.process_first(record, emit); };
template <typename User, typename Record, typename Emit>
concept HasProcessSecond =
    requires(User& user, const Record& record, Emit& emit) { user.process_second(record, emit); };
template <typename User, typename Record, typename Emit>
concept HasProcessBroadcast = requires(User& user, const Record& record, Emit& emit) {
  user.process_broadcast(record, emit);
};

template <typename User, typename T, typename Out>
consteval bool check_process() {
  if constexpr (std::is_void_v<Out>) {
    static_assert(never<User>,
                  "process: the function needs a member process(const T&, "
                  "hummer::ProcessOutput<Out>&); where that is generic, also using Output = Out");
    return false;
  } else if constexpr (Processes<User, T, ProcessOutput<Out>>) {
    return check_record_type<Out>() && check_copies<User>();
  } else if constexpr (Processes<User, T, KeyedOutput<Out>>) {
    static_assert(never<User>,
                  "process: the function takes a hummer::KeyedOutput, with state and timers per "
                  "key: put key_by(...) in front");
    return false;
  } else {
    static_assert(never<User>,
                  "process: the function can't be called with the stream's records and what it "
                  "puts out: process(const T&, hummer::ProcessOutput<Out>&)");
    return false;
  }
}

template <typename User, typename T, typename Out>
consteval bool check_keyed_process() {
  if constexpr (std::is_void_v<Out>) {
    static_assert(never<User>,
                  "process: the function needs a member process(const T&, "
                  "hummer::KeyedOutput<Out>&); where that is generic, also using Output = Out");
    return false;
  } else if constexpr (Processes<User, T, KeyedOutput<Out>>) {
    return check_record_type<Out>() && check_copies<User>();
  } else {
    static_assert(never<User>,
                  "process: the function can't be called with the stream's records and what it "
                  "puts out: process(const T&, hummer::KeyedOutput<Out>&)");
    return false;
  }
}

template <typename User, typename A, typename B, typename Out>
consteval bool check_connected_process() {
  if constexpr (std::is_void_v<Out>) {
    static_assert(never<User>,
                  "process: the function of connected streams needs members process_first(const "
                  "A&, hummer::ProcessOutput<Out>&) and process_second(const B&, the same)");
    return false;
  } else if constexpr (HasProcessFirst<User, A, ProcessOutput<Out>> &&
                       HasProcessSecond<User, B, ProcessOutput<Out>>) {
    return check_record_type<Out>() && check_copies<User>();
  } else {
    static_assert(never<User>,
                  "process: the function of connected streams can't be called: it needs "
                  "process_first(const A&, hummer::ProcessOutput<Out>&) and process_second(const "
                  "B&, the same)");
    return false;
  }
}

template <typename User, typename A, typename B, typename Out>
consteval bool check_keyed_connected_process() {
  if constexpr (std::is_void_v<Out>) {
    static_assert(never<User>,
                  "process: the function of connected streams needs members process_first(const "
                  "A&, hummer::KeyedOutput<Out>&) and process_second(const B&, the same)");
    return false;
  } else if constexpr (HasProcessFirst<User, A, KeyedOutput<Out>> &&
                       HasProcessSecond<User, B, KeyedOutput<Out>>) {
    return check_record_type<Out>() && check_copies<User>();
  } else {
    static_assert(never<User>,
                  "process: the function of connected streams can't be called: it needs "
                  "process_first(const A&, hummer::KeyedOutput<Out>&) and process_second(const B&, "
                  "the same)");
    return false;
  }
}

template <typename User, typename T, typename B, typename Out>
consteval bool check_broadcast_process() {
  if constexpr (std::is_void_v<Out>) {
    static_assert(never<User>,
                  "process: the function beside a broadcast needs process(const T&, "
                  "hummer::KeyedOutput<Out>&) and process_broadcast(const B&, "
                  "hummer::BroadcastOutput<Out>&)");
    return false;
  } else if constexpr (Processes<User, T, KeyedOutput<Out>> &&
                       HasProcessBroadcast<User, B, BroadcastOutput<Out>>) {
    return check_record_type<Out>() && check_copies<User>();
  } else {
    static_assert(never<User>,
                  "process: the function beside a broadcast can't be called: it needs "
                  "process(const T&, hummer::KeyedOutput<Out>&) and process_broadcast(const B&, "
                  "hummer::BroadcastOutput<Out>&)");
    return false;
  }
}

}  // namespace hummer::detail
