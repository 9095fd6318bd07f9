#include "graph/stream_graph.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <utility>

#include <fmt/format.h>

namespace hummer {
namespace {

Status refuse(std::string message) { return {ErrorCode::invalid_graph, std::move(message)}; }

// Position in graph.nodes by id. Of two nodes with one id the first counts.
std::map<int, int> positions_by_id(const StreamGraph& graph) {
  std::map<int, int> positions;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    positions.emplace(graph.nodes[i].id, static_cast<int>(i));
  }
  return positions;
}

Status check_identities(const StreamGraph& graph) {
  std::map<int, const StreamNode*> by_id;
  std::map<std::string, const StreamNode*> by_uid;
  for (const StreamNode& node : graph.nodes) {
    if (const auto [other, fresh] = by_id.emplace(node.id, &node); !fresh) {
      return refuse(fmt::format("{} and {} have the same node id; ids must be unique",
                                describe(*other->second), describe(node)));
    }
    if (node.uid.empty()) continue;
    if (const auto [other, fresh] = by_uid.emplace(node.uid, &node); !fresh) {
      return refuse(fmt::format(
          "{} and {} have the same uid \"{}\"; a uid names an operator's state, so give each its "
          "own",
          describe(*other->second), describe(node), node.uid));
    }
  }
  return {};
}

Status check_parallelism(const StreamNode& node, bool keyed) {
  const auto in_bounds = [&](std::string_view what, const std::optional<int>& value) -> Status {
    if (!value || (*value >= 1 && *value <= highest_parallelism)) return {};
    return refuse(fmt::format("{}: {} is {}; it must be from 1 to {}", describe(node), what, *value,
                              highest_parallelism));
  };
  HUMMER_TRY(in_bounds("parallelism", node.parallelism));
  HUMMER_TRY(in_bounds("minimum parallelism", node.min_parallelism));
  HUMMER_TRY(in_bounds("maximum parallelism", node.max_parallelism));
  HUMMER_TRY(in_bounds("number of key groups", node.key_groups));
  const int min = node.min_parallelism.value_or(1);
  if (node.max_parallelism && min > *node.max_parallelism) {
    return refuse(fmt::format("{}: minimum parallelism {} is above maximum parallelism {}",
                              describe(node), min, *node.max_parallelism));
  }
  if (node.parallelism && *node.parallelism < min) {
    return refuse(fmt::format("{}: parallelism {} is below its minimum {}", describe(node),
                              *node.parallelism, min));
  }
  if (node.parallelism && node.max_parallelism && *node.parallelism > *node.max_parallelism) {
    return refuse(fmt::format("{}: parallelism {} is above its maximum {}", describe(node),
                              *node.parallelism, *node.max_parallelism));
  }
  const int wanted = std::max(min, node.parallelism.value_or(1));
  if (keyed && wanted > key_groups_of(node)) {
    return refuse(fmt::format(
        "{}: parallelism {} is above its {} key groups, so some subtasks would never get a record; "
        "set more key groups or a lower parallelism",
        describe(node), wanted, key_groups_of(node)));
  }
  return {};
}

Status check_edge(const StreamGraph& graph, const StreamEdge& edge) {
  const StreamNode* from = find_node(graph, edge.from);
  const StreamNode* to = find_node(graph, edge.to);
  if (from == nullptr || to == nullptr) {
    return refuse(fmt::format("edge {} -> {}: there is no node {}", edge.from, edge.to,
                              from == nullptr ? edge.from : edge.to));
  }
  const std::string name = fmt::format("edge {} -> {}", describe(*from), describe(*to));
  if (edge.from_port < 0) {
    return refuse(fmt::format("{}: output port {} is negative", name, edge.from_port));
  }
  if (from->kind == OperatorKind::sink && edge.from_port == 0) {
    return refuse(fmt::format("{} is a sink and has no output, but {} reads from it",
                              describe(*from), describe(*to)));
  }
  if (to->kind == OperatorKind::source) {
    return refuse(fmt::format("{} is a source and takes no input, but {} writes to it",
                              describe(*to), describe(*from)));
  }
  if (edge.routing == Routing::forward && from->parallelism && to->parallelism &&
      *from->parallelism != *to->parallelism) {
    return refuse(fmt::format(
        "{} has parallelism {} and {} has {}, but a forward edge joins them, which connects "
        "subtask i to subtask i; use rebalance() between them or give both the same parallelism",
        describe(*from), *from->parallelism, describe(*to), *to->parallelism));
  }
  return validate(edge.network).with_context(name);
}

// The names along one cycle, "'a' -> 'b' -> 'a'". `sorted` lacks the nodes of every cycle.
std::string describe_cycle(const StreamGraph& graph, const std::vector<int>& sorted) {
  const auto positions = positions_by_id(graph);
  std::vector<bool> stuck(graph.nodes.size(), true);
  for (const int position : sorted) stuck[position] = false;
  // Every stuck node has a stuck node upstream: walking up must meet itself.
  std::vector<int> walk;
  int at = static_cast<int>(std::find(stuck.begin(), stuck.end(), true) - stuck.begin());
  while (std::find(walk.begin(), walk.end(), at) == walk.end()) {
    walk.push_back(at);
    for (const StreamEdge& edge : graph.edges) {
      if (positions.at(edge.to) == at && stuck[positions.at(edge.from)]) {
        at = positions.at(edge.from);
        break;
      }
    }
  }
  std::string text = describe(graph.nodes[at]);
  for (auto step = walk.rbegin(); step != walk.rend(); ++step) {
    text += " -> " + describe(graph.nodes[*step]);
    if (*step == at) break;
  }
  return text;
}

}  // namespace

