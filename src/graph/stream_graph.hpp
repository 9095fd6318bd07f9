// StreamGraph: the job as its author wrote it, one node per operator.
//
// The API appends nodes and edges in the order of the calls; nothing is decided
// here. The order matters: it is what makes every later graph, and so every
// fingerprint, the same when a worker builds the job again.
//
// Lifecycle: built once by the API with the alternatives that its options decide between; `plan`
// (graph/planner.hpp) makes of it the graph that `validate`, `fuse` and `explain` read. Thread:
// plain data. Ownership: a node shares its operator factory, which only the planner asks for the
// form that it wants.
// Errors: `validate` returns `invalid_graph` (or `invalid_configuration` for an
// edge's network settings) in words for the job's author.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/detail/key_hash.hpp>
#include <hummer/detail/plan.hpp>
#include <hummer/network_settings.hpp>
#include <hummer/status.hpp>

namespace hummer {

class OperatorFactory;
class PartitionerFactory;
struct FailurePolicy;

enum class OperatorKind { source, operator_, sink };

// How an edge chooses the downstream subtask of a record.
enum class Routing {
  forward,    // subtask i to subtask i; both ends have the same parallelism
  hash,       // by the record's key group
  rebalance,  // in turn
  broadcast,  // to every one
};

struct StreamNode {
  int id = 0;        // unique in the graph
  std::string name;  // for people; need not be unique
  std::string uid;   // unique; names the operator's state across versions; empty: generated
  OperatorKind kind = OperatorKind::operator_;
  std::shared_ptr<const OperatorFactory> factory;

  std::optional<int> parallelism;  // unset: the job's default, or a share of the free slots
  // Where no checkpoints are taken and `parallelism` is unset; of the graph as written.
  std::optional<int> parallelism_without_checkpoints;
  std::optional<int> min_parallelism;
  std::optional<int> max_parallelism;
  std::string resource_group;  // nodes of different groups never share a slot
  bool chain_with_upstream = true;
  bool chain_with_downstream = true;

  bool bounded = false;     // a source that ends
  bool replayable = true;   // a source that can hand out again what a restart has lost
  std::string output_type;  // the stable type name of the main output; empty for sinks
  bool stateful = false;    // keeps state by key group
  std::optional<int> key_groups;

  // When a function throws (hummer/failure_policy.hpp); null: the job fails. Opaque here.
  std::shared_ptr<const FailurePolicy> failures;

  // Of the values that the user's functions captured (hummer/rebuildable.hpp); 0: none.
  std::uint64_t captured_hash = 0;
  bool captured_unknown = false;  // they can't be compared: this node runs embedded only

  // Of the graph as written.
  PlannedFor planned_for = PlannedFor::every_plan;
  PreAggregation pre_aggregation = PreAggregation::none;

  std::string strategy;  // of the planned graph, for people: what was chosen, and by whom
};

struct StreamEdge {
  int from = 0;  // node ids
  int to = 0;
  int from_port = 0;  // 0: the main output; 1..: side outputs
  Routing routing = Routing::forward;
  NetworkSettings network;
  std::shared_ptr<const PartitionerFactory> partitioner;  // of a hash edge; opaque here
  // Of the graph as written: `routing` is left to the planner; the partitioner to take where the
  // node that the edge comes from is not planned.
  bool automatic = false;
  bool is_custom = false;  // the author's function says which subtask (partition_custom)
  // Who reads chooses between the subtasks ahead, so it needs their channels: never by files.
  bool is_ordered = false;
  std::shared_ptr<const PartitionerFactory> partitioner_past = {};
  // Of records that a partial operator passes as they are, beside the edge of its parts; only some
  // plans have it (has_bypass). It is in no uid, so that state is found with and without it.
  bool is_bypass = false;
  bool halves_credits = false;  // a bypass and the edge beside it have the credits of one
};

struct StreamGraph {
  std::string job_name;
  std::vector<StreamNode> nodes;
  std::vector<StreamEdge> edges;  // the order of edges into a node is that of its inputs
  Status mistake;                 // the first one that was found while it was built
};

// The most subtasks and the most key groups of a vertex: `group * parallelism`
// stays within 32 bits.
inline constexpr int highest_parallelism = 1 << 15;

// Key groups of a keyed operator: its `key_groups`, else its maximum
// parallelism, else `default_key_groups`. Fixed in the snapshot from the first run on.
int key_groups_of(const StreamNode& node);

// The node with this id, or null.
const StreamNode* find_node(const StreamGraph& graph, int id);

// "'count' (node 3)": how messages name a node.
std::string describe(const StreamNode& node);

constexpr std::string_view to_string(OperatorKind kind) {
  switch (kind) {
    case OperatorKind::source: return "source";
    case OperatorKind::operator_: return "operator";
    case OperatorKind::sink: return "sink";
  }
  return "unknown";
}

constexpr std::string_view to_string(Routing routing) {
  switch (routing) {
    case Routing::forward: return "forward";
    case Routing::hash: return "hash";
    case Routing::rebalance: return "rebalance";
    case Routing::broadcast: return "broadcast";
  }
  return "unknown";
}

// Refuses: a graph with a mistake, an empty graph, duplicate ids and uids, edges to unknown nodes,
// cycles, sources with input, operators and sinks without, sinks with a main output,
// parallelism that is not positive or outside of its minimum and maximum or above
// the number of key groups, forward edges between different parallelism, and
// network settings that make no sense.
Status validate(const StreamGraph& graph);

// Of the graph of a whole job: ok, or that a node which is no sink gives a stream, and side
// outputs, that nobody reads.
Status check_sinks(const StreamGraph& graph);

// Node positions (indexes into `graph.nodes`), upstream before downstream; among
// those that are ready the earliest written comes first. Shorter than
// `graph.nodes` when there is a cycle.
// REQUIRES: every edge names known nodes.
std::vector<int> topological_order(const StreamGraph& graph);

}  // namespace hummer
