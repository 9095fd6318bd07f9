#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "graph/explain_forms.hpp"
#include "graph/regions.hpp"

namespace hummer {
namespace {

void write_network(JsonWriter& json, const NetworkSettings& network) {
  json.begin_object("network");
  json.field("transport", to_string(network.transport));
  json.field("interface_or_address", network.interface_or_address);
  json.field("sender_slots", network.sender_slots);
  json.field("receiver_slots", network.receiver_slots);
  json.field("buffer_size_bytes", static_cast<std::int64_t>(network.buffer_size_bytes));
  json.field("credits", network.credits);
  if (network.exchange == ExchangeMode::blocking) json.field("exchange", "blocking");
  json.end_object();
}

void write_fusion(JsonWriter& json, const FusionDecision& decision) {
  json.field("fusion", to_string(decision.verdict));
  json.field("reason", decision.reason);
}

void write_stream_graph(JsonWriter& json, const StreamGraph& stream, const JobGraph& job) {
  json.begin_object("stream_graph");
  json.begin_array("nodes");
  for (const StreamNode& node : stream.nodes) {
    json.begin_object();
    json.field("id", node.id);
    json.field("name", node.name);
    json.field("uid", node.uid);
    json.field("kind", to_string(node.kind));
    json.field("parallelism", node.parallelism);
    json.field("min_parallelism", node.min_parallelism);
    json.field("max_parallelism", node.max_parallelism);
    json.field("resource_group", node.resource_group);
    json.field("chain_with_upstream", node.chain_with_upstream);
    json.field("chain_with_downstream", node.chain_with_downstream);
    json.field("bounded", node.bounded);
    json.field("replayable", node.replayable);
    json.field("output_type", node.output_type);
    json.field("stateful", node.stateful);
    json.field("key_groups", node.key_groups);
    if (!node.strategy.empty()) json.field("pre_aggregation", node.strategy);
    json.end_object();
  }
  json.end_array();
  json.begin_array("edges");
  for (std::size_t i = 0; i < stream.edges.size(); ++i) {
    const StreamEdge& edge = stream.edges[i];
    json.begin_object();
    json.field("from", edge.from);
    json.field("to", edge.to);
    json.field("from_port", edge.from_port);
    json.field("routing", to_string(edge.routing));
    write_network(json, edge.network);
    write_fusion(json, job.decisions[i]);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void write_job_graph(JsonWriter& json, const JobGraph& job,
                     const std::vector<std::uint64_t>& bytes_per_subtask) {
  json.begin_object("job_graph");
  json.field("fingerprint", fmt::format("{:016x}", job.fingerprint));
  json.begin_array("vertices");
  const std::vector<int> regions = regions_of(job);
  for (const JobVertex& vertex : job.vertices) {
    json.begin_object();
    json.field("id", vertex.id);
    json.field("name", vertex.name);
    json.field("uid", vertex.uid);
    json.field("parallelism", vertex.parallelism);
    json.field("min_parallelism", vertex.range.min);
    json.field("max_parallelism", vertex.range.max);
    json.field("resource_group", vertex.resource_group);
    json.field("bounded", vertex.bounded);
    if (has_blocking_edges(job)) {
      json.field("region", regions[static_cast<std::size_t>(vertex.id)]);
    }
    const std::uint64_t bytes = bytes_per_subtask[static_cast<std::size_t>(vertex.id)];
    if (bytes > 0) json.field("bytes_per_subtask", bytes);
    json.begin_array("chain");
    for (const ChainedOperator& op : vertex.chain) {
      json.begin_object();
      json.field("node", op.node);
      json.field("name", op.name);
      json.field("uid", op.uid);
      json.field("kind", to_string(op.kind));
      json.field("output_type", op.output_type);
      json.field("stateful", op.stateful);
      json.field("key_groups", op.key_groups);
      json.end_object();
    }
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.begin_array("edges");
  for (const JobEdge& edge : job.edges) {
    json.begin_object();
    json.field("id", edge.id);
    json.field("from", edge.from);
    json.field("to", edge.to);
    json.field("from_port", edge.from_port);
    json.field("to_input", edge.to_input);
    json.field("routing", to_string(edge.routing));
    json.field("key_groups", edge.key_groups);
    write_network(json, edge.network);
    write_fusion(json, edge.decision);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void write_slots(JsonWriter& json, std::string_view name, const std::vector<int>& slots) {
  json.begin_array(name);
  for (const int slot : slots) json.element(slot);
  json.end_array();
}

void write_execution_graph(JsonWriter& json, const ExecutionGraph& execution) {
  json.begin_object("execution_graph");
  json.field("slot_sharing", to_string(execution.sharing));
  write_slots(json, "parallelism", execution.parallelism);
  json.begin_array("task_managers");
  for (const PlacedTaskManager& manager : execution.task_managers) {
    json.begin_object();
    json.field("id", manager.id);
    json.field("host", manager.host);
    json.field("slots", manager.slots);
    write_slots(json, "used_slots", manager.used_slots);
    write_slots(json, "extra_slots", manager.extra_slots);
    json.end_object();
  }
  json.end_array();
  json.begin_array("tasks");
  for (const ExecutionTask& task : execution.tasks) {
    json.begin_object();
    json.field("id", task.id);
    json.field("kind", to_string(task.kind));
    json.field("vertex", task.vertex);
    json.field("subtask", task.subtask);
    json.field("parallelism", task.parallelism);
    json.field("task_manager", execution.task_managers[task.task_manager].id);
    json.field("slot", task.slot);
    if (task.kind != TaskKind::chain) {
      json.field("edge", task.edge);
      json.field("peer", task.peer);
    }
    json.end_object();
  }
  json.end_array();
  // The settings of a channel are those of its edge.
  json.begin_array("channels");
  for (const ExecutionChannel& channel : execution.channels) {
    json.begin_object();
    json.field("id", channel.id);
    json.field("from_task", channel.from_task);
    json.field("to_task", channel.to_task);
    json.field("edge", channel.edge);
    json.field("upstream_subtask", channel.upstream_subtask);
    json.field("downstream_subtask", channel.downstream_subtask);
    json.field("form", to_string(channel.form));
    json.field("transport", to_string(channel.transport));
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

}  // namespace

std::string explain_as_json(const ExplainedJob& explained) {
  JsonWriter json;
  json.begin_object();
  json.field("job_name", explained.job.job_name);
  write_stream_graph(json, explained.stream, explained.job);
  write_job_graph(json, explained.job, explained.bytes_per_subtask);
  write_execution_graph(json, explained.execution);
  json.end_object();
  return std::move(json).finish();
}

}  // namespace hummer
