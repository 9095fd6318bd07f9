// What a window operator emits for a key and window: `finish(key, window, accumulator,
// collector)`, with the type Output.
//
//   WindowValue      Windowed<K, Result>
//   WindowAllValue   WindowedAll<Result>
//   WindowFunction   what function(key, window, result, Collector<Out>&) emits
//
// BagAggregate keeps the records themselves, for functions that want to see all of
// them. Text records are kept as strings; records with text inside must own it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <hummer/detail/operators/emit_keyed.hpp>
#include <hummer/detail/owned_text.hpp>
#include <hummer/windows.hpp>

namespace hummer {

template <typename K, typename Aggregate>
struct WindowValue {
  using Output = Windowed<K, typename Aggregate::Result>;
  Aggregate aggregate;
  template <typename A>
  void operator()(const K& key, const TimeWindow& window, const A& accumulator,
                  Collector<Output>& out) const {
    out(Output{key_for_output(key, out), window, aggregate.result(accumulator)});
  }
};

template <typename K, typename Aggregate>
struct WindowAllValue {
  using Output = WindowedAll<typename Aggregate::Result>;
  Aggregate aggregate;
  template <typename A>
  void operator()(const K&, const TimeWindow& window, const A& accumulator,
                  Collector<Output>& out) const {
    out(Output{window, aggregate.result(accumulator)});
  }
};

template <typename K, typename Aggregate, typename Out, typename Function>
struct WindowFunction {
  using Output = Out;
  Aggregate aggregate;
  Function function;
  template <typename A>
  void operator()(const K& key, const TimeWindow& window, const A& accumulator,
                  Collector<Output>& out) {
    if constexpr (takes_owned_records<A>()) {
      call(key, window, std::span<const typename A::value_type>(accumulator), out);
    } else if constexpr (requires { aggregate.records(accumulator); }) {
      const auto records = aggregate.records(accumulator);
      call(key, window, std::span(std::as_const(records)), out);
    } else {
      call(key, window, aggregate.result(accumulator), out);
    }
  }

 private:
  template <typename Value>
  void call(const K& key, const TimeWindow& window, const Value& value, Collector<Output>& out) {
    if constexpr (std::is_invocable_v<Function&, const K&, const TimeWindow&, const Value&,
                                      Collector<Output>&>) {
      function(key_for_output(key, out), window, value, out);
    } else if constexpr (takes_owned<Value>()) {
      function(OwnText()(key), window, OwnText()(value), out);
    } else {
      function(window, value, out);  // of a stream without keys
    }
  }
  // With std::string as the key, in the value or both; see owned_text.hpp.
  template <typename Value>
  static consteval bool takes_owned() {
    return std::is_invocable_v<Function&, const Owned<K>&, const TimeWindow&, const Owned<Value>&,
                               Collector<Output>&>;
  }
  // The strings that are kept, where the function does not ask for views of them.
  template <typename A>
  static consteval bool takes_owned_records() {
    if constexpr (requires(const Aggregate& bag, const A& a) {
                    requires std::is_same_v<decltype(bag.records(a)),
                                            std::vector<std::string_view>>;
                  }) {
      using Views = std::span<const std::string_view>;
      using Strings = std::span<const std::string>;
      using To = Collector<Output>;
      if constexpr (std::is_invocable_v<Function&, const K&, const TimeWindow&, const Views&,
                                        To&> ||
                    std::is_invocable_v<Function&, const TimeWindow&, const Views&, To&>) {
        return false;
      } else {
        return std::is_invocable_v<Function&, const Owned<K>&, const TimeWindow&, const Strings&,
                                   To&> ||
               std::is_invocable_v<Function&, const TimeWindow&, const Strings&, To&>;
      }
    } else {
      return false;
    }
  }
};

template <typename T>
struct BagAggregate {
  using Owned = std::conditional_t<std::is_same_v<T, std::string_view>, std::string, T>;
  static_assert(!holds_views<Owned>,
                "records that a window keeps must own their text: use std::string in them");
  using Accumulator = std::vector<Owned>;
  using Result = std::vector<Owned>;

  void add(Accumulator& bag, bool, const T& record) const { bag.emplace_back(record); }
  void merge(Accumulator& bag, bool, const Accumulator& other) const {
    bag.insert(bag.end(), other.begin(), other.end());
  }
  Result result(const Accumulator& bag) const { return bag; }
  // As T, for a function's span.
  auto records(const Accumulator& bag) const {
    if constexpr (std::is_same_v<Owned, T>) {
      return std::span<const T>(bag);
    } else {
      return std::vector<T>(bag.begin(), bag.end());
    }
  }
};

}  // namespace hummer
