#include "client/progress.hpp"

#include <fmt/format.h>
#include <algorithm>

#include <hummer/detail/engine_metrics.hpp>

namespace hummer {
namespace {

constexpr Nanoseconds terminal_interval_ns = 500'000'000;
constexpr Nanoseconds plain_interval_ns = 10'000'000'000;

const MetricSummary* find(const OperatorSummary& op, const detail::EngineMetric& wanted) {
  for (const MetricSummary& metric : op.metrics) {
    if (metric.name == wanted.name && metric.kind == wanted.kind) return &metric;
  }
  return nullptr;
}

// What a pre-aggregation has chosen, and by what; empty for other operators.
std::string pre_aggregation_text(const OperatorSummary& op) {
  const auto count = [&](const detail::EngineMetric& metric) {
    const MetricSummary* const found = find(op, metric);
    return found == nullptr ? 0 : found->count;
  };
  const MetricSummary* const folds = find(op, detail::folds_now);
  if (folds == nullptr) return {};
  std::string text = fmt::format(
      "      pre-aggregation: {} records folded into {} parts, {} passed on; at last {} of {} "
      "subtasks folded",
      count(detail::records_folded), count(detail::parts_handed_on), count(detail::records_passed),
      folds->sum, folds->count);
  const MetricSummary* const share = find(op, detail::parts_per_record);
  if (share != nullptr && share->max > 0) {
    text += fmt::format(", by {:.2f} parts per record at most", share->max);
  }
  return text + "\n";
}

}  // namespace

std::string format_bytes(double bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  while (bytes >= 1024 && unit < 4) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 2, units[unit]);
}

std::string format_count(double count) {
  const char* const units[] = {"", " k", " M", " G"};
  int unit = 0;
  while (count >= 10000 && unit < 3) {
    count /= 1000;
    ++unit;
  }
  return fmt::format("{:.{}f}{}", count, unit == 0 ? 0 : 1, units[unit]);
}

ProgressMetrics progress_metrics(const JobResult& so_far) {
  ProgressMetrics metrics;
  metrics.seconds = so_far.seconds;
  metrics.bytes_read = so_far.bytes_read;
  for (const VertexSummary& vertex : so_far.vertices) {
    for (const OperatorSummary& op : vertex.operators) {
      metrics.bytes_expected += op.bytes_expected;
      metrics.records += op.records_in;
    }
  }
  metrics.vertices = so_far.vertices;
  return metrics;
}

Progress::Progress(Platform& platform, bool quiet, bool per_vertex)
    : platform_(platform),
      quiet_(quiet),
      per_vertex_(per_vertex),
      terminal_(platform.is_terminal(2)),
      last_line_(platform.now()) {}

std::string Progress::line(const ProgressMetrics& metrics) const {
  const double seconds = metrics.seconds > 0 ? metrics.seconds : 1e-3;
  const auto bytes = static_cast<double>(metrics.bytes_read);
  std::string text = fmt::format("{:6.1f} s", metrics.seconds);
  if (metrics.bytes_read > 0) {
    text += fmt::format("  {} read, {}/s", format_bytes(bytes), format_bytes(bytes / seconds));
  }
  text += fmt::format("  {} records/s handled",
                      format_count(static_cast<double>(metrics.records) / seconds));
  if (metrics.bytes_expected > 0) {
    const double share = bytes / static_cast<double>(metrics.bytes_expected);
    text += fmt::format("  {:3.0f} %", share * 100);
    if (share > 0.01) text += fmt::format(", {:.0f} s to go", seconds / share - seconds);
  }
  if (per_vertex_) {
    for (const VertexSummary& vertex : metrics.vertices) {
      text += fmt::format("\n    {} ×{}:", vertex.name, vertex.parallelism);
      for (const OperatorSummary& op : vertex.operators) {
        text += fmt::format(" {} {}→{};", op.name, format_count(static_cast<double>(op.records_in)),
                            format_count(static_cast<double>(op.records_out)));
      }
    }
  }
  return text;
}

bool Progress::due() {
  if (quiet_) return false;
  const Nanoseconds now = platform_.now();
  const bool rewrite = terminal_ && !per_vertex_;
  if (now - last_line_ < (rewrite ? terminal_interval_ns : plain_interval_ns)) return false;
  last_line_ = now;
  return true;
}

void Progress::show(const ProgressMetrics& metrics) {
  const bool rewrite = terminal_ && !per_vertex_;
  const std::string text = rewrite ? "\r\x1b[K" + line(metrics) : line(metrics) + "\n";
  (void)platform_.write_standard(2, text);
  line_open_ = rewrite;
}

void Progress::note(const std::string& text) {
  if (quiet_) return;
  (void)platform_.write_standard(2, (line_open_ ? "\r\x1b[K" : "") + text + "\n");
  line_open_ = false;
}

void Progress::summarize(const JobResult& result) {
  if (quiet_) return;
  std::string text = line_open_ ? "\r\x1b[K" : "";
  if (result.ok()) {
    text += fmt::format("{}: {} written in {:.2f} s", result.job_name,
                        format_count(static_cast<double>(result.records_written)) + " records",
                        result.seconds);
    if (result.bytes_read > 0) {
      text += fmt::format(
          ", {} read at {}/s", format_bytes(static_cast<double>(result.bytes_read)),
          format_bytes(static_cast<double>(result.bytes_read) / std::max(result.seconds, 1e-3)));
    }
    if (result.records_late > 0) {
      text +=
          fmt::format(", {} came too late", format_count(static_cast<double>(result.records_late)));
    }
    if (result.records_skipped > 0) {
      text += fmt::format(", {} skipped, since a function failed",
                          format_count(static_cast<double>(result.records_skipped)));
    }
    text += "\n";
  }
  if (per_vertex_) {
    for (const VertexSummary& vertex : result.vertices) {
      text += fmt::format("  {} (parallelism {})\n", vertex.name, vertex.parallelism);
      for (const OperatorSummary& op : vertex.operators) {
        text += fmt::format("    {:<20} {:>14} in {:>14} out {:>14} bytes {:>14} late\n", op.name,
                            op.records_in, op.records_out, op.bytes, op.records_late);
        text += pre_aggregation_text(op);
      }
    }
  }
  (void)platform_.write_standard(2, text);
}

}  // namespace hummer
