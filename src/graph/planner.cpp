#include "graph/planner.hpp"

#include <utility>

#include <hummer/operator.hpp>

namespace hummer {
namespace {

const StreamNode& node_of(const StreamGraph& graph, int id) {
  return graph.nodes[static_cast<std::size_t>(id)];
}

// The one edge into a node.
const StreamEdge& edge_into(const StreamGraph& graph, int node) {
  const StreamEdge* found = nullptr;
  for (const StreamEdge& edge : graph.edges) {
    if (edge.to == node) found = &edge;
  }
  HUMMER_ASSERT(found != nullptr);
  return *found;
}

StreamNode planned_node(const StreamNode& written, const Plan& plan) {
  StreamNode node = written;
  if (!node.parallelism && !plan.checkpoints) {
    node.parallelism = node.parallelism_without_checkpoints;
  }
  if (node.factory != nullptr) {
    if (auto factory = node.factory->planned(plan)) node.factory = std::move(factory);
  }
  return node;
}

}  // namespace

StreamGraph plan(const StreamGraph& written, const Plan& plan) {
  StreamGraph planned;
  planned.job_name = written.job_name;
  planned.mistake = written.mistake;
  std::vector<int> new_ids;  // by the old one; -1: passed over
  for (const StreamNode& node : written.nodes) {
    new_ids.push_back(-1);
    if (!wants(plan, node.planned_for)) continue;
    new_ids.back() = static_cast<int>(planned.nodes.size());
    planned.nodes.push_back(planned_node(node, plan));
    planned.nodes.back().id = new_ids.back();
  }
  const auto new_id = [&](int id) { return new_ids[static_cast<std::size_t>(id)]; };
  for (StreamEdge edge : written.edges) {
    if (new_id(edge.to) < 0) continue;
    while (new_id(edge.from) < 0) {
      const StreamEdge& into = edge_into(written, edge.from);
      edge.from = into.from;
      edge.from_port = into.from_port;
      edge.partitioner = edge.partitioner_past;
    }
    edge.from = new_id(edge.from);
    edge.to = new_id(edge.to);
    if (edge.automatic) {
      edge.routing =
          node_of(planned, edge.from).parallelism == node_of(planned, edge.to).parallelism
              ? Routing::forward
              : Routing::rebalance;
    }
    planned.edges.push_back(std::move(edge));
  }
  return planned;
}

}  // namespace hummer
