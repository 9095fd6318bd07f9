// WindowedStream: a keyed stream cut into windows, on its way to an aggregate.
//
//   stream.assign_timestamps(&Click::time_ms, WatermarkStrategy::bounded(5'000))
//       .key_by(&Click::user)
//       .window(SlidingWindows::of(60'000, 1'000))
//       .allowed_lateness(10'000)
//       .count()
//
// Results are Windowed<Key, Value> (WindowedAll<Value> from window_all), or what a
// window function emits. Each goes out when the window's trigger says so; the
// default is: once, when the watermark reaches the window's end, and with allowed
// lateness again for each key that late records change.
//
// A value; nothing runs before execute().
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <hummer/data_stream.hpp>
#include <hummer/detail/operators/count_window.hpp>
#include <hummer/detail/operators/keyed_window.hpp>
#include <hummer/detail/operators/late_records.hpp>
#include <hummer/detail/operators/partial_window.hpp>
#include <hummer/detail/operators/slice_window.hpp>
#include <hummer/triggers.hpp>

namespace hummer {

// The key of all records of window_all.
struct NoKey {
  template <typename T>
  std::uint8_t operator()(const T&) const noexcept {
    return 0;
  }
};

namespace detail {

// The T of a window function's last parameter, Collector<T>&; void: unknown.
template <typename Signature>
struct WindowFunctionOutput;
template <typename Class, typename K, typename W, typename V, typename T>
struct WindowFunctionOutput<void (Class::*)(K, W, V, Collector<T>&) const> {
  using Type = T;
};
template <typename Class, typename K, typename W, typename V, typename T>
struct WindowFunctionOutput<void (Class::*)(K, W, V, Collector<T>&)> {
  using Type = T;
};
template <typename Class, typename W, typename V, typename T>
struct WindowFunctionOutput<void (Class::*)(W, V, Collector<T>&) const> {
  using Type = T;
};
template <typename Class, typename W, typename V, typename T>
struct WindowFunctionOutput<void (Class::*)(W, V, Collector<T>&)> {
  using Type = T;
};

template <typename Out, typename Function>
auto window_function_output() {
  if constexpr (!std::is_void_v<Out>) {
    return std::type_identity<Out>{};
  } else if constexpr (requires { typename Function::Output; }) {
    return std::type_identity<typename Function::Output>{};
  } else if constexpr (requires {
                         typename WindowFunctionOutput<decltype(&Function::operator())>::Type;
                       }) {
    return std::type_identity<
        typename WindowFunctionOutput<decltype(&Function::operator())>::Type>{};
  } else {
    return std::type_identity<void>{};
  }
}

}  // namespace detail

template <typename T, typename KeyOf, typename Windows, typename Trigger = DefaultTrigger>
class WindowedStream {
  static constexpr bool keyed = !std::is_same_v<KeyOf, NoKey>;
  static constexpr bool default_trigger = std::is_same_v<Trigger, DefaultTrigger>;
  static constexpr bool by_count = std::is_same_v<Windows, CountWindows>;
  static constexpr bool has_late = !by_count && !std::is_same_v<Windows, GlobalWindows>;

 public:
  using Key = Stored<std::remove_cvref_t<std::invoke_result_t<KeyOf&, const T&>>>;

  WindowedStream(DataStream<T> stream, KeyOf key_of, Windows windows, Trigger trigger = {})
      : stream_(std::move(stream)),
        key_of_(std::move(key_of)),
        windows_(windows),
        trigger_(std::move(trigger)) {}

  // ---- settings ----

  // Windows stay open this much longer; late records change their results.
  WindowedStream allowed_lateness(std::int64_t milliseconds) const {
    static_assert(has_late,
                  "no record is late in CountWindows or GlobalWindows: leave out "
                  "allowed_lateness(...)");
    WindowedStream copy = *this;
    copy.lateness_ms_ = milliseconds;
    return copy;
  }
  // Records that are too late for every window: `result.side_output(tag)` of the aggregate. With
  // windows of processing time, which have none, execute() refuses the job.
  template <typename U>
  WindowedStream late_output(SideOutput<U> tag) const {
    static_assert(has_late,
                  "no record is late in CountWindows or GlobalWindows: leave out "
                  "late_output(...)");
    static_assert(
        std::is_same_v<U, T>,
        "late_output: the tag must be a hummer::SideOutput<T> of the records that go into "
        "the windows");
    WindowedStream copy = *this;
    if constexpr (std::is_same_v<U, T>) copy.late_tag_ = tag;
    return copy;
  }
  // When results go out: see hummer/triggers.hpp.
  template <typename NewTrigger>
  auto trigger(NewTrigger trigger) const {
    static_assert(
        !by_count,
        "trigger: windows of records have none: use hummer::GlobalWindows with a trigger");
    if constexpr (by_count) {
      return *this;
    } else if constexpr (detail::check_trigger<NewTrigger>()) {
      WindowedStream<T, KeyOf, Windows, NewTrigger> copy(stream_, key_of_, windows_,
                                                         std::move(trigger));
      copy.lateness_ms_ = lateness_ms_;
      copy.late_tag_ = late_tag_;
      copy.strategy_ = strategy_;
      return copy;
    } else {
      return *this;
    }
  }
  WindowedStream strategy(WindowStrategy strategy) const {
    WindowedStream copy = *this;
    copy.strategy_ = strategy;
    return copy;
  }

  // ---- aggregates ----

