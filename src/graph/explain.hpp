// What `--explain` prints: the three graphs of one job, side by side.
//
// `text` is for people, `json` for tools and the web page, `dot` for Graphviz.
// Pure; the output holds no address, time or hash-map order, so a golden file
// can be compared byte for byte.
#pragma once

#include <cstdint>
#include <string>

#include "graph/execution_graph.hpp"

namespace hummer {

enum class ExplainFormat { text, json, dot };

// REQUIRES: `job` is fused from `stream`, and `execution` placed from `job`.
// `bytes_per_subtask`: of EnvironmentOptions.
std::string explain(const StreamGraph& stream, const JobGraph& job, const ExecutionGraph& execution,
                    ExplainFormat format, std::uint64_t bytes_per_subtask = 0);

// "text", "json" or "dot"; else `unknown_option`.
Result<ExplainFormat> parse_explain_format(std::string_view name);

}  // namespace hummer
