// Nodes and edges of the stream graph as the API writes them; see graph/stream_graph.hpp.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <hummer/detail/captured_values.hpp>
#include <hummer/detail/partitioner.hpp>
#include <hummer/detail/plan.hpp>
#include <hummer/failure_policy.hpp>
#include <hummer/network_settings.hpp>

namespace hummer {

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
  std::string output_type = {};
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

}  // namespace hummer
