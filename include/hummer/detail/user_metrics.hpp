// UserMetrics: where the metrics that an author's functions hold (hummer/metrics.hpp) count, of one
// operator in one subtask; and the engine's own of the operator (engine_metrics.hpp).
//
// The driver makes it before it makes the operator, and names it for the length of each call with a
// MetricsScope; so a metric that is made or copied for the operator knows its home, and finds its
// cells there when it counts for the first time. A metric that belongs to no operator, such as a
// global one, looks its cells up each time.
//
// Thread: cells have one writer, whoever runs the operator. Threads of the author's own, such as
// those that complete the calls of async_map, count beside them under the lock. Sampled by any.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <hummer/detail/engine_metrics.hpp>
#include <hummer/detail/histogram_buckets.hpp>
#include <hummer/detail/metric_cell.hpp>
#include <hummer/detail/metric_kind.hpp>

namespace hummer {

struct MetricSample;

namespace detail {

inline constexpr std::size_t metric_name_bytes_max = 64;
inline constexpr std::size_t metrics_per_operator_max = 64;  // of its author

// Why nothing may be called so; empty: it may.
std::string metric_name_refusal(std::string_view name);

// What one call adds: to a counter `count`; to a gauge `value`, or it becomes that.
struct MetricChange {
  std::uint64_t count = 0;
  double value = 0;
  bool sets = false;
};

struct MetricCells {
  MetricCell<> count;        // of a counter
  MetricCell<double> value;  // a gauge's, or the sum of a histogram
  MetricCell<double> max{-std::numeric_limits<double>::infinity()};
  std::unique_ptr<std::array<MetricCell<>, histogram_buckets>> buckets;  // of a histogram

  void record(double measured) {
    (*buckets)[histogram_bucket(measured)].add(1);
    value.add(measured);
    if (measured > max.get()) max.set(measured);
  }
};

// A gauge that is set becomes what is left of the value beside what other cells hold of it.
void apply(MetricCells& cells, MetricKind kind, const MetricChange& change, double beside);

struct UserMetric {
  std::string name;
  MetricKind kind;
  MetricCells own;
  MetricCells elsewhere;  // by threads that do not run the operator, under the lock
};

class UserMetrics : public std::enable_shared_from_this<UserMetrics> {
 public:
  // Null: refused, and refusal() says why.
  UserMetric* find(std::string_view name, MetricKind kind);
  // By a thread that does not run the operator. False: refused.
  bool change_elsewhere(std::string_view name, MetricKind kind, const MetricChange& change);

  // In the order in which they were first used.
  std::vector<MetricSample> sample() const;
  MetricSample sample(std::string_view name, MetricKind kind) const;

  // A metric was used that can't be kept: the operator is to fail.
  bool refused() const { return refused_.load(std::memory_order_relaxed); }
  std::string refusal() const;

 private:
  UserMetric* find_locked(std::string_view name, MetricKind kind);

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<UserMetric>> metrics_;
  std::size_t author_metrics_ = 0;  // of these, without the engine's own
  std::string refusal_;
  std::atomic<bool> refused_{false};
};

// Those of the operator that this thread runs; null: none. It lies in the engine's program, so that
// code of a job library reaches it without a call.
extern constinit thread_local UserMetrics* current_metrics
    __attribute__((tls_model("initial-exec")));

class MetricsScope {
 public:
  explicit MetricsScope(UserMetrics* metrics) : before_(current_metrics) {
    current_metrics = metrics;
  }
  ~MetricsScope() { current_metrics = before_; }
  MetricsScope(const MetricsScope&) = delete;
  MetricsScope& operator=(const MetricsScope&) = delete;

 private:
  UserMetrics* before_;
};

// What Counter, Gauge and Histogram share. A copy takes the name, and its home from where it is
// made. The cells are written and read only by the thread that runs the home's operator.
class Metric {
 public:
  Metric(const Metric& other);
  Metric& operator=(const Metric& other);

 protected:
  Metric(std::string_view name, MetricKind kind);
  ~Metric() = default;

  void count(std::uint64_t amount) const {
    UserMetric* const at = cells();
    at != nullptr ? at->own.count.add(amount) : change({.count = amount});
  }
  void become(double value) const {
    UserMetric* const at = cells();
    at != nullptr ? at->own.value.set(value - at->elsewhere.value.get())
                  : change({.value = value, .sets = true});
  }
  void move_by(double amount) const {
    UserMetric* const at = cells();
    at != nullptr ? at->own.value.add(amount) : change({.value = amount});
  }
  void measure(double value) const {
    if (value != value) return;
    UserMetric* const at = cells();
    at != nullptr ? at->own.record(value) : change({.value = value});
  }
  // Of this object's operator in its subtask, or else what the object has counted itself.
  std::uint64_t total() const;
  double sum() const;

 private:
  // Null: they are not at hand.
  UserMetric* cells() const { return current_metrics == home_.get() ? cells_ : nullptr; }
  void change(const MetricChange& change) const;
  MetricSample sample() const;

  std::string name_;
  MetricKind kind_;
  std::shared_ptr<UserMetrics> home_;    // null: made outside of any operator
  mutable UserMetric* cells_ = nullptr;  // at home
  // Outside of any operator.
  mutable std::uint64_t count_ = 0;
  mutable double value_ = 0;
};

// Whether a function object may consist of metrics alone, which MetricCopies finds out.
template <typename Function>
concept MayHoldMetrics =
    std::is_copy_constructible_v<Function> && sizeof(Function) % sizeof(Metric) == 0;

// Whether an object consists of metrics alone, seen by copying it while this stands on the stack:
// then it is the same wherever a job is built, as long as its metrics have the same names().
class MetricCopies {
 public:
  MetricCopies(const void* object, std::size_t bytes);
  ~MetricCopies();
  MetricCopies(const MetricCopies&) = delete;
  MetricCopies& operator=(const MetricCopies&) = delete;

  bool are_all() const { return bytes_seen_ == bytes_; }
  const std::string& names() const { return names_; }

 private:
  friend class Metric;
  void see(const void* metric, std::string_view name, MetricKind kind);

  const char* object_;
  std::size_t bytes_;
  std::size_t bytes_seen_ = 0;
  std::string names_;
  MetricCopies* before_;
};

}  // namespace detail

}  // namespace hummer
