#include "observability/metrics_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <hummer/status.hpp>

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

}  // namespace

void MetricsText::sample(std::string_view name, Labels labels, double value) {
  add(name, labels, fmt::format("{}", value));
}

void MetricsText::log_lines(const ProcessLog* log) {
  if (log == nullptr) return;
  for (const LogLevel level : log_levels) {
    sample("hummer_log_lines_total", {{"level", to_string(level)}}, log->written(level));
  }
}

void MetricsText::add(std::string_view name, Labels labels, const std::string& value) {
  const std::span<const Metric> table = metrics_table();
  const auto found = std::lower_bound(
      table.begin(), table.end(), name,
      [](const Metric& metric, std::string_view wanted) { return metric.name < wanted; });
  HUMMER_ASSERT(found != table.end() && found->name == name);
  std::string& out = samples_[static_cast<std::size_t>(found - table.begin())];
  out += name;
  char separator = '{';
  for (const auto& [label, text] : labels) {
    out += separator;
    out += label;
    out += "=\"";
    append_escaped(out, text);
    out += '"';
    separator = ',';
  }
  if (separator == ',') out += '}';
  out += ' ';
  out += value;
  out += '\n';
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
