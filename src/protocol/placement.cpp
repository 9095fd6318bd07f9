#include "protocol/placement.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace hummer {
namespace {

Result<Cluster> cluster_of(const PlacedWorkers& workers) {
  Cluster cluster;
  cluster.task_managers.reserve(static_cast<std::size_t>(workers.size()));
  for (const wire::PlacedWorker& worker : workers) {
    if (worker.slots() > static_cast<unsigned>(max_slots_per_task_manager)) {
      return Status(ErrorCode::protocol_error,
                    fmt::format("a placement gives TaskManager '{}' {} slots; the most is {}",
                                worker.id(), worker.slots(), max_slots_per_task_manager));
    }
    TaskManagerSlots slots;
    slots.id = worker.id();
    slots.host = worker.host();
    slots.slots = static_cast<int>(worker.slots());
    slots.occupied.reserve(static_cast<std::size_t>(worker.occupied_size()));
    for (const std::uint32_t slot : worker.occupied()) {
      if (slot > (1u << 30)) {
        return Status(
            ErrorCode::protocol_error,
            fmt::format("a placement names slot {} of TaskManager '{}'", slot, worker.id()));
      }
      slots.occupied.push_back(static_cast<int>(slot));
    }
    cluster.task_managers.push_back(std::move(slots));
  }
  return cluster;
}

}  // namespace

PlacementOptions placement_options(const wire::JobOptions& options) {
  PlacementOptions placement;
  if (options.parallelism() != 0) {
    placement.default_parallelism = static_cast<int>(options.parallelism());
  }
  if (options.total_slots() != 0) {
    placement.total_slots = static_cast<int>(options.total_slots());
  }
  return placement;
}

RegionOptions region_options(const wire::JobOptions& options) {
  return {.thread_per_slot = options.pin_slots() || options.spin_us() < 0};
}

Status check_connected_pairs(const JobGraph& graph, const std::vector<int>& parallelism) {
  HUMMER_ASSERT(parallelism.size() == graph.vertices.size());
  std::int64_t pairs = 0;
  for (const JobEdge& edge : graph.edges) {
    const std::int64_t from = parallelism[static_cast<std::size_t>(edge.from)];
    const std::int64_t to = parallelism[static_cast<std::size_t>(edge.to)];
    pairs += edge.routing == Routing::forward ? from : from * to;
  }
  if (pairs <= max_connected_pairs) return {};
  return {ErrorCode::limit_exceeded,
          fmt::format("the job's edges connect {} pairs of subtasks; the most is {}; lower the "
                      "parallelism",
                      pairs, max_connected_pairs)};
}

Result<ExecutionGraph> place_on_cluster(const JobGraph& graph, const PlacedWorkers& workers,
                                        const wire::JobOptions& options,
                                        std::vector<int> narrowed) {
  Result<Cluster> cluster = cluster_of(workers);
  if (!cluster.ok()) return cluster.status();
  PlacementOptions placement = placement_options(options);
  placement.narrowed = std::move(narrowed);
  int free_slots = 0;
  for (const TaskManagerSlots& manager : cluster->task_managers) {
    int own = manager.slots;
    for (const int slot : manager.occupied) own -= slot < manager.slots ? 1 : 0;
    free_slots += std::max(own, 0);
  }
  ParallelismOptions resolving;
  resolving.free_slots = free_slots;
  resolving.default_parallelism = placement.default_parallelism;
  resolving.total_slots = placement.total_slots;
  const Result<std::vector<int>> parallelism = resolve_parallelism(graph, resolving);
  if (!parallelism.ok()) return parallelism.status();
  HUMMER_TRY(check_connected_pairs(graph, *parallelism));
  return place(graph, *cluster, placement);
}

std::vector<int> narrowed_from(const wire::Deployment& deployment) {
  std::vector<int> narrowed;
  for (const std::uint32_t parallelism : deployment.narrowed()) {
    narrowed.push_back(static_cast<int>(std::min(parallelism, 1u << 30)));
  }
  return narrowed;
}

}  // namespace hummer
