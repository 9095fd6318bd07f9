// JobResult: how a job ended, and its metrics per vertex.
//
// Plain data; complete when execute() returns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <hummer/status.hpp>

namespace hummer {

struct OperatorSummary {
  std::string name;
  std::uint64_t records_in = 0;
  std::uint64_t records_out = 0;
  std::uint64_t bytes = 0;           // read or written outside the engine
  std::uint64_t bytes_expected = 0;  // of these, in all; 0: not known
  std::uint64_t records_late = 0;    // that came too late to be used
  // For which a function has thrown, of an operator that goes on then (hummer/failure_policy.hpp).
  std::uint64_t records_skipped = 0;
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
  // What main() should return: 0 success, 1 the job failed, 2 wrong usage, 130 cancelled.
  int exit_code() const;
};

}  // namespace hummer
