// Nodes and edges of the stream graph as the API writes them; see graph/stream_graph.hpp.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/detail/captured_values.hpp>
#include <hummer/detail/operators/format_text.hpp>
#include <hummer/detail/partitioner.hpp>
#include <hummer/detail/plan.hpp>
#include <hummer/failure_policy.hpp>
#include <hummer/network_settings.hpp>
#include <hummer/operator.hpp>
#include <hummer/side_output.hpp>

namespace hummer {

class StreamExecutionEnvironment;

// One operator as the API writes it into the graph; see graph/stream_graph.hpp.
struct NodeSpecification {
  std::string name;
  std::string kind;  // "source", "operator", "sink"
  std::shared_ptr<const OperatorFactory> factory = {};
  bool bounded = false;
  bool stateful = false;
  std::optional<int> parallelism = {};
  // Where no checkpoints are taken and the author sets none.
  std::optional<int> parallelism_without_checkpoints = {};
  PlannedFor planned_for = PlannedFor::every_plan;  // others than the first: with one input
  PreAggregation pre_aggregation = PreAggregation::none;
  std::string output_type = {};
  // Makes values that own their text, for the function behind it: an author sees no operator.
  bool is_conversion = false;
  // Of the user's functions; of an operator made by a factory of the author's own: none, its
  // factory is taken as it is.
  CapturedValues captured = {};
};

enum class EdgeRouting { automatic, forward, hash, rebalance, broadcast };

struct EdgeSpecification {
  int port = 0;
  EdgeRouting routing = EdgeRouting::automatic;
  std::shared_ptr<const PartitionerFactory> partitioner;  // of hash
  // The same where the plan passes over the operator that the edge comes from.
  std::shared_ptr<const PartitionerFactory> partitioner_past;
  NetworkSettings network;
  CapturedValues captured = {};  // of a partitioner that the next operator knows nothing of
  bool is_custom = false;        // the partitioner is a function of the author's
  bool is_ordered = false;       // who reads tells the subtasks ahead apart (ChoosesInput)
  bool is_bypass = false;        // see StreamEdge
};

// How DataStream's setters reach the node that they are about.
struct NodeSettings {
  std::optional<std::string> name = {};
  std::optional<std::string> uid = {};
  std::optional<std::string> resource_group = {};
  std::optional<int> parallelism = {};
  std::optional<int> min_parallelism = {};
  std::optional<int> max_parallelism = {};
  std::optional<bool> chain_with_upstream = {};
  std::optional<bool> chain_with_downstream = {};
  std::optional<FailurePolicy> failures = {};
};

namespace detail {

// An operator that a call on a stream adds.
struct NewOperator {
  std::string_view name;
  std::shared_ptr<const OperatorFactory> factory;
  const TypeDescriptor* output = nullptr;  // null: a sink
  CapturedValues captured = {};
  bool stateful = false;
  bool is_conversion = false;  // see NodeSpecification
  PlannedFor planned_for = PlannedFor::every_plan;
  PreAggregation pre_aggregation = PreAggregation::none;
};

// Adds it; answers its node. The edges to it are for the caller to add.
[[gnu::cold]] int add_operator(StreamExecutionEnvironment& env, const NewOperator& what);
[[gnu::cold]] int add_source(StreamExecutionEnvironment& env, std::string name,
                             std::shared_ptr<const OperatorFactory> factory, bool bounded,
                             const TypeDescriptor& output, const CapturedValues& captured);
// An operator behind `from`.
[[gnu::cold]] int add_operator(StreamExecutionEnvironment& env, int from,
                               const EdgeSpecification& edge, const NewOperator& what);

// Beside the edge `parts` from a partial operator: that of the records that pass as they are.
[[gnu::cold]] void add_bypass(StreamExecutionEnvironment& env, int partial, int merge,
                              EdgeSpecification parts,
                              std::shared_ptr<const PartitionerFactory> of_records);

// A stream without the type of its records: an output of an operator, and the edge from there to
// the next one. The settings are those of DataStream. Graphs are built once, so nothing of it is
// compiled for speed, nor is what calls it in any case.
class StreamEnd {
 public:
  [[gnu::cold]] StreamEnd(StreamExecutionEnvironment& env, int node, int port = 0);
  [[gnu::cold]] StreamEnd(const StreamEnd&);
  [[gnu::cold]] StreamEnd(StreamEnd&&) noexcept;
  [[gnu::cold]] StreamEnd& operator=(const StreamEnd&);
  [[gnu::cold]] StreamEnd& operator=(StreamEnd&&) noexcept;
  [[gnu::cold]] ~StreamEnd();

  StreamExecutionEnvironment& environment() const { return *env_; }
  int node() const { return node_; }
  const EdgeSpecification& edge() const { return edge_; }

  [[gnu::cold]] StreamEnd add(const NewOperator& what) const;
  [[gnu::cold]] StreamEnd union_with(const TypeDescriptor& type,
                                     const std::vector<StreamEnd>& others) const;
  // `append`: see format_text.hpp; `blocks`: of text, which need no formatting ahead of the sink;
  // `head`: what each file begins with.
  [[gnu::cold]] void print(AppendLines append) const;
  [[gnu::cold]] StreamEnd write_file(const std::string& path, AppendLines append, bool blocks,
                                     const std::string& head) const;

  [[gnu::cold]] StreamEnd with_routing(EdgeRouting routing) const;
  [[gnu::cold]] StreamEnd with_network(NetworkSettings settings) const;
  [[gnu::cold]] StreamEnd with_partitioner(std::shared_ptr<const PartitionerFactory> partitioner,
                                           const CapturedValues& captured) const;
  [[gnu::cold]] StreamEnd name(const std::string& name) const;
  [[gnu::cold]] StreamEnd uid(const std::string& uid) const;
  [[gnu::cold]] StreamEnd parallelism(int parallelism) const;
  [[gnu::cold]] StreamEnd min_parallelism(int parallelism) const;
  [[gnu::cold]] StreamEnd max_parallelism(int parallelism) const;
  [[gnu::cold]] StreamEnd resource_group(const std::string& group) const;
  [[gnu::cold]] StreamEnd disable_chaining() const;
  [[gnu::cold]] StreamEnd start_new_chain() const;
  [[gnu::cold]] StreamEnd on_failure(const FailurePolicy& policy) const;

  // `side_node`: whose ports they are, where not those of this node.
  [[gnu::cold]] StreamEnd with_side_outputs(SideOutputPorts sides,
                                            std::optional<int> side_node = {}) const;
  [[gnu::cold]] StreamEnd side_output(std::string_view name, const TypeDescriptor& type) const;

 private:
  StreamEnd set(const NodeSettings& settings) const;

  StreamExecutionEnvironment* env_;
  int node_;
  EdgeSpecification edge_;
  SideOutputPorts sides_;
  std::optional<int> side_node_;
};

}  // namespace detail

}  // namespace hummer
