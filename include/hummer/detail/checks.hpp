// A check per call on a stream: one error that says what is wrong and what to do.
//
//   stream.filter([](const Order& order) { return order.name; })
//   error: static assertion failed: filter: its function must return bool, and returns something …
//
// A check is asked with `if constexpr`, and what it refuses answers a RefusedStream: nothing of the
// operator is instantiated, and the rest of the chain is passed over. docs/mistakes.md lists them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include <hummer/concepts.hpp>
#include <hummer/detail/misplaced_calls.hpp>
#include <hummer/detail/owned_text.hpp>
#include <hummer/detail/record_type.hpp>
#include <hummer/format.hpp>

namespace hummer {

template <typename U>
class AsyncResult;
template <typename Out>
class KeyedOutput;
template <StreamType T>
class SinkFunction;
template <StreamType T>
class TwoPhaseSinkFunction;

namespace detail {

// Each subtask gets a copy of the user's functions.
template <typename... Functions>
consteval bool check_copies() {
  constexpr bool copyable = (std::is_copy_constructible_v<Functions> && ...);
  static_assert(copyable,
                "this function can't be copied, and each subtask gets a copy of its own: capture "
                "a std::shared_ptr instead, or make in open() what can't be copied");
  return copyable;
}

template <typename Function, typename T>
consteval bool check_map() {
  if constexpr (MapFunction<Function, T>) {
    return check_copies<Function>();
  } else if constexpr (std::is_invocable_v<Function&, const T&>) {
    static_assert(never<Function>,
                  "map: its function returns nothing: let it return the new record, or use "
                  "for_each for an effect, and flat_map for any number of records");
    return false;
  } else {
    static_assert(never<Function>,
                  "map: its function does not take the stream's records: its one parameter must "
                  "be a const T&");
    return false;
  }
}

template <typename Function, typename T>
consteval bool check_filter() {
  if constexpr (Predicate<Function, T>) {
    return check_copies<Function>();
  } else if constexpr (std::is_invocable_v<Function&, const T&>) {
    static_assert(never<Function>,
                  "filter: its function must return bool, and returns something else: compare in "
                  "it, or use map to make new records");
    return false;
  } else {
    static_assert(never<Function>,
                  "filter: its function does not take the stream's records: its one parameter "
                  "must be a const T&");
    return false;
  }
}

template <typename Function, typename T, typename U>
consteval bool check_flat_map() {
  if constexpr (std::is_void_v<U>) {
    static_assert(never<Function>,
                  "flat_map: its function must take (const T&, hummer::Collector<U>&) and put U's "
                  "into the collector; of a generic one name them: flat_map<U>(...)");
    return false;
  } else if constexpr (!FlatMapFunction<Function, T, U>) {
    static_assert(never<Function>,
                  "flat_map: its function does not take the stream's records: its parameters must "
                  "be (const T&, hummer::Collector<U>&)");
    return false;
  } else {
    return check_record_type<U>() && check_copies<Function>();
  }
}
// Whether it takes records that own their text; see owned_text.hpp.
template <typename Function, typename T, typename U>
consteval bool takes_owned_into() {
  if constexpr (std::is_void_v<U>) {
    return false;
  } else {
    return wants_owned<Function, T, Collector<U>&>;
  }
}

template <typename Function, typename T>
consteval bool check_for_each() {
  constexpr bool is_called = std::is_invocable_v<Function&, const T&>;
  static_assert(is_called,
                "for_each: its function does not take the stream's records: its one parameter must "
                "be a const T&");
  return is_called && check_copies<Function>();
}

template <typename Stream, typename... Others>
consteval bool check_union() {
  constexpr bool same = (std::is_convertible_v<const Others&, Stream> && ...);
  static_assert(same,
                "union_with: all streams need records of the same type: put a map in front of "
                "those that have others");
  return same;
}

// U: of the function's AsyncResult<U>; void: it has none.
template <typename Function, typename T, typename U>
consteval bool check_async_map() {
  if constexpr (std::is_void_v<U>) {
    static_assert(never<Function>,
                  "async_map: its function must take (const T&, hummer::AsyncResult<U>), by value "
                  "and not generic, and complete the result later");
    return false;
  } else if constexpr (!std::is_invocable_v<Function&, const T&, AsyncResult<U>>) {
    static_assert(never<Function>,
                  "async_map: its function does not take the stream's records: its parameters must "
                  "be (const T&, hummer::AsyncResult<U>)");
    return false;
  } else if constexpr (!check_record_type<U>()) {
    return false;
  } else {
    static_assert(!holds_views<U>,
                  "async_map: a result comes when the record is gone, so it must own its text: use "
                  "std::string instead of std::string_view");
    return !holds_views<U> && check_copies<Function>();
  }
}

template <typename TimestampOf, typename T, typename Generator>
consteval bool check_timestamps() {
  if constexpr (!std::is_invocable_v<TimestampOf&, const T&>) {
    static_assert(never<TimestampOf>,
                  "assign_timestamps: the first argument must be a member of the record, "
                  "&Order::time_ms, or a function of a const T&");
    return false;
  } else if constexpr (!TimestampFunction<TimestampOf, const T&>) {
    static_assert(never<TimestampOf>,
                  "assign_timestamps: times are whole milliseconds since 1970; of seconds as a "
                  "number with a fraction return static_cast<hummer::Timestamp>(seconds * 1000)");
    return false;
  } else {
    constexpr bool generates = WatermarkGenerator<Generator, T>;
    static_assert(generates,
                  "assign_timestamps: the generator of watermarks needs record(const T&, "
                  "hummer::Timestamp) and watermark() const → hummer::Timestamp");
    return generates && check_copies<TimestampOf, Generator>();
  }
}

template <typename KeyOf, typename T>
consteval bool check_key_by() {
  if constexpr (!std::is_invocable_v<KeyOf&, const T&>) {
    static_assert(never<KeyOf>,
                  "key_by: the key must be a member of the record, &Order::id, or a function of a "
                  "const T&");
    return false;
  } else if constexpr (std::is_void_v<std::invoke_result_t<KeyOf&, const T&>>) {
    static_assert(never<KeyOf>, "key_by: its function returns nothing: let it return the key");
    return false;
  } else {
    using Key = Stored<std::remove_cvref_t<std::invoke_result_t<KeyOf&, const T&>>>;
    if constexpr (!check_record_type<Key>()) {
      return false;
    } else {
      constexpr bool owns = std::is_same_v<Key, std::string_view> || !holds_views<Key>;
      static_assert(owns,
                    "key_by: a key of several parts is kept longer than the record, so it must own "
                    "its text: use std::string in it instead of std::string_view");
      return owns && check_copies<KeyOf>();
    }
  }
}

template <typename Choose, typename T>
consteval bool check_partition_custom() {
  if constexpr (!std::is_invocable_v<Choose&, const T&, std::uint32_t>) {
    static_assert(never<Choose>,
                  "partition_custom: its function takes (const T&, std::uint32_t partitions)");
    return false;
  } else if constexpr (!std::is_integral_v<
                           std::invoke_result_t<Choose&, const T&, std::uint32_t>>) {
    static_assert(never<Choose>,
                  "partition_custom: its function answers the number of a subtask, from 0 on");
    return false;
  } else {
    return check_copies<Choose>();
  }
}

// ---- aggregates ----

template <typename ValueOf, typename T>
consteval bool check_sum() {
  if constexpr (!std::is_invocable_v<ValueOf&, const T&>) {
    static_assert(never<ValueOf>,
                  "sum: the value must be a member of the record, &Order::cents, or a function of "
                  "a const T&");
    return false;
  } else {
    constexpr bool number =
        std::is_arithmetic_v<std::remove_cvref_t<std::invoke_result_t<ValueOf&, const T&>>>;
    static_assert(number,
                  "sum: its function must return a number: use reduce or aggregate for other "
                  "values");
    return number && check_copies<ValueOf>();
  }
}

// Of min and max: what is compared with < and >.
template <typename ValueOf, typename T, bool least>
consteval bool check_best() {
  if constexpr (!MapFunction<ValueOf, T>) {
    static_assert(never<ValueOf>,
                  "min, max: the value must be a member of the record, &Order::cents, or a "
                  "function of a const T& that returns one");
    return false;
  } else {
    using V = std::remove_cvref_t<std::invoke_result_t<ValueOf&, const T&>>;
    if constexpr (!check_record_type<V>()) {
      return false;
    } else if constexpr (!(least ? requires(const V& a, const V& b) { bool(a < b); }
                                 : requires(const V& a, const V& b) { bool(a > b); })) {
      static_assert(never<V>, "min, max: the values can't be compared: give them operator<=>");
      return false;
    } else {
      static_assert(!holds_views<V>,
                    "min, max: the value is kept longer than the record, so it must own its text: "
                    "return a std::string");
      return !holds_views<V> && check_copies<ValueOf>();
    }
  }
}

template <typename Combine, typename T>
consteval bool check_reduce() {
  if constexpr (!std::is_invocable_v<Combine&, const T&, const T&>) {
    static_assert(never<Combine>,
                  "reduce: its function must take two records, (const T&, const T&), and return "
                  "one");
    return false;
  } else if constexpr (!ReduceFunction<Combine, T>) {
    static_assert(never<Combine>,
                  "reduce: its function must return a T, the type of the records, and returns "
                  "another one: use aggregate where the result is of another type");
    return false;
  } else {
    static_assert(!holds_views<T>,
                  "reduce: the result is kept longer than the records, so they must own their "
                  "text: use std::string, or let the function take it");
    return !holds_views<T> && check_copies<Combine>();
  }
}

// `emits`: the result becomes a record; of a window function it is an argument.
template <typename Aggregate, typename T, bool emits = true>
consteval bool check_aggregate() {
  if constexpr (!requires { typename Aggregate::Accumulator; }) {
    static_assert(never<Aggregate>,
                  "aggregate: the aggregate has no type Accumulator: name what is kept per key, "
                  "such as using Accumulator = std::uint64_t");
    return false;
  } else if constexpr (!requires { typename Aggregate::Result; }) {
    static_assert(never<Aggregate>,
                  "aggregate: the aggregate has no type Result: name what result(accumulator) "
                  "returns, such as using Result = double");
    return false;
  } else {
    using A = typename Aggregate::Accumulator;
    if constexpr (!requires(const Aggregate& own, A& a, const T& record) {
                    own.add(a, true, record);
                  }) {
      static_assert(never<Aggregate>,
                    "aggregate: the aggregate needs a member void add(Accumulator&, bool is_new, "
                    "const T& record) const");
      return false;
    } else if constexpr (!requires(const Aggregate& own, A& a, const A& other) {
                           own.merge(a, true, other);
                         }) {
      static_assert(never<Aggregate>,
                    "aggregate: the aggregate needs a member void merge(Accumulator&, bool is_new, "
                    "const Accumulator& other) const");
      return false;
    } else if constexpr (!requires(const Aggregate& own, const A& a) {
                           { own.result(a) } -> std::convertible_to<typename Aggregate::Result>;
                         }) {
      static_assert(never<Aggregate>,
                    "aggregate: the aggregate needs a member Result result(const Accumulator&) "
                    "const");
      return false;
    } else if constexpr (!check_record_type<A>()) {
      return false;
    } else if constexpr (!check_record_type<
                             std::conditional_t<emits, typename Aggregate::Result, A>>()) {
      return false;
    } else {
      static_assert(!holds_views<A>,
                    "aggregate: the accumulator is kept longer than the records, so an accumulator "
                    "must own its text: use std::string instead of std::string_view");
      return !holds_views<A> && check_copies<Aggregate>();
    }
  }
}

template <typename ScoreOf, typename T>
consteval bool check_top_n() {
  if constexpr (!MapFunction<ScoreOf, T>) {
    static_assert(never<ScoreOf>,
                  "top_n: the score must be a member of the record, &Order::cents, or a function "
                  "of a const T& that returns one");
    return false;
  } else {
    static_assert(!holds_views<T>,
                  "top_n: records are kept until the window ends, so they must own their text: use "
                  "std::string in them");
    return !holds_views<T> && check_copies<ScoreOf>();
  }
}

// ---- windows ----

template <typename Windows>
consteval bool check_windows() {
  constexpr bool known = WindowsOfRecords<Windows>;
  static_assert(known,
                "window: takes windows, such as hummer::TumblingWindows::of(60'000) of "
                "hummer/windows.hpp");
  return known;
}

template <typename Trigger>
consteval bool check_trigger() {
  constexpr bool known = WindowTrigger<Trigger>;
  static_assert(known,
                "trigger: needs a type State and the const members record, event_time, "
                "processing_time and merge, as hummer/triggers.hpp says");
  return known;
}

// Whether function(key, window, value, Collector<U>&) can be called, with views or strings; the key
// is left out behind window_all.
template <typename Function, typename Key, typename Value, typename U>
concept WindowFunctionFor =
    std::is_invocable_v<Function&, const Key&, const TimeWindow&, const Value&, Collector<U>&> ||
    std::is_invocable_v<Function&, const Owned<Key>&, const TimeWindow&, const Owned<Value>&,
                        Collector<U>&> ||
    std::is_invocable_v<Function&, const TimeWindow&, const Value&, Collector<U>&> ||
    std::is_invocable_v<Function&, const TimeWindow&, const Owned<Value>&, Collector<U>&>;

template <typename Function, typename Key, typename Value, typename U>
consteval bool check_window_aggregate() {
  if constexpr (std::is_void_v<U>) {
    static_assert(never<Function>,
                  "aggregate: the window function must take (key, hummer::TimeWindow, result, "
                  "hummer::Collector<U>&); of a generic one name the U: aggregate<U>(...)");
    return false;
  } else if constexpr (!WindowFunctionFor<Function, Key, Value, U>) {
    static_assert(never<Function>,
                  "aggregate: the window function can't be called with (key, hummer::TimeWindow, "
                  "result, hummer::Collector<U>&), behind window_all without the key");
    return false;
  } else {
    return check_record_type<U>() && check_copies<Function>();
  }
}

template <typename Function, typename Key, typename T, typename U>
consteval bool check_window_process() {
  if constexpr (std::is_void_v<U>) {
    static_assert(
        never<Function>,
        "process: the window function must take (key, hummer::TimeWindow, std::span<const "
        "T>, hummer::Collector<U>&); of a generic one name the U: process<U>(...)");
    return false;
  } else if constexpr (holds_views<T> && !std::is_same_v<T, std::string_view>) {
    static_assert(never<Function>,
                  "process: records that a window keeps must own their text: use std::string in "
                  "them instead of std::string_view");
    return false;
  } else if constexpr (!WindowFunctionFor<Function, Key, std::span<const T>, U> &&
                       !WindowFunctionFor<Function, Key, std::span<const Owned<T>>, U> &&
                       !WindowFunctionFor<Function, Owned<Key>, std::span<const Owned<T>>, U>) {
    static_assert(never<Function>,
                  "process: the window function can't be called with (key, hummer::TimeWindow, "
                  "std::span<const T>, hummer::Collector<U>&), behind window_all without the key");
    return false;
  } else {
    return check_record_type<U>() && check_copies<Function>();
  }
}

// ---- two streams ----

template <typename A, typename KeyA, typename B, typename KeyB>
consteval bool check_join() {
  static_assert(std::is_same_v<KeyA, KeyB>,
                "join: both sides need keys of the same type (KeyA, KeyB): convert one of them in "
                "its key_by(...)");
  if constexpr (std::is_same_v<KeyA, KeyB>) {
    constexpr bool own = !holds_views<A> && !holds_views<B>;
    static_assert(own,
                  "join: records wait for their partners, so they must own their text: use "
                  "std::string in them, or put owned() in front of key_by(...)");
    return own;
  }
  return false;
}

template <typename Other>
RefusedStream without_keys(const Other&) {
  static_assert(std::is_same_v<Other, RefusedStream>,
                "join: the second side has no keys: put key_by(...) behind it");
  return {};
}

template <typename Windows>
consteval bool check_join_windows() {
  constexpr bool of_time = on_grid<Windows> || std::is_same_v<Windows, SessionWindows>;
  static_assert(of_time,
                "window: joins have windows of time: hummer::TumblingWindows, SlidingWindows or "
                "SessionWindows");
  return of_time;
}

template <typename KeyA, typename KeyB>
consteval bool check_connected_keys() {
  static_assert(std::is_same_v<KeyA, KeyB>,
                "connect: both sides need keys of the same type (KeyA, KeyB): convert one of them "
                "in its key_by(...)");
  return std::is_same_v<KeyA, KeyB>;
}

template <typename Function, typename A, typename B>
consteval bool check_join_function() {
  if constexpr (!std::is_invocable_v<Function&, const A&, const B&>) {
    static_assert(never<Function>,
                  "apply: the function of a join must take a record of each side, (const A&, "
                  "const B&)");
    return false;
  } else if constexpr (std::is_void_v<std::invoke_result_t<Function&, const A&, const B&>>) {
    static_assert(never<Function>,
                  "apply: the function of a join returns nothing: let it return the record that it "
                  "makes of both");
    return false;
  } else {
    using Out = Stored<std::remove_cvref_t<std::invoke_result_t<Function&, const A&, const B&>>>;
    return check_record_type<Out>() && check_copies<Function>();
  }
}

template <typename Function, typename A, typename B, typename Out>
consteval bool check_co_group_function() {
  if constexpr (std::is_void_v<Out>) {
    static_assert(
        never<Function>,
        "apply: the function of a co_group must take (hummer::TimeWindow, std::span<const "
        "A>, std::span<const B>, hummer::KeyedOutput<Out>&); a generic one: apply<Out>");
    return false;
  } else if constexpr (!std::is_invocable_v<Function&, TimeWindow&, std::span<const A>,
                                            std::span<const B>, KeyedOutput<Out>&>) {
    static_assert(never<Function>,
                  "apply: the function of a co_group can't be called with (hummer::TimeWindow, "
                  "std::span<const A>, std::span<const B>, hummer::KeyedOutput<Out>&)");
    return false;
  } else {
    return check_record_type<Out>() && check_copies<Function>();
  }
}

// ---- sources and sinks ----

// Make: what add_sink(name, make) knows.
template <typename Make, typename T>
inline constexpr bool makes_sink =
    Makes<Make, SinkFunction<T>> || Makes<Make, TwoPhaseSinkFunction<T>> ||
    (has_owned_form<T> &&
     (Makes<Make, SinkFunction<Owned<T>>> || Makes<Make, TwoPhaseSinkFunction<Owned<T>>>));

template <typename Make, typename Contract>
consteval bool check_source() {
  constexpr bool makes_source = Makes<Make, Contract>;
  static_assert(makes_source,
                "from_source: the second argument must be a function without parameters that "
                "returns a std::unique_ptr to a hummer::SourceFunction<T> (Contract)");
  return makes_source;
}

template <typename Function, typename TimestampOf>
consteval bool check_generate() {
  if constexpr (!MapFunction<Function, std::uint64_t>) {
    static_assert(never<Function>,
                  "generate: its function must take an index, std::uint64_t, and return the record "
                  "of that index");
    return false;
  } else {
    constexpr bool timed = TimestampFunction<TimestampOf, std::uint64_t>;
    static_assert(timed,
                  "generate: its timestamp function must take an index, std::uint64_t, and return "
                  "whole milliseconds since 1970");
    using T = Stored<std::remove_cvref_t<std::invoke_result_t<Function&, std::uint64_t>>>;
    return timed && check_record_type<T>() && check_copies<Function, TimestampOf>();
  }
}

template <typename T>
consteval bool check_written() {
  constexpr bool can_be = can_be_written<T>();
  static_assert(can_be,
                "records of this type cannot be written as text: give the type `void "
                "format_record(const T&, std::string&)` in its own namespace, or operator<<, or "
                "map it to text first");
  return can_be;
}

}  // namespace detail
}  // namespace hummer
