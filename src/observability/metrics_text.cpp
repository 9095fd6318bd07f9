#include "observability/metrics_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <hummer/detail/engine_metrics.hpp>
#include <hummer/detail/histogram_buckets.hpp>
#include <hummer/status.hpp>

#include "base/metric_sample.hpp"
#include "observability/process_log.hpp"

namespace hummer {
namespace {

void append_escaped(std::string& out, std::string_view text) {
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '"') {
      out += "\\\"";
    } else if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
}

void append_sample(std::string& out, std::string_view name, MetricsText::Labels labels,
                   std::string_view further_label, std::string_view further_text,
                   std::string_view value) {
  out += name;
  char separator = '{';
  const auto append_label = [&](std::string_view label, std::string_view text) {
    out += separator;
    out += label;
    out += "=\"";
    append_escaped(out, text);
    out += '"';
    separator = ',';
  };
  for (const auto& [label, text] : labels) append_label(label, text);
  if (!further_label.empty()) append_label(further_label, further_text);
  if (separator == ',') out += '}';
  out += ' ';
  out += value;
  out += '\n';
}

// One bucket to each power of two from the least to the greatest value that came.
void append_histogram(std::string& out, const std::string& name, MetricsText::Labels labels,
                      const MetricSample& metric) {
  std::uint64_t below = 0;
  const std::size_t used = metric.buckets.size();
  for (std::size_t i = 0; i + 1 < detail::histogram_buckets; ++i) {
    if (i < used) below += metric.buckets[i];
    const bool ends_a_power = i % detail::histogram_steps == 0;
    if (below == 0 || !ends_a_power) continue;
    append_sample(out, name + "_bucket", labels, "le",
                  fmt::format("{}", detail::histogram_bound(i)), std::to_string(below));
    if (i + 1 >= used) break;
  }
  append_sample(out, name + "_bucket", labels, "le", "+Inf", std::to_string(metric.count));
  append_sample(out, name + "_sum", labels, {}, {}, fmt::format("{}", metric.sum));
  append_sample(out, name + "_count", labels, {}, {}, std::to_string(metric.count));
}

void append_metric(std::string& out, const std::string& name, MetricsText::Labels labels,
                   const MetricSample& metric, MetricsText::Of of) {
  switch (metric.kind) {
    case MetricKind::counter:
      return append_sample(out, name, labels, {}, {}, std::to_string(metric.count));
    case MetricKind::gauge:
      if (of == MetricsText::Of::one_subtask) {
        return append_sample(out, name, labels, {}, {}, fmt::format("{}", metric.sum));
      }
      for (const auto& [which, value] : {std::pair{"sum", metric.sum}, std::pair{"min", metric.min},
                                         std::pair{"max", metric.max}}) {
        append_sample(out, name, labels, "over_subtasks", which, fmt::format("{}", value));
      }
      return;
    case MetricKind::histogram: return append_histogram(out, name, labels, metric);
  }
}

}  // namespace

void MetricsText::user_metric(std::string_view prefix, Labels labels, const MetricSample& metric,
                              Of of) {
  if (detail::is_engine_metric(metric.name, metric.kind)) return engine_metric(labels, metric, of);
  std::string name = std::string(prefix) + metric.name;
  if (metric.kind == MetricKind::counter) name += "_total";
  const auto [at, is_new] =
      user_families_.try_emplace(name, UserFamily{to_string(metric.kind), {}});
  UserFamily& family = at->second;
  if (family.type != to_string(metric.kind)) family.type = {};
  append_metric(family.samples, name, labels, metric, of);
}

void MetricsText::engine_metric(Labels labels, const MetricSample& metric, Of of) {
  std::string name = of == Of::one_subtask ? "hummer_task_operator_" : "hummer_operator_";
  name += metric.name;
  std::replace(name.begin(), name.end(), '.', '_');
  if (metric.kind == MetricKind::counter) name += "_total";
  append_metric(samples_of(name), name, labels, metric, of);
}

void MetricsText::sample(std::string_view name, Labels labels, double value) {
  add(name, labels, fmt::format("{}", value));
}

void MetricsText::log_lines(const ProcessLog* log) {
  if (log == nullptr) return;
  for (const LogLevel level : log_levels) {
    sample("hummer_log_lines_total", {{"level", to_string(level)}}, log->written(level));
  }
}

std::string& MetricsText::samples_of(std::string_view name) {
  const std::span<const Metric> table = metrics_table();
  const auto found = std::lower_bound(
      table.begin(), table.end(), name,
      [](const Metric& metric, std::string_view wanted) { return metric.name < wanted; });
  HUMMER_ASSERT(found != table.end() && found->name == name);
  return samples_[static_cast<std::size_t>(found - table.begin())];
}

void MetricsText::add(std::string_view name, Labels labels, const std::string& value) {
  append_sample(samples_of(name), name, labels, {}, {}, value);
}

std::string MetricsText::finish() && {
  std::string text;
  const std::span<const Metric> table = metrics_table();
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (samples_[i].empty()) continue;
    text += fmt::format("# HELP {} {}\n# TYPE {} {}\n", table[i].name, table[i].help, table[i].name,
                        table[i].type);
    text += samples_[i];
  }
  for (const auto& [name, family] : user_families_) {
    text += fmt::format("# HELP {} Of the functions of a job.\n", name);
    if (!family.type.empty()) text += fmt::format("# TYPE {} {}\n", name, family.type);
    text += family.samples;
  }
  return text;
}

std::string metrics_reference() {
  std::string text = "| metric | type | labels | what it says |\n|---|---|---|---|\n";
  for (const Metric& metric : metrics_table()) {
    text += fmt::format("| `{}` | {} | {} | {} |\n", metric.name, metric.type,
                        metric.labels.empty() ? "–" : metric.labels, metric.help);
  }
  return text;
}

}  // namespace hummer
