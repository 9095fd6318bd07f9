// KeyedStream<T, KeyOf>: a stream of which each record has a key: aggregates per key. Included by
// data_stream.hpp, whose key_by gives it.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <hummer/data_stream.hpp>

namespace hummer {

template <typename T, typename KeyOf>
class KeyedStream : public KeyedOperations<KeyedStream<T, KeyOf>, T> {
 public:
  using Key = Stored<std::remove_cvref_t<std::invoke_result_t<KeyOf&, const T&>>>;
  using KeyFunction = KeyOf;

  KeyedStream(DataStream<T> stream, KeyOf key_of)
      : stream_(std::move(stream)), key_of_(std::move(key_of)) {}

  const DataStream<T>& stream() const { return stream_; }
  const KeyOf& key_of() const { return key_of_; }
  // As an input of an operator: the edge that brings each record to the owner of its key.
  StreamInput<KeyedInput<T, KeyOf>> input() const {
    EdgeSpecification edge = stream_.edge();
    edge.routing = EdgeRouting::hash;
    edge.partitioner = hash_partitioner<T>(key_of_);
    return {stream_.node(), edge, {key_of_}, captured_values(key_of_)};
  }
  // The same with std::string instead of views in the records; see owned_text.hpp.
  auto owned() const { return stream_.owned().key_by(key_of_); }

  // How many records per key: KeyValue<Key, std::uint64_t>.
  template <std::convertible_to<Emit> When = AutomaticEmit>
  auto count(When emit = {}) const {
    return aggregate_of("count", CountAggregate{}, emit, {});
  }
  // value_of: a member pointer or function(const T&) → number.
  template <typename ValueOf, std::convertible_to<Emit> When = AutomaticEmit>
  auto sum(ValueOf value_of, When emit = {}) const {
    if constexpr (detail::check_sum<ValueOf, T>()) {
      return aggregate_of("sum", SumAggregate<Value<ValueOf>, ValueOf>{value_of}, emit,
                          captured_values(value_of));
    } else {
      return detail::RefusedStream();
    }
  }
  template <typename ValueOf, std::convertible_to<Emit> When = AutomaticEmit>
  auto min(ValueOf value_of, When emit = {}) const {
    if constexpr (detail::check_best<ValueOf, T, true>()) {
      using V = Value<ValueOf>;
      return aggregate_of("min", BestAggregate<V, ValueOf, std::less<V>>{value_of}, emit,
                          captured_values(value_of));
    } else {
      return detail::RefusedStream();
    }
  }
  template <typename ValueOf, std::convertible_to<Emit> When = AutomaticEmit>
  auto max(ValueOf value_of, When emit = {}) const {
    if constexpr (detail::check_best<ValueOf, T, false>()) {
      using V = Value<ValueOf>;
      return aggregate_of("max", BestAggregate<V, ValueOf, std::greater<V>>{value_of}, emit,
                          captured_values(value_of));
    } else {
      return detail::RefusedStream();
    }
  }
  // combine(const T&, const T&) → T, associative and commutative: KeyValue<Key, T>.
  template <typename Combine, std::convertible_to<Emit> When = AutomaticEmit>
    requires wants_owned<Combine, T, const Owned<T>&>
  auto reduce(Combine combine, When emit = {}) const {
    return owned().reduce(std::move(combine), emit);
  }
  template <typename Combine, std::convertible_to<Emit> When = AutomaticEmit>
  auto reduce(Combine combine, When emit = {}) const {
    if constexpr (detail::check_reduce<Combine, T>()) {
      return aggregate_of("reduce", ReduceAggregate<T, Combine>{combine}, emit,
                          captured_values(combine));
    } else {
      return detail::RefusedStream();
    }
  }

  // Aggregates per key and window: TumblingWindows and so on of hummer/windows.hpp.
  template <typename Windows>
  auto window(Windows windows) const {
    if constexpr (detail::check_windows<Windows>()) {
      return WindowedStream<T, KeyOf, Windows, DefaultTrigger>(stream_, key_of_, windows);
    } else {
      return detail::RefusedStream();
    }
  }

  // Any aggregate of the shape in hummer/aggregate.hpp.
  template <typename Aggregate, std::convertible_to<Emit> When = AutomaticEmit>
  auto aggregate(const std::string& name, Aggregate aggregate, When emit = {}) const {
    if constexpr (detail::check_aggregate<Aggregate, T>()) {
      return aggregate_of(name, aggregate, emit, captured_values(aggregate));
    } else {
      return detail::RefusedStream();
    }
  }

 private:
  template <typename ValueOf>
  using Value = std::remove_cvref_t<std::invoke_result_t<ValueOf&, const T&>>;

  template <typename Aggregate, typename When>
  [[gnu::cold]] auto aggregate_of(const std::string& name, Aggregate aggregate, When when,
                                  const CapturedValues& of_aggregate) const
      -> DataStream<KeyValue<Key, typename Aggregate::Result>>;
  DataStream<T> stream_;
  KeyOf key_of_;
};

}  // namespace hummer

#include <hummer/detail/keyed_aggregates.hpp>
