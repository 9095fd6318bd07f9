// Counter, Gauge, Histogram: an author's own numbers, which functions count while the job runs.
//
//   struct Price {
//     Counter unknown{"unknown_items"};
//     Histogram amount{"order_amount"};
//     Gauge known{"known_items"};
//     std::map<std::uint32_t, double> prices;
//     void open(OperatorContext&) { known.set(static_cast<double>(prices.size())); }
//     void process(const Order& order, ProcessOutput<Priced>& out) {
//       const auto price = prices.find(order.item);
//       if (price == prices.end()) return unknown.add();
//       amount.record(order.count * price->second);
//       out.emit({order.id, order.count * price->second});
//     }
//   };
//   lines.filter([bad = Counter("bad_lines")](std::string_view line) {
//     if (!line.starts_with('{')) bad.add();
//     return line.starts_with('{');
//   })
//
// In any function or object that an operator calls: lambdas, process functions and their hooks,
// aggregates, sources, sinks. Seen per operator, over its subtasks, by `hummer status`, REST and
// JobResult::counter("bad_lines"), and in /metrics as hummer_user_bad_lines_total
// (docs/metrics.md).
//
// Lifecycle: an object is a name; each subtask counts in its own copy of the function, and is seen
// from its first call on: add(0) in open() shows a counter from the start. Of one name in one
// operator there is one metric. It is no state: every attempt begins at 0, as Prometheus allows.
// Outside of operators, as in a function's own test, an object counts by itself, for value().
//
// Errors: a name has letters, digits and `_`, begins with no digit, is 64 bytes at most and does
// not end in _total, _bucket, _count or _sum; an operator has 64 metrics at most, and no two kinds
// of one name. Else the job fails, and names operator and metric.
//
// Thread: that of the operator; a call costs one to three nanoseconds, no lock, no allocation. On
// other threads, as where an async_map's calls complete, one that the function holds, or a copy
// that it has made, takes a lock and counts all the same. A global one counts for the operator that
// uses it, looked up each time; on other threads for nobody.
#pragma once

#include <hummer/detail/user_metrics.hpp>

namespace hummer {

class Counter : private detail::Metric {
 public:
  explicit Counter(std::string_view name) : Metric(name, MetricKind::counter) {}
  void add(std::uint64_t amount = 1) const { count(amount); }
  std::uint64_t value() const { return total(); }  // of this subtask
};

// Over several subtasks it has a sum, a least and a greatest value.
class Gauge : private detail::Metric {
 public:
  explicit Gauge(std::string_view name) : Metric(name, MetricKind::gauge) {}
  void set(double value) const { become(value); }
  void add(double amount) const { move_by(amount); }
  double value() const { return sum(); }
};

// How often which values came. Quantiles are at most 12 % off, for values from 1e-6 to 1e13; what
// is less, also a negative one, is taken for 1e-6 there, and NaN is left out.
class Histogram : private detail::Metric {
 public:
  explicit Histogram(std::string_view name) : Metric(name, MetricKind::histogram) {}
  void record(double value) const { measure(value); }
  std::uint64_t count() const { return total(); }
  double sum() const { return Metric::sum(); }
};

}  // namespace hummer
