#include <hummer/detail/user_metrics.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/metric_sample.hpp"

namespace hummer::detail {
namespace {

// Who looks at what a function object is made of: see MetricCopies.
thread_local MetricCopies* current_copies = nullptr;

// Of the metrics that belong to no operator: they may be used by any thread.
std::mutex& without_operator() {
  static std::mutex mutex;
  return mutex;
}

bool is_letter(char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

MetricSample sample_of(const UserMetric& metric) {
  MetricSample sample;
  sample.name = metric.name;
  sample.kind = metric.kind;
  switch (metric.kind) {
    case MetricKind::counter:
      sample.count = metric.own.count.get() + metric.elsewhere.count.get();
      break;
    case MetricKind::gauge:
      sample.count = 1;
      sample.sum = metric.own.value.get() + metric.elsewhere.value.get();
      sample.min = sample.max = sample.sum;
      break;
    case MetricKind::histogram:
      for (const MetricCells* cells : {&metric.own, &metric.elsewhere}) {
        std::size_t used = histogram_buckets;
        while (used > 0 && (*cells->buckets)[used - 1].get() == 0) --used;
        if (sample.buckets.size() < used) sample.buckets.resize(used);
        for (std::size_t i = 0; i < used; ++i) {
          const std::uint64_t in_bucket = (*cells->buckets)[i].get();
          sample.buckets[i] += in_bucket;
          sample.count += in_bucket;
        }
        sample.sum += cells->value.get();
      }
      if (sample.count > 0) sample.max = std::max(metric.own.max.get(), metric.elsewhere.max.get());
      break;
  }
  return sample;
}

}  // namespace

constinit thread_local UserMetrics* current_metrics = nullptr;

std::string metric_name_refusal(std::string_view name) {
  const bool well_formed =
      !name.empty() && name.size() <= metric_name_bytes_max && is_letter(name.front()) &&
      std::all_of(name.begin(), name.end(),
                  [](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
  if (!well_formed) {
    return fmt::format(
        "its name must be of letters, digits and '_', begin with no digit and have {} bytes at "
        "most",
        metric_name_bytes_max);
  }
  for (const std::string_view ending : {"_total", "_bucket", "_count", "_sum"}) {
    if (name.ends_with(ending)) {
      return fmt::format("its name must not end in {}, which /metrics adds by itself", ending);
    }
  }
  return {};
}

UserMetric* UserMetrics::find_locked(std::string_view name, MetricKind kind) {
  std::string refusal;
  for (const auto& metric : metrics_) {
    if (metric->name != name) continue;
    if (metric->kind == kind) return metric.get();
    refusal = fmt::format("it is a {} already, and can't be a {} too", to_string(metric->kind),
                          to_string(kind));
  }
  const bool engine = is_engine_metric(name, kind);
  if (refusal.empty() && !engine) refusal = metric_name_refusal(name);
  if (refusal.empty() && !engine && author_metrics_ == metrics_per_operator_max) {
    refusal = fmt::format("an operator has {} metrics at most", metrics_per_operator_max);
  }
  if (!refusal.empty()) {
    if (refusal_.empty()) {
      refusal_ = fmt::format("metric '{}': {}", name.substr(0, 2 * metric_name_bytes_max), refusal);
      refused_.store(true, std::memory_order_relaxed);
    }
    return nullptr;
  }
  auto metric = std::make_unique<UserMetric>();
  metric->name = name;
  metric->kind = kind;
  if (kind == MetricKind::histogram) {
    using Buckets = std::array<MetricCell<>, histogram_buckets>;
    metric->own.buckets = std::make_unique<Buckets>();
    metric->elsewhere.buckets = std::make_unique<Buckets>();
  }
  if (!engine) ++author_metrics_;
  return metrics_.emplace_back(std::move(metric)).get();
}

UserMetric* UserMetrics::find(std::string_view name, MetricKind kind) {
  const std::lock_guard lock(mutex_);
  return find_locked(name, kind);
}

bool UserMetrics::change_elsewhere(std::string_view name, MetricKind kind,
                                   const MetricChange& change) {
  const std::lock_guard lock(mutex_);
  UserMetric* const metric = find_locked(name, kind);
  if (metric == nullptr) return false;
  // What it becomes is the sum of both.
  const double own = change.sets ? metric->own.value.get() : 0;
  apply(metric->elsewhere, kind, change, own);
  return true;
}

std::vector<MetricSample> UserMetrics::sample() const {
  const std::lock_guard lock(mutex_);
  std::vector<MetricSample> samples;
  for (const auto& metric : metrics_) samples.push_back(sample_of(*metric));
  return samples;
}

MetricSample UserMetrics::sample(std::string_view name, MetricKind kind) const {
  const std::lock_guard lock(mutex_);
  for (const auto& metric : metrics_) {
    if (metric->name == name && metric->kind == kind) return sample_of(*metric);
  }
  return {};
}

std::string UserMetrics::refusal() const {
  const std::lock_guard lock(mutex_);
  return refusal_;
}

void apply(MetricCells& cells, MetricKind kind, const MetricChange& change, double beside) {
  switch (kind) {
    case MetricKind::counter: return cells.count.add(change.count);
    case MetricKind::gauge:
      return change.sets ? cells.value.set(change.value - beside) : cells.value.add(change.value);
    case MetricKind::histogram: return cells.record(change.value);
  }
}

namespace {

std::shared_ptr<UserMetrics> home_of_this_thread() {
  return current_metrics == nullptr ? nullptr : current_metrics->shared_from_this();
}

}  // namespace

Metric::Metric(std::string_view name, MetricKind kind)
    : name_(name), kind_(kind), home_(home_of_this_thread()) {}

Metric::Metric(const Metric& other)
    : name_(other.name_), kind_(other.kind_), home_(home_of_this_thread()) {
  if (current_copies != nullptr) current_copies->see(&other, other.name_, other.kind_);
}

Metric& Metric::operator=(const Metric& other) {
  name_ = other.name_;
  kind_ = other.kind_;
  home_ = home_of_this_thread();
  cells_ = nullptr;
  count_ = 0;
  value_ = 0;
  return *this;
}

void Metric::change(const MetricChange& change) const {
  if (UserMetrics* const here = current_metrics; here != nullptr) {
    UserMetric* const found = here->find(name_, kind_);
    if (here == home_.get()) cells_ = found;
    if (found != nullptr) {
      const double elsewhere = change.sets ? found->elsewhere.value.get() : 0;
      return apply(found->own, kind_, change, elsewhere);
    }
  } else if (home_ != nullptr && home_->change_elsewhere(name_, kind_, change)) {
    return;
  }
  const std::lock_guard lock(without_operator());
  count_ += kind_ == MetricKind::histogram ? 1 : change.count;
  value_ = change.sets ? change.value : value_ + change.value;
}

MetricSample Metric::sample() const {
  const UserMetrics* const at = home_ != nullptr ? home_.get() : current_metrics;
  if (at != nullptr) return at->sample(name_, kind_);
  const std::lock_guard lock(without_operator());
  MetricSample sample;
  sample.count = count_;
  sample.sum = value_;
  return sample;
}

std::uint64_t Metric::total() const { return sample().count; }

double Metric::sum() const { return sample().sum; }

MetricCopies::MetricCopies(const void* object, std::size_t bytes)
    : object_(static_cast<const char*>(object)),
      bytes_(bytes),
      before_(std::exchange(current_copies, this)) {}

MetricCopies::~MetricCopies() { current_copies = before_; }

void MetricCopies::see(const void* metric, std::string_view name, MetricKind kind) {
  const char* const at = static_cast<const char*>(metric);
  if (at < object_ || at + sizeof(Metric) > object_ + bytes_) return;
  bytes_seen_ += sizeof(Metric);
  names_ += fmt::format("{} {}\n", to_string(kind), name);
}

}  // namespace hummer::detail
