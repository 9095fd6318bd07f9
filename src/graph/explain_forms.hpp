// The three forms of `explain`, one file each. Internal to graph/.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/execution_graph.hpp"

namespace hummer {

// Everything that a form prints, passed on together.
struct ExplainedJob {
  const StreamGraph& stream;
  const JobGraph& job;
  const ExecutionGraph& execution;
  // By vertex: the bytes that a subtask of it is for; 0: it has as many as are placed.
  std::vector<std::uint64_t> bytes_per_subtask;
};

std::string explain_as_text(const ExplainedJob& explained);
std::string explain_as_json(const ExplainedJob& explained);
std::string explain_as_dot(const ExplainedJob& explained);

// "fused" or "not fused: hash exchange".
std::string fusion_text(const FusionDecision& decision);

// "4", "unset", "unset, 2..8", "unset, at least 2".
std::string declared_parallelism_text(const JobVertex& vertex);

}  // namespace hummer