  auto count() const { return value("window_count", CountAggregate{}, {}); }
  // value_of: a member pointer or function(const T&) → number.
  template <typename ValueOf>
  auto sum(ValueOf value_of) const {
    if constexpr (detail::check_sum<ValueOf, T>()) {
      return value("window_sum", SumAggregate<Value<ValueOf>, ValueOf>{value_of},
                   captured_values(value_of));
    } else {
      return detail::RefusedStream();
    }
  }
  template <typename ValueOf>
  auto min(ValueOf value_of) const {
    if constexpr (detail::check_best<ValueOf, T, true>()) {
      using V = Value<ValueOf>;
      return value("window_min", BestAggregate<V, ValueOf, std::less<V>>{value_of},
                   captured_values(value_of));
    } else {
      return detail::RefusedStream();
    }
  }
  template <typename ValueOf>
  auto max(ValueOf value_of) const {
    if constexpr (detail::check_best<ValueOf, T, false>()) {
      using V = Value<ValueOf>;
      return value("window_max", BestAggregate<V, ValueOf, std::greater<V>>{value_of},
                   captured_values(value_of));
    } else {
      return detail::RefusedStream();
    }
  }
  // combine(const T&, const T&) → T, associative and commutative.
  template <typename Combine>
  auto reduce(Combine combine) const {
    if constexpr (detail::check_reduce<Combine, T>()) {
      return value("window_reduce", ReduceAggregate<T, Combine>{combine}, captured_values(combine));
    } else {
      return detail::RefusedStream();
    }
  }
  // Any aggregate of the shape in hummer/aggregate.hpp.
  template <typename Aggregate>
  auto aggregate(Aggregate aggregate) const {
    if constexpr (detail::check_aggregate<Aggregate, T>()) {
      return value("window_aggregate", aggregate, captured_values(aggregate));
    } else {
      return detail::RefusedStream();
    }
  }
  // The same, with function(key, window, result, Collector<Out>&) called for each result;
  // without the key behind window_all.
  template <typename Out = void, typename Aggregate, typename Function>
  auto aggregate(Aggregate aggregate, Function function) const {
    using Emitted = typename decltype(detail::window_function_output<Out, Function>())::type;
    if constexpr (!detail::check_aggregate<Aggregate, T, false>()) {
      return detail::RefusedStream();
    } else if constexpr (!detail::check_window_aggregate<Function, Key, typename Aggregate::Result,
                                                         Emitted>()) {
      return detail::RefusedStream();
    } else {
      return add("window_aggregate", aggregate,
                 WindowFunction<Key, Aggregate, Emitted, Function>{aggregate, function},
                 captured_values(aggregate).and_also(captured_values(function)));
    }
  }
  // function(key, window, std::span<const T> records, Collector<Out>&): all records of the window,
  // kept until then.
  template <typename Out = void, typename Function>
  auto process(Function function) const {
    using Emitted = typename decltype(detail::window_function_output<Out, Function>())::type;
    if constexpr (detail::check_window_process<Function, Key, T, Emitted>()) {
      using Bag = BagAggregate<T>;
      return add("window_process", Bag(),
                 WindowFunction<Key, Bag, Emitted, Function>{Bag(), function},
                 captured_values(function));
    } else {
      return detail::RefusedStream();
    }
  }

 private:
  template <typename U, typename OtherKey, typename OtherWindows, typename OtherTrigger>
  friend class WindowedStream;
  template <typename ValueOf>
  using Value = std::remove_cvref_t<std::invoke_result_t<ValueOf&, const T&>>;

  template <typename Aggregate>
  auto value(const std::string& name, Aggregate aggregate, const CapturedValues& captured) const {
    if constexpr (keyed) {
      return add(name, aggregate, WindowValue<Key, Aggregate>{aggregate}, captured);
    } else {
      return add(name, aggregate, WindowAllValue<Key, Aggregate>{aggregate}, captured);
    }
  }

  template <typename Aggregate, typename Finish>
  [[gnu::cold]] auto add(const std::string& name, Aggregate aggregate, Finish finish,
                         const CapturedValues& of_aggregate) const
      -> DataStream<typename Finish::Output>;
  template <typename Aggregate, typename Finish>
  [[gnu::cold]] auto exchange_and_aggregate(int from, const EdgeSpecification& upstream,
                                            EdgeSpecification exchange, const std::string& name,
                                            Aggregate aggregate, Finish finish,
                                            const CapturedValues& captured) const
      -> DataStream<typename Finish::Output>;

  // Bags of records would only be copied once more.
  template <typename Aggregate>
  static constexpr bool can_be_partial =
      !requires(const Aggregate& a, const typename Aggregate::Accumulator& b) { a.records(b); };

  // Whether the window operator itself does; ahead of windows on a grid late_records does.
  bool gives_late_output() const {
    if constexpr (std::is_same_v<Windows, SessionWindows>) {
      return late_tag_.has_value() && windows_.domain == TimeDomain::event;
    } else {
      return false;
    }
  }

  // Whether that is so where the strategy is automatic, the plan says.
  bool may_be_partial() const {
    return windows_.domain == TimeDomain::event && strategy_ != WindowStrategy::repartition;
  }

  DataStream<T> stream_;
  KeyOf key_of_;
  Windows windows_;
  Trigger trigger_;
  std::int64_t lateness_ms_ = 0;
  std::optional<SideOutput<T>> late_tag_;
  WindowStrategy strategy_ = WindowStrategy::automatic;
};

}  // namespace hummer

#include <hummer/detail/window_operators.hpp>
