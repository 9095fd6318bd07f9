#include "control/client/progress.hpp"

#include <fmt/format.h>

namespace hummer {
namespace {

constexpr Nanoseconds terminal_interval_ns = 500'000'000;
constexpr Nanoseconds plain_interval_ns = 10'000'000'000;

double in_seconds(Nanoseconds duration) { return static_cast<double>(duration) / 1e9; }

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

Progress::Progress(Platform& platform, const Deployment& deployment, bool quiet, bool per_vertex)
    : platform_(platform),
      deployment_(deployment),
      quiet_(quiet),
      per_vertex_(per_vertex),
      terminal_(platform.is_terminal(2)),
      began_(platform.now()) {
  last_line_ = began_;
}

std::string Progress::line() const {
  const double seconds = in_seconds(platform_.now() - began_);
  std::uint64_t bytes = 0;
  std::uint64_t expected = 0;
  std::uint64_t records = 0;
  for (const auto& task : deployment_.tasks()) {
    bool head = true;
    for (const OperatorFigures& op : task->figures().operators) {
      if (op.bytes_expected.get() > 0 || head) {
        bytes += head ? op.bytes.get() : 0;
        expected += op.bytes_expected.get();
      }
      records += op.records_in.get();
      head = false;
    }
  }
  std::string text = fmt::format("{:6.1f} s", seconds);
  if (bytes > 0) {
    text += fmt::format("  {} read, {}/s", format_bytes(static_cast<double>(bytes)),
                        format_bytes(static_cast<double>(bytes) / seconds));
  }
  text +=
      fmt::format("  {} records/s handled", format_count(static_cast<double>(records) / seconds));
  if (expected > 0) {
    const double share = static_cast<double>(bytes) / static_cast<double>(expected);
    text += fmt::format("  {:3.0f} %", share * 100);
    if (share > 0.01) text += fmt::format(", {:.0f} s to go", seconds / share - seconds);
  }
  if (per_vertex_) {
    for (const VertexResult& vertex : deployment_.figures().vertices) {
      text += fmt::format("\n    {} ×{}:", vertex.name, vertex.parallelism);
      for (const OperatorResult& op : vertex.operators) {
        text += fmt::format(" {} {}→{};", op.name, format_count(static_cast<double>(op.records_in)),
                            format_count(static_cast<double>(op.records_out)));
      }
    }
  }
  return text;
}

void Progress::tick() {
  if (quiet_) return;
  const Nanoseconds now = platform_.now();
  const bool rewrite = terminal_ && !per_vertex_;
  if (now - last_line_ < (rewrite ? terminal_interval_ns : plain_interval_ns)) return;
  last_line_ = now;
  const std::string text = rewrite ? "\r\x1b[K" + line() : line() + "\n";
  (void)platform_.write_standard(2, text);
  line_open_ = rewrite;
}

void Progress::summarize(const JobResult& result) {
  if (quiet_) return;
  std::string text = line_open_ ? "\r\x1b[K" : "";
  if (result.ok()) {
    text += fmt::format("{}: {} written in {:.2f} s", result.job_name,
                        format_count(static_cast<double>(result.records_written)) + " records",
                        result.seconds);
    if (result.bytes_read > 0) {
      text += fmt::format(", {} read at {}/s", format_bytes(static_cast<double>(result.bytes_read)),
                          format_bytes(static_cast<double>(result.bytes_read) / result.seconds));
    }
    text += "\n";
  }
  if (per_vertex_) {
    for (const VertexResult& vertex : result.vertices) {
      text += fmt::format("  {} (parallelism {})\n", vertex.name, vertex.parallelism);
      for (const OperatorResult& op : vertex.operators) {
        text += fmt::format("    {:<20} {:>14} in {:>14} out {:>14} bytes\n", op.name,
                            op.records_in, op.records_out, op.bytes);
      }
    }
  }
  (void)platform_.write_standard(2, text);
}

}  // namespace hummer
