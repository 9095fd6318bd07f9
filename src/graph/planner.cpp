#include "graph/planner.hpp"

#include <utility>

#include <fmt/format.h>

#include <hummer/detail/operators/folding_choice.hpp>
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

// Empty: nothing was to be chosen.
std::string strategy_of(PreAggregation part, const Plan& plan) {
  const std::string measured = fmt::format(
      "measured per epoch (folds up to {} parts per record, {} where the exchange is in "
      "memory, else passes records on)",
      FoldingChoice::pass_above, FoldingChoice::pass_above_if_cheap);
  const bool shares_table = part == PreAggregation::paired_partial && !plan.checkpoints;
  switch (part) {
    case PreAggregation::none: return {};
    case PreAggregation::forced_partial:
      return "always folds: the window's own strategy is late_merge";
    case PreAggregation::merge:
      if (plan.partial_windows) return {};
      return plan.folding == Folding::off
                 ? "none, records are re-partitioned: window-strategy is repartition"
                 : "none, records are re-partitioned: parallelism 1 without checkpoints";
    case PreAggregation::partial:
    case PreAggregation::paired_partial: break;
  }
  switch (plan.folding) {
    case Folding::always: return "always folds: window-strategy is late_merge";
    case Folding::off: return "passes records on: window-strategy is repartition";
    case Folding::automatic: break;
  }
  if (!shares_table) return "automatic: " + measured;
  return "always folds: halves share a slot's table; where they run in different slots, " +
         measured;
}

StreamNode planned_node(const StreamNode& written, const Plan& plan) {
  StreamNode node = written;
  node.strategy = strategy_of(written.pre_aggregation, plan);
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
    if (edge.is_bypass && (new_id(edge.from) < 0 || !has_bypass(plan))) continue;
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
  for (const StreamEdge& bypass : planned.edges) {
    if (!bypass.is_bypass) continue;
    for (StreamEdge& edge : planned.edges) {
      if (edge.from == bypass.from && edge.to == bypass.to) edge.halves_credits = true;
    }
  }
  return planned;
}

}  // namespace hummer
