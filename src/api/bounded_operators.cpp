#include "api/bounded_operators.hpp"

#include <hummer/detail/operators/bounded_operators.hpp>

#include <fmt/format.h>

#include <set>

namespace hummer {
namespace {

// A source above the node that does not end; null: there is none.
const StreamNode* unbounded_source(const StreamGraph& graph, int id, std::set<int>& seen) {
  if (!seen.insert(id).second) return nullptr;
  const StreamNode* node = find_node(graph, id);
  if (node == nullptr) return nullptr;
  if (node->kind == OperatorKind::source) return node->bounded ? nullptr : node;
  for (const StreamEdge& edge : graph.edges) {
    if (edge.to != id) continue;
    if (const StreamNode* source = unbounded_source(graph, edge.from, seen)) return source;
  }
  return nullptr;
}

}  // namespace

bool is_bounded_operator(const StreamNode& node) {
  return dynamic_cast<const BoundedOperatorFactory*>(node.factory.get()) != nullptr;
}

Status check_bounded_operators(const StreamGraph& graph, bool checkpoints) {
  for (const StreamNode& node : graph.nodes) {
    if (!is_bounded_operator(node)) continue;
    std::set<int> seen;
    if (const StreamNode* source = unbounded_source(graph, node.id, seen)) {
      return {ErrorCode::invalid_graph,
              fmt::format("{} gives its records when its input has ended, and the source {} above "
                          "it never ends: read a bounded source there, or use windows",
                          describe(node), describe(*source))};
    }
    if (checkpoints) {
      return {ErrorCode::invalid_configuration,
              fmt::format("{} holds its whole input, which no checkpoint saves: run the job "
                          "without --checkpoint-dir (checkpoints.directory); after a failure it "
                          "then begins anew",
                          describe(node))};
    }
  }
  return {};
}

}  // namespace hummer
