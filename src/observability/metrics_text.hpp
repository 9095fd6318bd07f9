// MetricsText: metrics in Prometheus' text exposition format 0.0.4.
//
// Every metric is a row of the table in metrics_table.cpp (name, type, unit, meaning), from which
// docs/metrics.md is written too; a sample of a metric that is not there asserts. Those of the
// authors' functions stand there as NAME.
//
//   MetricsText text;
//   text.sample("hummer_slots", {{"task_manager", id}}, 4);
//   std::move(text).finish()
//
// Samples of one metric come together in the output, whatever the order of the calls. Label values
// may hold anything. Thread: a value.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hummer {

class ProcessLog;
struct MetricSample;

struct Metric {
  std::string_view name;
  std::string_view type;    // "counter", "gauge"
  std::string_view labels;  // "job, vertex"
  std::string_view help;
};

// All that there are, sorted by name.
std::span<const Metric> metrics_table();

// The reference page's table rows.
std::string metrics_reference();

class MetricsText {
 public:
  using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  MetricsText() : samples_(metrics_table().size()) {}

  void sample(std::string_view name, Labels labels, std::uint64_t value) {
    add(name, labels, std::to_string(value));
  }
  void sample(std::string_view name, Labels labels, double value);
  // One of the author's functions, which is called `prefix` with its name behind; or one of the
  // engine's own (engine_metrics.hpp), which has rows in the table. Of a gauge over several
  // subtasks: their sum, min and max, as the label over_subtasks says.
  enum class Of { one_subtask, all_subtasks };
  void user_metric(std::string_view prefix, Labels labels, const MetricSample& metric, Of of);
  // Those of the process's log; null: it has none.
  void log_lines(const ProcessLog* log);

  std::string finish() &&;

 private:
  void add(std::string_view name, Labels labels, const std::string& value);
  // Of a row of the table.
  std::string& samples_of(std::string_view name);
  void engine_metric(Labels labels, const MetricSample& metric, Of of);

  // A name may be a gauge in one operator and a histogram in another: such a family has no type.
  struct UserFamily {
    std::string_view type;
    std::string samples;
  };

  std::vector<std::string> samples_;  // by metric
  std::map<std::string, UserFamily> user_families_;
};

}  // namespace hummer
