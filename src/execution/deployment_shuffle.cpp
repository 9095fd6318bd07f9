// Deployment: the ends of blocking edges (src/shuffle/).
#include <algorithm>
#include <utility>

#include "execution/deployment.hpp"
#include "shuffle/shuffle_emitter.hpp"
#include "shuffle/shuffle_reader.hpp"

namespace hummer {

Status Deployment::check_shuffle() const {
  const bool needed = std::any_of(job_graph_.edges.begin(), job_graph_.edges.end(),
                                  [](const JobEdge& edge) { return edge.is_blocking(); });
  if (!needed || options_.shuffle.store != nullptr) return {};
  return {ErrorCode::internal, "a job with blocking edges was deployed without a store of files"};
}

// Of the file of one subtask ahead.
std::uint32_t Deployment::shuffle_partitions(const JobEdge& edge) const {
  if (edge.routing == Routing::forward || edge.routing == Routing::broadcast) return 1;
  // As many as there would be readers if none were spared.
  return static_cast<std::uint32_t>(execution_graph_.planned[static_cast<std::size_t>(edge.to)]);
}

std::unique_ptr<Emitter> Deployment::make_shuffle_emitter(const ExecutionTask& execution,
                                                          const JobEdge& edge,
                                                          const TypeDescriptor& type) {
  const ShuffleOptions& shuffle = options_.shuffle;
  ShuffleOutput output;
  output.store = shuffle.store;
  output.key.job = options_.channel_job.value_or(job_graph_.fingerprint);
  output.key.attempt = options_.channel_attempt;
  output.key.region =
      static_cast<std::uint32_t>(shuffle.region_of_vertex.at(static_cast<std::size_t>(edge.from)));
  output.key.edge = static_cast<std::uint32_t>(edge.id);
  output.key.subtask = static_cast<std::uint32_t>(execution.subtask);
  output.partitions = shuffle_partitions(edge);
  output.batch_records = options_.batch_records;
  output.target = job_graph_.vertices[static_cast<std::size_t>(edge.to)].name;
  if (edge.routing == Routing::hash && output.partitions > 1) {
    output.partitioner =
        partitioner_of(edge).make(output.partitions, static_cast<std::uint32_t>(edge.key_groups));
  }
  return std::make_unique<ShuffleEmitter>(std::move(output), type);
}

std::unique_ptr<Operator> Deployment::make_shuffle_reader(const ExecutionTask& execution) {
  const ShuffleOptions& shuffle = options_.shuffle;
  const JobEdge& edge = job_graph_.edges[static_cast<std::size_t>(execution.edge)];
  const std::string& vertex = job_graph_.vertices[static_cast<std::size_t>(edge.from)].name;
  const int region = shuffle.region_of_vertex.at(static_cast<std::size_t>(edge.from));
  const int own = execution.subtask;
  const int subtasks = execution_graph_.parallelism[static_cast<std::size_t>(edge.from)];

  std::vector<ShuffleInput> inputs;
  std::vector<ShuffleSource> sources;  // parallel to them
  const auto add = [&](int subtask, std::uint32_t partition) {
    const int holder =
        execution_graph_
            .tasks[static_cast<std::size_t>(execution_graph_.chain_task(edge.from, subtask))]
            .task_manager;
    const auto found = std::find_if(
        shuffle.sources.begin(), shuffle.sources.end(), [&](const ShuffleSource& source) {
          return source.region == region && source.task_manager == holder;
        });
    ShuffleInput& input = inputs.emplace_back();
    // One that nobody has named is missed when it is asked for.
    sources.push_back(found != shuffle.sources.end() ? *found : ShuffleSource{region, holder, 0});
    input.key.job = options_.channel_job.value_or(job_graph_.fingerprint);
    input.key.attempt = sources.back().attempt;
    input.key.region = static_cast<std::uint32_t>(region);
    input.key.edge = static_cast<std::uint32_t>(edge.id);
    input.key.subtask = static_cast<std::uint32_t>(subtask);
    input.partition = partition;
    input.from = vertex + "[" + std::to_string(subtask) + "]";
    input.is_local = is_alone() || holder == options_.task_manager;
    if (input.is_local) return;
    input.route = shuffle_routes_.at({edge.id, holder});
    input.from += " at " + options_.peers.at(static_cast<std::size_t>(holder)).name + " (" +
                  input.route.address + ")";
  };
  const std::uint32_t partitions = shuffle_partitions(edge);
  const auto each = std::max(partitions / static_cast<std::uint32_t>(execution.parallelism), 1u);
  const std::uint32_t first = partitions == 1 ? 0 : static_cast<std::uint32_t>(own) * each;
  for (int i = 0; i < (edge.routing == Routing::forward ? 1 : subtasks); ++i) {
    for (std::uint32_t p = 0; p < each; ++p) add((own + i) % subtasks, first + p);
  }

  ShuffleAccess access;
  access.platform = &platform_;
  access.store = shuffle.store;
  if (options_.data_plane != nullptr) {
    access.token = options_.data_plane->options().token;
    access.tls = options_.data_plane->options().tls;
  }
  auto on_lost = [&shuffle, sources, inputs](const ShuffleKey& key) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].key != key || !shuffle.on_lost) continue;
      shuffle.on_lost(sources[i]);
      break;
    }
  };
  return std::make_unique<ShuffleReader>(std::move(access), std::move(inputs), edge_type(edge.id),
                                         std::move(on_lost));
}

// How the data planes of all who may hold files are reached; before anything is made, as routes of
// channels are.
Status Deployment::choose_shuffle_routes() {
  if (is_alone()) return {};
  const auto own = static_cast<std::size_t>(options_.task_manager);
  for (const ExecutionTask& task : execution_graph_.tasks) {
    if (task.kind != TaskKind::receiver || !is_here(task)) continue;
    const JobEdge& edge = job_graph_.edges[static_cast<std::size_t>(task.edge)];
    if (!edge.is_blocking()) continue;
    for (std::size_t holder = 0; holder < options_.peers.size(); ++holder) {
      const std::pair<int, int> key(edge.id, static_cast<int>(holder));
      if (holder == own || shuffle_routes_.contains(key)) continue;
      Result<DataRoute> route =
          choose_route(edge.network.interface_or_address, options_.peers[own].addresses,
                       options_.peers[holder].addresses, options_.peers[holder].name);
      if (!route.ok()) {
        return route.status().with_context(
            "edge " + job_graph_.vertices[static_cast<std::size_t>(edge.from)].name + " → " +
            job_graph_.vertices[static_cast<std::size_t>(edge.to)].name);
      }
      shuffle_routes_[key] = std::move(*route);
    }
  }
  return {};
}

// What a task may hold of what it has encoded and not yet written, and what one reads ahead.
std::size_t Deployment::shuffle_buffer_bytes(const ExecutionTask& execution) const {
  std::size_t bytes = 0;
  for (const JobEdge& edge : job_graph_.edges) {
    if (!edge.is_blocking()) continue;
    if (execution.kind == TaskKind::chain && edge.from == execution.vertex) {
      const std::size_t partitions = shuffle_partitions(edge);
      bytes += partitions * chunk_bytes_for(partitions);
    } else if (execution.kind == TaskKind::receiver && edge.id == execution.edge) {
      bytes += shuffle_ahead_bytes;
    }
  }
  return bytes;
}

}  // namespace hummer