int key_groups_of(const StreamNode& node) {
  if (node.key_groups) return *node.key_groups;
  return node.max_parallelism.value_or(static_cast<int>(default_key_groups));
}

const StreamNode* find_node(const StreamGraph& graph, int id) {
  for (const StreamNode& node : graph.nodes) {
    if (node.id == id) return &node;
  }
  return nullptr;
}

std::string describe(const StreamNode& node) {
  return fmt::format("'{}' (node {})", node.name.empty() ? to_string(node.kind) : node.name,
                     node.id);
}

std::vector<int> topological_order(const StreamGraph& graph) {
  const auto positions = positions_by_id(graph);
  std::vector<int> waiting_inputs(graph.nodes.size(), 0);
  std::vector<std::vector<int>> outputs(graph.nodes.size());
  for (const StreamEdge& edge : graph.edges) {
    ++waiting_inputs[positions.at(edge.to)];
    outputs[positions.at(edge.from)].push_back(positions.at(edge.to));
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (std::size_t i = 0; i < waiting_inputs.size(); ++i) {
    if (waiting_inputs[i] == 0) ready.push(static_cast<int>(i));
  }
  std::vector<int> order;
  while (!ready.empty()) {
    const int position = ready.top();
    ready.pop();
    order.push_back(position);
    for (const int below : outputs[position]) {
      if (--waiting_inputs[below] == 0) ready.push(below);
    }
  }
  return order;
}

Status validate(const StreamGraph& graph) {
  HUMMER_TRY(graph.mistake);
  if (graph.nodes.empty()) {
    return refuse("the job is empty; give it at least one source, such as env.from_file(...)");
  }
  HUMMER_TRY(check_identities(graph));
  for (const StreamEdge& edge : graph.edges) HUMMER_TRY(check_edge(graph, edge));

  for (const StreamNode& node : graph.nodes) {
    bool has_input = false;
    bool keyed = node.stateful;
    for (const StreamEdge& edge : graph.edges) {
      if (edge.to != node.id) continue;
      has_input = true;
      keyed = keyed || edge.routing == Routing::hash;
    }
    if (node.kind != OperatorKind::source && !has_input) {
      return refuse(fmt::format("{} is {} without input; connect a stream to it", describe(node),
                                node.kind == OperatorKind::sink ? "a sink" : "an operator"));
    }
    HUMMER_TRY(check_parallelism(node, keyed));
  }

  const std::vector<int> sorted = topological_order(graph);
  if (sorted.size() != graph.nodes.size()) {
    return refuse(fmt::format("the job has a cycle: {}; a stream must not lead back into itself",
                              describe_cycle(graph, sorted)));
  }
  return {};
}

Status check_sinks(const StreamGraph& graph) {
  for (const StreamNode& node : graph.nodes) {
    if (node.kind == OperatorKind::sink) continue;
    const auto reads = [&](const StreamEdge& edge) { return edge.from == node.id; };
    if (std::any_of(graph.edges.begin(), graph.edges.end(), reads)) continue;
    return refuse(fmt::format(
        "nobody reads the stream of {}, so all that it gives would be lost; end it with a sink, "
        "such as print(), write_file(...), for_each(...) or add_sink(...)",
        describe(node)));
  }
  return {};
}

}  // namespace hummer
