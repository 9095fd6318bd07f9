// Progress: what a person sees of a running job on standard error.
//
// On a terminal one line that is rewritten twice a second; else a plain line
// every ten seconds. Bytes, records per second, share done, estimated rest; with
// `per_vertex` a line per vertex. Stuck slots are named once per ten seconds.
//
// Thread: the one that waits for the job.
#pragma once

#include <string>

#include <hummer/job_result.hpp>

#include "platform/platform.hpp"

namespace hummer {

// What a line of progress is made of.
struct ProgressMetrics {
  double seconds = 0;  // since the job began
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_expected = 0;  // 0: unknown
  std::uint64_t records = 0;         // handled, by all operators
  std::vector<VertexSummary> vertices;
};
ProgressMetrics progress_metrics(const JobResult& so_far);

class Progress {
 public:
  Progress(Platform& platform, bool quiet, bool per_vertex);

  // Called a few times a second; asks for metrics only when a line is due.
  template <typename Metrics>
  void tick(const Metrics& metrics) {
    if (due()) show(metrics());
  }
  // A line of its own that is not progress, such as a stuck slot.
  void note(const std::string& text);
  // After the end: wipes the line and prints the summary.
  void summarize(const JobResult& result);

 private:
  bool due();
  void show(const ProgressMetrics& metrics);
  std::string line(const ProgressMetrics& metrics) const;

  Platform& platform_;
  const bool quiet_;
  const bool per_vertex_;
  const bool terminal_;
  Nanoseconds last_line_ = 0;
  bool line_open_ = false;
};

std::string format_bytes(double bytes);
std::string format_count(double count);

}  // namespace hummer
