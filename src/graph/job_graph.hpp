// JobGraph: operators fused into chains. One vertex is one chain, which runs as
// one task per subtask; the records inside it pass by function call.
//
// It is self-contained plain data without factories, so that a client may send
// it to the JobManager, and a worker that builds the job again may compare
// fingerprints.
//
// Fusion is the paper's rule (Hummer, section 3.2): see `can_fuse`. Chains are
// linear: an operator with several outgoing edges ends its chain.
//
// Blocking edges (ExchangeMode) cut it into regions that run one after another: see
// graph/regions.hpp. What is ahead of one must end.
//
// Thread: plain data, pure functions. Errors: those of `validate(StreamGraph)` and
// `check_blocking_edges`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/stream_graph.hpp"

namespace hummer {

// The parallelism that a node or vertex may have, both ends included.
struct ParallelismRange {
  static constexpr int unlimited = highest_parallelism;
  int min = 1;
  int max = unlimited;

  bool empty() const { return min > max; }
  friend bool operator==(const ParallelismRange&, const ParallelismRange&) = default;
};

ParallelismRange intersect(const ParallelismRange& a, const ParallelismRange& b);

// From the declared minimum and maximum; a node that is stateful or has a hash
// input has no more subtasks than key groups.
ParallelismRange parallelism_range(const StreamGraph& graph, const StreamNode& node);

enum class FusionVerdict {
  fused,
  fusion_disabled,
  not_forward,
  side_output,
  upstream_has_several_outputs,
  downstream_has_several_inputs,
  upstream_forbids,
  downstream_forbids,
  transport_requested,  // the author asked for a channel of a certain kind
  blocking_requested,
  resource_group_differs,
  parallelism_differs,
  parallelism_ranges_disjoint,
};

struct FusionDecision {
  FusionVerdict verdict = FusionVerdict::fused;
  std::string reason;  // for people: "hash exchange"; empty when fused

  bool fused() const { return verdict == FusionVerdict::fused; }
  friend bool operator==(const FusionDecision&, const FusionDecision&) = default;
};

struct FusionOptions {
  bool enabled = true;
  // Of the edges that are left, where every source of the job is bounded.
  ExchangeMode exchange = ExchangeMode::pipelined;
};

// May the two ends of `edge` run in one chain? `chain_range` is the range of the
// whole chain that ends with the upstream node: three ranges may be disjoint
// though each neighbouring two are not.
FusionDecision can_fuse(const StreamGraph& graph, const StreamEdge& edge,
                        const ParallelismRange& chain_range, const FusionOptions& options);

// One operator of a chain: what of its node the JobManager needs to know.
struct ChainedOperator {
  int node = 0;  // StreamNode id
  std::string name;
  std::string uid;  // never empty: the author's, or generated from the topology above it
  OperatorKind kind = OperatorKind::operator_;
  std::string output_type;
  bool stateful = false;
  bool replayable = true;           // of the node
  int key_groups = 0;               // 0 when neither stateful nor reached by a hash edge
  std::uint64_t captured_hash = 0;  // of the node
};

struct JobVertex {
  int id = 0;                          // its index in JobGraph::vertices; upstream has lower ids
  std::vector<ChainedOperator> chain;  // head first, never empty
  std::string name;                    // "from_file → flat_map → partial_count"
  std::string uid;                     // that of the head
  std::optional<int> parallelism;      // as declared
  ParallelismRange range;              // of all its operators
  std::string resource_group;
  bool bounded = false;  // every source above it is bounded
};

struct JobEdge {
  int id = 0;    // its index in JobGraph::edges
  int from = 0;  // vertex ids
  int to = 0;
  int from_port = 0;
  int to_input = 0;  // which input of the downstream head, counted in the order written
  Routing routing = Routing::forward;
  int key_groups = 0;  // of a hash edge; else 0
  // Of StreamEdge.
  bool is_custom = false;
  bool halves_credits = false;
  NetworkSettings network;
  FusionDecision decision;  // why the edge was not fused

  bool is_blocking() const { return network.exchange == ExchangeMode::blocking; }
};

struct JobGraph {
  std::string job_name;
  std::vector<JobVertex> vertices;
  std::vector<JobEdge> edges;
  std::vector<FusionDecision> decisions;  // one per StreamGraph edge, in its order
  std::uint64_t fingerprint = 0;          // see graph/fingerprint.hpp
};

std::string_view to_string(FusionVerdict verdict);

// Whether barriers may overtake records: one that does saves a record once, and a record of a
// broadcast edge is in flight to some subtasks and with others already. There they align.
bool can_be_unaligned(const JobGraph& job);

Result<JobGraph> fuse(const StreamGraph& graph, const FusionOptions& options = {});

}  // namespace hummer
