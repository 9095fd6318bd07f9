// The three forms of `explain`, one file each. Internal to graph/.
#pragma once

#include <string>
#include <string_view>

#include "graph/execution_graph.hpp"

namespace hummer {

// Everything that a form prints, passed on together.
struct ExplainedJob {
  const StreamGraph& stream;
  const JobGraph& job;
  const ExecutionGraph& execution;
};

std::string explain_as_text(const ExplainedJob& explained);
std::string explain_as_json(const ExplainedJob& explained);
std::string explain_as_dot(const ExplainedJob& explained);

// "fused" or "not fused: hash exchange".
std::string fusion_text(const FusionDecision& decision);

// "4", "unset", "unset, 2..8", "unset, at least 2".
std::string declared_parallelism_text(const JobVertex& vertex);

}  // namespace hummer
