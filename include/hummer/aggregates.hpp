// Aggregates beyond count, sum, min, max and reduce, for `aggregate(...)` of keyed streams and
// windows:
//
//   .aggregate(hummer::average(&Reading::celsius))            // double
//   .aggregate(hummer::first_by(&Trade::time))                // the record with the least time
//   .aggregate(hummer::last_by(&Trade::time))                 // ... the greatest
//   .aggregate(hummer::top_k<10>(&Bid::price)) // vector of the 10 greatest, in order
//   .aggregate(hummer::distinct(&Click::user))                // about how many different ones
//   .aggregate(hummer::quantiles(&Request::ms, 0.5, 0.99))    // array of about these, as double
//
// All merge (aggregate.hpp), so they are folded ahead of the exchange, and none depends on the
// order of the records but where said. The argument is a member pointer or a function of a record;
// where a function is given, first_by, last_by and top_k need the record's type:
// first_by<Trade>(function). Records that are kept own their text (std::string, not
// std::string_view).
//
// average: integers are added exactly (as sum does), floats as double. Of records that are equal in
// order first_by, last_by and top_k keep any: make the order total where that matters.
// distinct: HyperLogLog, exact up to 64, then within 1.6 % (standard error); at most 4 KiB per key.
// quantiles: KLL, the value whose rank is within 1.7 % of what was asked for with 99 % probability;
// exact for 0 and 1 and up to 200 values; about 5 KiB per key. NaN is left out, and the result of
// no value is NaN.
//
// Sources: Ertl, "New cardinality estimation algorithms for HyperLogLog sketches", 2017; Karnin,
// Lang and Liberty, "Optimal quantile approximation in streams", 2016. Thread: copied into each
// subtask.
#pragma once

#include <array>

#include <hummer/aggregate.hpp>
#include <hummer/detail/more_aggregates.hpp>

namespace hummer {

template <typename ValueOf>
auto average(ValueOf value_of) {
  return detail::AverageAggregate<detail::SumOfMember<ValueOf>, ValueOf>{value_of};
}
template <typename T = void, typename OrderOf>
auto first_by(OrderOf order_of) {
  return detail::ExtremeAggregate<detail::RecordOf<T, OrderOf>, OrderOf, false>{order_of};
}
template <typename T = void, typename OrderOf>
auto last_by(OrderOf order_of) {
  return detail::ExtremeAggregate<detail::RecordOf<T, OrderOf>, OrderOf, true>{order_of};
}
template <std::size_t K, typename T = void, typename OrderOf>
auto top_k(OrderOf order_of) {
  return detail::TopKAggregate<K, detail::RecordOf<T, OrderOf>, OrderOf>{order_of};
}
template <typename ValueOf>
auto distinct(ValueOf value_of) {
  return detail::DistinctAggregate<ValueOf>{value_of};
}
// Each quantile from 0 to 1; others count as the nearer of the two.
template <typename ValueOf, typename... Quantiles>
auto quantiles(ValueOf value_of, Quantiles... wanted) {
  return detail::QuantilesAggregate<ValueOf, sizeof...(Quantiles)>{
      value_of, {static_cast<double>(wanted)...}};
}

}  // namespace hummer
