#include "graph/job_graph.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "graph/fingerprint.hpp"
#include "graph/regions.hpp"

namespace hummer {
namespace {

template <typename Predicate>
int count_edges(const StreamGraph& graph, Predicate predicate) {
  return static_cast<int>(std::count_if(graph.edges.begin(), graph.edges.end(), predicate));
}

bool has_hash_input(const StreamGraph& graph, int node) {
  return count_edges(graph, [node](const StreamEdge& edge) {
           return edge.to == node && edge.routing == Routing::hash;
         }) > 0;
}

std::string range_text(const ParallelismRange& range) {
  return range.max == ParallelismRange::unlimited ? fmt::format("at least {}", range.min)
                                                  : fmt::format("{}..{}", range.min, range.max);
}

std::string parallelism_text(const std::optional<int>& parallelism) {
  return parallelism ? std::to_string(*parallelism) : "unset";
}

// A uid for every node: the author's, or one of the node's name, kind and type
// and of what is above it. It doesn't depend on fusion or parallelism, so state
// is found again when only those change; it does change when the topology above
// it changes, which is why authors should give uids to stateful operators.
std::map<int, std::string> uids_by_node(const StreamGraph& graph, const std::vector<int>& order) {
  std::set<std::string> taken;
  for (const StreamNode& node : graph.nodes) taken.insert(node.uid);
  std::map<int, std::string> uids;
  for (const int position : order) {
    const StreamNode& node = graph.nodes[position];
    if (!node.uid.empty()) {
      uids[node.id] = node.uid;
      continue;
    }
    StableHash hash;
    hash.add(node.name).add(to_string(node.kind)).add(node.output_type);
    for (const StreamEdge& edge : graph.edges) {
      if (edge.to != node.id || edge.is_bypass) continue;
      hash.add(uids.at(edge.from)).add(edge.from_port).add(to_string(edge.routing));
    }
    const std::string generated = fmt::format("{:016x}", hash.value());
    std::string uid = generated;
    for (int twin = 2; !taken.insert(uid).second; ++twin) {
      uid = fmt::format("{}-{}", generated, twin);
    }
    uids[node.id] = uid;
  }
  return uids;
}

ChainedOperator chained(const StreamGraph& graph, const StreamNode& node, std::string uid) {
  ChainedOperator op;
  op.node = node.id;
  op.name = node.name.empty() ? std::string(to_string(node.kind)) : node.name;
  op.uid = std::move(uid);
  op.kind = node.kind;
  op.output_type = node.output_type;
  op.captured_hash = node.captured_hash;
  op.stateful = node.stateful;
  op.replayable = node.replayable;
  if (node.stateful || has_hash_input(graph, node.id)) op.key_groups = key_groups_of(node);
  return op;
}

bool is_bounded(const JobGraph& job) {
  return std::all_of(job.vertices.begin(), job.vertices.end(),
                     [](const JobVertex& vertex) { return vertex.bounded; });
}

}  // namespace

ParallelismRange intersect(const ParallelismRange& a, const ParallelismRange& b) {
  return {std::max(a.min, b.min), std::min(a.max, b.max)};
}

ParallelismRange parallelism_range(const StreamGraph& graph, const StreamNode& node) {
  ParallelismRange range;
  range.min = node.min_parallelism.value_or(range.min);
  range.max = node.max_parallelism.value_or(range.max);
  if (node.stateful || has_hash_input(graph, node.id)) {
    range.max = std::min(range.max, key_groups_of(node));
  }
  return range;
}

std::string_view to_string(FusionVerdict verdict) {
  switch (verdict) {
    case FusionVerdict::fused: return "fused";
    case FusionVerdict::fusion_disabled: return "fusion_disabled";
    case FusionVerdict::not_forward: return "not_forward";
    case FusionVerdict::side_output: return "side_output";
    case FusionVerdict::upstream_has_several_outputs: return "upstream_has_several_outputs";
    case FusionVerdict::downstream_has_several_inputs: return "downstream_has_several_inputs";
    case FusionVerdict::upstream_forbids: return "upstream_forbids";
    case FusionVerdict::downstream_forbids: return "downstream_forbids";
    case FusionVerdict::transport_requested: return "transport_requested";
    case FusionVerdict::blocking_requested: return "blocking_requested";
    case FusionVerdict::resource_group_differs: return "resource_group_differs";
    case FusionVerdict::parallelism_differs: return "parallelism_differs";
    case FusionVerdict::parallelism_ranges_disjoint: return "parallelism_ranges_disjoint";
  }
  return "unknown";
}

FusionDecision can_fuse(const StreamGraph& graph, const StreamEdge& edge,
                        const ParallelismRange& chain_range, const FusionOptions& options) {
  const StreamNode* from = find_node(graph, edge.from);
  const StreamNode* to = find_node(graph, edge.to);
  HUMMER_ASSERT(from != nullptr && to != nullptr);

  if (edge.routing != Routing::forward) {
    return {FusionVerdict::not_forward, fmt::format("{} exchange", to_string(edge.routing))};
  }
  if (!options.enabled) return {FusionVerdict::fusion_disabled, "fusion is switched off"};
  if (edge.from_port != 0) {
    return {FusionVerdict::side_output, fmt::format("side output {}", edge.from_port)};
  }
  const int outputs = count_edges(graph, [&](const auto& e) { return e.from == edge.from; });
  if (outputs > 1) {
    return {FusionVerdict::upstream_has_several_outputs,
            fmt::format("{} has {} outgoing edges", describe(*from), outputs)};
  }
  const int inputs = count_edges(graph, [&](const auto& e) { return e.to == edge.to; });
  if (inputs > 1) {
    return {FusionVerdict::downstream_has_several_inputs,
            fmt::format("{} has {} inputs", describe(*to), inputs)};
  }
  if (!from->chain_with_downstream) {
    return {FusionVerdict::upstream_forbids,
            fmt::format("{} forbids chaining with its downstream", describe(*from))};
  }
  if (!to->chain_with_upstream) {
    return {FusionVerdict::downstream_forbids,
            fmt::format("{} forbids chaining with its upstream", describe(*to))};
  }
  if (edge.network.transport != Transport::automatic) {
    return {FusionVerdict::transport_requested,
            fmt::format("the edge asks for the {} transport", to_string(edge.network.transport))};
  }
  if (edge.network.exchange == ExchangeMode::blocking) {
    return {FusionVerdict::blocking_requested, "the edge is blocking"};
  }
  if (from->resource_group != to->resource_group) {
    return {
        FusionVerdict::resource_group_differs,
        fmt::format("resource groups \"{}\" and \"{}\"", from->resource_group, to->resource_group)};
  }
  if (from->parallelism != to->parallelism) {
    return {FusionVerdict::parallelism_differs,
            fmt::format("declared parallelism {} and {}", parallelism_text(from->parallelism),
                        parallelism_text(to->parallelism))};
  }
  const ParallelismRange range = parallelism_range(graph, *to);
  if (intersect(chain_range, range).empty()) {
    return {FusionVerdict::parallelism_ranges_disjoint,
            fmt::format("parallelism {} and {} do not meet", range_text(chain_range),
                        range_text(range))};
  }
  return {};
}

Result<JobGraph> fuse(const StreamGraph& graph, const FusionOptions& options) {
  HUMMER_TRY(validate(graph));
  const std::vector<int> order = topological_order(graph);
  const std::map<int, std::string> uids = uids_by_node(graph, order);

  JobGraph job;
  job.job_name = graph.job_name;
  job.decisions.resize(graph.edges.size());
  std::map<int, int> vertex_of;  // by node id

  // Upstream first: when a node's turn comes, the chain that ends above it is final.
  for (const int position : order) {
    const StreamNode& node = graph.nodes[position];
    int joined = -1;
    bool bounded = node.kind == OperatorKind::source ? node.bounded : true;
    for (std::size_t i = 0; i < graph.edges.size(); ++i) {
      const StreamEdge& edge = graph.edges[i];
      if (edge.to != node.id) continue;
      const JobVertex& above = job.vertices[vertex_of.at(edge.from)];
      bounded = bounded && above.bounded;
      job.decisions[i] = can_fuse(graph, edge, above.range, options);
      if (job.decisions[i].fused()) joined = above.id;
    }
    if (joined < 0) {
      JobVertex fresh;
      fresh.id = static_cast<int>(job.vertices.size());
      fresh.uid = uids.at(node.id);
      fresh.parallelism = node.parallelism;
      fresh.resource_group = node.resource_group;
      fresh.bounded = bounded;
      joined = fresh.id;
      job.vertices.push_back(std::move(fresh));
    }
    JobVertex& vertex = job.vertices[joined];
    vertex.range = intersect(vertex.range, parallelism_range(graph, node));
    vertex.chain.push_back(chained(graph, node, uids.at(node.id)));
    vertex.name += (vertex.name.empty() ? "" : " → ") + vertex.chain.back().name;
    vertex_of[node.id] = joined;
  }

  const bool through_files = options.exchange == ExchangeMode::blocking && is_bounded(job);
  std::map<int, int> inputs_seen;  // by node id
  for (std::size_t i = 0; i < graph.edges.size(); ++i) {
    const StreamEdge& edge = graph.edges[i];
    const int input = inputs_seen[edge.to]++;
    if (job.decisions[i].fused()) continue;
    JobEdge out;
    out.id = static_cast<int>(job.edges.size());
    out.from = vertex_of.at(edge.from);
    out.to = vertex_of.at(edge.to);
    out.from_port = edge.from_port;
    out.to_input = input;
    out.routing = edge.routing;
    if (edge.routing == Routing::hash) out.key_groups = key_groups_of(*find_node(graph, edge.to));
    out.is_custom = edge.is_custom;
    out.halves_credits = edge.halves_credits;
    out.network = edge.network;
    if (edge.halves_credits) out.network.credits = (edge.network.credits + 1) / 2;
    if (through_files && !edge.is_ordered) {
      out.network = {.interface_or_address = edge.network.interface_or_address,
                     .exchange = ExchangeMode::blocking};
    }
    out.decision = job.decisions[i];
    job.edges.push_back(std::move(out));
  }
  HUMMER_TRY(check_blocking_edges(job));
  job.fingerprint = fingerprint(job);
  return job;
}

bool can_be_unaligned(const JobGraph& job) {
  return std::none_of(job.edges.begin(), job.edges.end(),
                      [](const JobEdge& edge) { return edge.routing == Routing::broadcast; });
}

}  // namespace hummer
