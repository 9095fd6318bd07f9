#include "graph/explain.hpp"

#include <fmt/format.h>

#include "graph/explain_forms.hpp"
#include "graph/parallelism.hpp"
#include "graph/regions.hpp"

namespace hummer {

std::string fusion_text(const FusionDecision& decision) {
  return decision.fused() ? "fused" : "not fused: " + decision.reason;
}

std::string declared_parallelism_text(const JobVertex& vertex) {
  if (vertex.parallelism) return std::to_string(*vertex.parallelism);
  const ParallelismRange& range = vertex.range;
  if (range.max != ParallelismRange::unlimited) {
    return fmt::format("unset, {}..{}", range.min, range.max);
  }
  return range.min == 1 ? "unset" : fmt::format("unset, at least {}", range.min);
}

std::string explain(const StreamGraph& stream, const JobGraph& job, const ExecutionGraph& execution,
                    ExplainFormat format, std::uint64_t bytes_per_subtask) {
  HUMMER_ASSERT(job.decisions.size() == stream.edges.size());
  HUMMER_ASSERT(execution.parallelism.size() == job.vertices.size());
  ExplainedJob explained{stream, job, execution, {}};
  const std::vector<bool> depends = may_be_narrowed(job, regions_of(job));
  for (std::size_t v = 0; v < depends.size(); ++v) {
    explained.bytes_per_subtask.push_back(depends[v] ? bytes_per_subtask : 0);
  }
  switch (format) {
    case ExplainFormat::text: return explain_as_text(explained);
    case ExplainFormat::json: return explain_as_json(explained);
    case ExplainFormat::dot: return explain_as_dot(explained);
  }
  return {};
}

Result<ExplainFormat> parse_explain_format(std::string_view name) {
  if (name == "text") return ExplainFormat::text;
  if (name == "json") return ExplainFormat::json;
  if (name == "dot") return ExplainFormat::dot;
  return Status(ErrorCode::unknown_option,
                fmt::format("--explain: \"{}\" is no format; choose text, json or dot", name));
}

}  // namespace hummer
