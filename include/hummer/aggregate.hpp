// Aggregates that merge: count, sum, min, max, reduce.
//
// An aggregate is commutative and associative, so the engine may fold records
// into partial state ahead of the exchange and merge the parts behind it
// (Slash, section 5: eager partial state, late merge; DESIGN: the epoch). A
// combine that is not exactly associative (sums of floats) gives results that
// may differ in the last bits from run to run.
//
// An aggregate type has: Accumulator (a record type that owns its text; up to 64 bytes that are
// trivially copyable cost the least), Result,
//   add(accumulator, is_new, record), merge(accumulator, is_new, other), result(accumulator).
//
// `is_new`: nothing has been folded into the accumulator yet; it is Accumulator{}, so numbers are 0
// unless their initialisers say else. An accumulator that begins as the neutral element (a sum at
// 0, a least value at the greatest number) needs no look at it; others (BestAggregate) take the
// first value as it is. `other` has always had something folded into it.
//
// Thread: copied into each subtask.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

#include <hummer/codec.hpp>

namespace hummer {

// What keyed aggregates emit. Printed as key, tab, value.
template <typename K, typename V>
struct KeyValue {
  K key;
  V value;
};

// When an aggregate hands on results.
enum class Emit {
  automatic,     // at_end where every source ends, else every_epoch
  at_end,        // once per key, when the input ends
  every_epoch,   // changed keys, every tenth of a second and when input pauses
  every_record,  // after each record, in order per key; re-partitions the records
};

// Emit::automatic where nothing is said: then a job does not compile the form for every_record.
struct AutomaticEmit {
  constexpr operator Emit() const { return Emit::automatic; }
};

struct CountAggregate {
  using Accumulator = std::uint64_t;
  using Result = std::uint64_t;
  template <typename In>
  void add(Accumulator& count, bool, const In&) const noexcept {
    ++count;
  }
  void merge(Accumulator& count, bool, Accumulator other) const noexcept { count += other; }
  Result result(Accumulator count) const { return count; }
};

// Integers widen to 64 bits (sums wrap as unsigned arithmetic does), floats to double.
template <typename V>
using SumOf =
    std::conditional_t<std::is_floating_point_v<V>, double,
                       std::conditional_t<std::is_signed_v<V>, std::int64_t, std::uint64_t>>;

template <typename V, typename ValueOf>
struct SumAggregate {
  using Accumulator = SumOf<V>;
  using Result = SumOf<V>;
  ValueOf value_of;
  template <typename In>
  void add(Accumulator& sum, bool is_new, const In& record) const {
    merge(sum, is_new, static_cast<Accumulator>(std::invoke(value_of, record)));
  }
  void merge(Accumulator& sum, bool, Accumulator other) const noexcept {
    if constexpr (std::is_integral_v<Accumulator>) {
      sum = static_cast<Accumulator>(static_cast<std::uint64_t>(sum) +
                                     static_cast<std::uint64_t>(other));
    } else {
      sum += other;
    }
  }
  Result result(Accumulator sum) const { return sum; }
};

// Keeps the value for which `Better` (std::less: min, std::greater: max) holds.
template <typename V, typename ValueOf, typename Better>
struct BestAggregate {
  using Accumulator = V;
  using Result = V;
  ValueOf value_of;
  template <typename In>
  void add(Accumulator& best, bool is_new, const In& record) const {
    merge(best, is_new, std::invoke(value_of, record));
  }
  void merge(Accumulator& best, bool is_new, const Accumulator& other) const {
    if (is_new || Better{}(other, best)) best = other;
  }
  Result result(const Accumulator& best) const { return best; }
};

// combine(a, b) → T, associative and commutative.
template <typename T, typename Combine>
struct ReduceAggregate {
  using Accumulator = T;
  using Result = T;
  Combine combine;
  void add(Accumulator& value, bool is_new, const T& record) const { merge(value, is_new, record); }
  void merge(Accumulator& value, bool is_new, const Accumulator& other) const {
    if (is_new) {
      value = other;
    } else {
      value = combine(static_cast<const T&>(value), other);
    }
  }
  Result result(const Accumulator& value) const { return value; }
};

}  // namespace hummer
