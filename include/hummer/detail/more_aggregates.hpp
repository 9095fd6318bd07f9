// The aggregates of hummer/aggregates.hpp. Their sketches are functions over bytes and numbers, in
// src/operators/.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include <hummer/aggregate.hpp>
#include <hummer/detail/key_hash.hpp>

namespace hummer::detail {

template <typename Member>
struct MemberParts {
  using Record = void;
  using Value = double;
};
template <typename T, typename V>
struct MemberParts<V T::*> {
  using Record = T;
  using Value = V;
};

// Of a member pointer what its integers or floats add up to; of a function double.
template <typename ValueOf>
using SumOfMember = SumOf<typename MemberParts<ValueOf>::Value>;

// T, or the record of a member pointer.
template <typename T, typename OrderOf>
struct FindRecord {
  using Type = std::conditional_t<std::is_void_v<T>, typename MemberParts<OrderOf>::Record, T>;
  static_assert(
      !std::is_void_v<Type>,
      "first_by, last_by, top_k: where the order is a function say which records it is of, "
      "such as first_by<Trade>(function)");
};
template <typename T, typename OrderOf>
using RecordOf = typename FindRecord<T, OrderOf>::Type;

template <typename Sum, typename ValueOf>
struct AverageAggregate {
  struct Accumulator {
    Sum sum = 0;
    std::uint64_t count = 0;
  };
  using Result = double;
  ValueOf value_of;

  template <typename In>
  void add(Accumulator& average, bool is_new, const In& record) const {
    merge(average, is_new, {static_cast<Sum>(std::invoke(value_of, record)), 1});
  }
  void merge(Accumulator& average, bool, const Accumulator& other) const noexcept {
    if constexpr (std::is_integral_v<Sum>) {
      average.sum = static_cast<Sum>(static_cast<std::uint64_t>(average.sum) +
                                     static_cast<std::uint64_t>(other.sum));
    } else {
      average.sum += other.sum;
    }
    average.count += other.count;
  }
  Result result(const Accumulator& average) const {
    return static_cast<double>(average.sum) / static_cast<double>(average.count);
  }
};

template <typename T, typename OrderOf, bool last>
struct ExtremeAggregate {
  using Accumulator = T;
  using Result = T;
  OrderOf order_of;

  void add(Accumulator& kept, bool is_new, const T& record) const { merge(kept, is_new, record); }
  void merge(Accumulator& kept, bool is_new, const Accumulator& other) const {
    if (is_new || (last ? std::invoke(order_of, kept) < std::invoke(order_of, other)
                        : std::invoke(order_of, other) < std::invoke(order_of, kept))) {
      kept = other;
    }
  }
  Result result(const Accumulator& kept) const { return kept; }
};

template <std::size_t K, typename T, typename OrderOf>
struct TopKAggregate {
  static_assert(K > 0, "top_k: keeps at least one record");
  using Accumulator = std::vector<T>;  // from the greatest
  using Result = std::vector<T>;
  OrderOf order_of;

  void add(Accumulator& top, bool, const T& record) const {
    const auto before = [this](const T& a, const T& b) {
      return std::invoke(order_of, b) < std::invoke(order_of, a);
    };
    if (top.size() == K) {
      if (!before(record, top.back())) return;
      top.pop_back();
    }
    top.insert(std::upper_bound(top.begin(), top.end(), record, before), record);
  }
  void merge(Accumulator& top, bool is_new, const Accumulator& other) const {
    for (const T& record : other) add(top, is_new, record);
  }
  Result result(const Accumulator& top) const { return top; }
};

// How many different hashes were added, as HyperLogLog; the hashes themselves while they are few.
struct DistinctSketch {
  std::string bytes;  // empty: none
};
void add_hash(DistinctSketch& sketch, std::uint64_t hash);
void merge(DistinctSketch& sketch, const DistinctSketch& other);
std::uint64_t estimate(const DistinctSketch& sketch);

template <typename ValueOf>
struct DistinctAggregate {
  using Accumulator = DistinctSketch;
  using Result = std::uint64_t;
  ValueOf value_of;

  template <typename In>
  void add(Accumulator& sketch, bool, const In& record) const {
    add_hash(sketch, key_hash(std::invoke(value_of, record)));
  }
  void merge(Accumulator& sketch, bool, const Accumulator& other) const {
    detail::merge(sketch, other);
  }
  Result result(const Accumulator& sketch) const { return estimate(sketch); }
};

// Values by their ranks, as KLL: each level's values stand for twice as many as those of the one
// below.
struct QuantileSketch {
  std::uint64_t count = 0;
  std::uint64_t halvings = 0;  // what the next coin is drawn from
  double least = 0;
  double greatest = 0;
  std::vector<std::vector<double>> levels;
};
void add_value(QuantileSketch& sketch, double value);
void merge(QuantileSketch& sketch, const QuantileSketch& other);
// `wanted` in any order; NaN for each of an empty sketch.
void find_quantiles(const QuantileSketch& sketch, const double* wanted, std::size_t count,
                    double* found);

template <typename ValueOf, std::size_t N>
struct QuantilesAggregate {
  static_assert(N > 0, "quantiles: say which, such as quantiles(&Request::ms, 0.5, 0.99)");
  using Accumulator = QuantileSketch;
  using Result = std::array<double, N>;
  ValueOf value_of;
  std::array<double, N> wanted;

  template <typename In>
  void add(Accumulator& sketch, bool, const In& record) const {
    add_value(sketch, static_cast<double>(std::invoke(value_of, record)));
  }
  void merge(Accumulator& sketch, bool, const Accumulator& other) const {
    detail::merge(sketch, other);
  }
  Result result(const Accumulator& sketch) const {
    Result found;
    find_quantiles(sketch, wanted.data(), N, found.data());
    return found;
  }
};

}  // namespace hummer::detail
