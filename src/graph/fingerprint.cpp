#include "graph/fingerprint.hpp"

#include "graph/execution_graph.hpp"
#include "graph/job_graph.hpp"

namespace hummer {

void StableHash::add_bytes(const unsigned char* bytes, std::size_t count) {
  constexpr std::uint64_t prime = 0x100000001b3;
  for (std::size_t i = 0; i < count; ++i) value_ = (value_ ^ bytes[i]) * prime;
}

StableHash& StableHash::add(std::int64_t number) {
  unsigned char bytes[8];
  for (int i = 0; i < 8; ++i) {
    bytes[i] = static_cast<unsigned char>(static_cast<std::uint64_t>(number) >> (8 * i));
  }
  add_bytes(bytes, sizeof bytes);
  return *this;
}

StableHash& StableHash::add(std::string_view text) {
  add(static_cast<std::int64_t>(text.size()));
  add_bytes(reinterpret_cast<const unsigned char*>(text.data()), text.size());
  return *this;
}

namespace {

void add_operator(StableHash& hash, const ChainedOperator& op) {
  hash.add(op.name).add(op.uid).add(to_string(op.kind)).add(op.output_type);
  hash.add(op.stateful ? 1 : 0).add(op.key_groups);
  if (op.captured_hash != 0) hash.add("captured").add(static_cast<std::int64_t>(op.captured_hash));
}

}  // namespace

std::uint64_t fingerprint(const JobGraph& graph) {
  StableHash hash;
  hash.add("hummer job graph 1");
  hash.add(static_cast<std::int64_t>(graph.vertices.size()));
  for (const JobVertex& vertex : graph.vertices) {
    hash.add(static_cast<std::int64_t>(vertex.chain.size()));
    for (const ChainedOperator& op : vertex.chain) {
      add_operator(hash, op);
    }
  }
  hash.add(static_cast<std::int64_t>(graph.edges.size()));
  for (const JobEdge& edge : graph.edges) {
    hash.add(edge.from).add(edge.to).add(edge.from_port).add(edge.to_input);
    hash.add(to_string(edge.routing)).add(edge.key_groups);
    if (edge.is_blocking()) hash.add("blocking");
  }
  return hash.value();
}

std::uint64_t execution_hash(const ExecutionGraph& graph) {
  StableHash hash;
  hash.add("hummer execution graph 1").add(to_string(graph.sharing));
  hash.add(static_cast<std::int64_t>(graph.parallelism.size()));
  for (const int parallelism : graph.parallelism) hash.add(parallelism);
  if (graph.planned != graph.parallelism) {
    for (const int planned : graph.planned) hash.add(planned);
  }
  hash.add(static_cast<std::int64_t>(graph.task_managers.size()));
  for (const PlacedTaskManager& manager : graph.task_managers) hash.add(manager.id);
  hash.add(static_cast<std::int64_t>(graph.tasks.size()));
  for (const ExecutionTask& task : graph.tasks) {
    hash.add(to_string(task.kind)).add(task.vertex).add(task.subtask).add(task.parallelism);
    hash.add(task.task_manager).add(task.slot).add(task.edge).add(task.peer);
  }
  hash.add(static_cast<std::int64_t>(graph.channels.size()));
  for (const ExecutionChannel& channel : graph.channels) {
    hash.add(channel.from_task).add(channel.to_task).add(channel.edge);
    hash.add(to_string(channel.form)).add(to_string(channel.transport));
    const NetworkSettings& network = channel.network;
    hash.add(network.interface_or_address).add(network.sender_slots).add(network.receiver_slots);
    hash.add(static_cast<std::int64_t>(network.buffer_size_bytes)).add(network.credits);
  }
  return hash.value();
}

std::vector<std::uint64_t> operator_hashes(const JobGraph& graph) {
  std::vector<std::uint64_t> hashes;
  for (const JobVertex& vertex : graph.vertices) {
    for (const ChainedOperator& op : vertex.chain) {
      StableHash hash;
      add_operator(hash, op);
      hashes.push_back(hash.value());
    }
  }
  return hashes;
}

std::string first_difference(const JobGraph& rebuilt, const std::vector<std::uint64_t>& expected) {
  const std::vector<std::uint64_t> hashes = operator_hashes(rebuilt);
  if (hashes.size() != expected.size()) {
    return "it has " + std::to_string(hashes.size()) + " operators instead of " +
           std::to_string(expected.size());
  }
  std::size_t at = 0;
  for (const JobVertex& vertex : rebuilt.vertices) {
    for (const ChainedOperator& op : vertex.chain) {
      if (hashes[at] != expected[at]) {
        return "operator '" + op.name + "' differs" +
               (op.captured_hash != 0 ? " (in what its function captured, or in its name or type)"
                                      : " (in its name or type)");
      }
      ++at;
    }
  }
  return "its edges differ";
}

}  // namespace hummer
