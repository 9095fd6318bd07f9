// JobResult: how a job ended, and its metrics per vertex.
//
// Plain data; complete when execute() returns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/detail/metric_kind.hpp>
#include <hummer/status.hpp>

namespace hummer {

// A metric of the author's functions (hummer/metrics.hpp), over the subtasks of an operator.
struct MetricSummary {
  std::string name;
  MetricKind kind = MetricKind::counter;
  std::uint64_t count =
      0;  // a counter's value; how many values a histogram has; a gauge's subtasks
  double sum = 0, min = 0, max = 0;  // of a gauge; of a histogram but for min
  double p50 = 0, p99 = 0;           // of a histogram
};

struct OperatorSummary {
  std::string name;
  std::uint64_t records_in = 0;
  std::uint64_t records_out = 0;
  std::uint64_t bytes = 0;           // read or written outside the engine
  std::uint64_t bytes_expected = 0;  // of these, in all; 0: not known
  std::uint64_t records_late = 0;    // that came too late to be used
  // For which a function has thrown, of an operator that goes on then (hummer/failure_policy.hpp).
  std::uint64_t records_skipped = 0;
  std::vector<MetricSummary> metrics;  // by name
};

struct VertexSummary {
  std::string name;
  int parallelism = 0;
  std::vector<OperatorSummary> operators;  // the chain, summed over subtasks
};

struct JobResult {
  std::string job_name;
  Status status;
  double seconds = 0;
  std::vector<VertexSummary> vertices;
  std::uint64_t bytes_read = 0;       // by all sources
  std::uint64_t records_read = 0;     // out of all sources
  std::uint64_t records_written = 0;  // into all sinks
  std::uint64_t records_late = 0;     // of all operators
  std::uint64_t records_skipped = 0;  // of all operators

  bool ok() const { return status.ok(); }
  // Of the author's counters with this name, in all operators.
  std::uint64_t counter(std::string_view name) const;
  // What main() should return: 0 success, 1 the job failed, 2 wrong usage, 130 cancelled.
  int exit_code() const;
};

}  // namespace hummer
