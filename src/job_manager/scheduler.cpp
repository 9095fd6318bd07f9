#include "job_manager/scheduler.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "graph/fingerprint.hpp"

namespace hummer {
namespace {

ParallelismOptions resolving(const wire::JobOptions& options, std::int64_t free_slots) {
  const PlacementOptions placement = placement_options(options);
  ParallelismOptions result;
  result.free_slots = static_cast<int>(std::min<std::int64_t>(free_slots, 1 << 30));
  result.default_parallelism = placement.default_parallelism;
  result.total_slots = placement.total_slots;
  return result;
}

struct Chosen {
  const Worker* worker;
  std::uint32_t next_slot = 0;  // to look at
  std::vector<std::uint32_t> slots;
};

// The next free slot of it, if any.
bool take_slot(Chosen& chosen) {
  const std::vector<std::uint64_t>& slots = chosen.worker->slots;
  while (chosen.next_slot < slots.size() && slots[chosen.next_slot] != 0) ++chosen.next_slot;
  if (chosen.next_slot == slots.size()) return false;
  chosen.slots.push_back(chosen.next_slot++);
  return true;
}

std::vector<Chosen> choose(const WorkerTable& workers, std::uint64_t library_hash, int needed) {
  std::vector<Chosen> chosen;
  for (const auto& [session, worker] : workers.live()) {
    if (static_cast<int>(chosen.size()) == needed) break;
    if (worker->free_slots == 0 || !usable_by(*worker, library_hash)) continue;
    chosen.push_back({worker.get(), 0, {}});
  }
  for (bool dealt = true; dealt && needed > 0;) {
    dealt = false;
    for (Chosen& each : chosen) {
      if (needed == 0) break;
      if (!take_slot(each)) continue;
      dealt = true;
      --needed;
    }
  }
  return chosen;
}

void describe(const Chosen& chosen, wire::PlacedWorker& out) {
  const Worker& worker = *chosen.worker;
  out.set_id(worker.id());
  out.set_host(worker.registration.host());
  out.set_slots(worker.registration.slots());
  std::size_t own = 0;
  for (std::uint32_t slot = 0; slot < worker.slots.size(); ++slot) {
    if (own < chosen.slots.size() && chosen.slots[own] == slot) {
      ++own;
    } else {
      out.add_occupied(slot);
    }
  }
  for (const auto& [slot, job] : worker.extra_slots) out.add_occupied(slot);
  for (const wire::DataAddress& address : worker.registration.data_addresses()) {
    *out.add_data_addresses() = address;
  }
}

std::vector<std::uint32_t> slots_on(const PlacedTaskManager& manager) {
  std::vector<std::uint32_t> slots(manager.used_slots.begin(), manager.used_slots.end());
  slots.insert(slots.end(), manager.extra_slots.begin(), manager.extra_slots.end());
  return slots;
}

std::vector<Placement::Region> find_regions(const JobGraph& graph, const wire::JobOptions& options,
                                            const ExecutionGraph& placed) {
  const std::vector<int> of_vertex = regions_of(graph, region_options(options));
  std::vector<std::set<std::uint32_t>> workers(static_cast<std::size_t>(region_count(of_vertex)));
  std::vector<Placement::Region> regions(workers.size());
  std::vector<bool> used(placed.task_managers.size());
  for (const ExecutionTask& task : placed.tasks) {
    const auto region = static_cast<std::size_t>(of_vertex[static_cast<std::size_t>(task.vertex)]);
    workers[region].insert(static_cast<std::uint32_t>(task.task_manager));
    used[static_cast<std::size_t>(task.task_manager)] = true;
    if (task.kind != TaskKind::chain) continue;
    regions[region].tasks.push_back(static_cast<std::uint32_t>(task.id));
    regions[region].task_workers.push_back(static_cast<std::uint32_t>(task.task_manager));
  }
  for (std::uint32_t i = 0; i < used.size(); ++i) {
    if (!used[i]) workers.front().insert(i);  // it has a part all the same, without tasks
  }
  std::vector<RegionLinks> links = region_links(graph, of_vertex);
  for (std::size_t i = 0; i < regions.size(); ++i) {
    regions[i].workers.assign(workers[i].begin(), workers[i].end());
    regions[i].links = std::move(links[i]);
  }
  return regions;
}

// Who can give as many slots as the one at `index` did, with a name that no other one of the job
// has.
const Worker* successor(const WorkerTable& workers, std::uint64_t library_hash,
                        const PlacedWorkers& placed, std::size_t index, std::size_t own_slots) {
  const Worker* found = nullptr;
  for (const auto& entry : workers.live()) {
    const Worker& worker = *entry.second;
    if (worker.free_slots < own_slots || !usable_by(worker, library_hash)) continue;
    if (worker.id() == placed[static_cast<int>(index)].id()) return &worker;
    const bool taken = std::any_of(placed.begin(), placed.end(),
                                   [&](const auto& other) { return other.id() == worker.id(); });
    if (found == nullptr && !taken) found = &worker;
  }
  return found;
}

}  // namespace

Result<int> least_slots(const JobGraph& graph, const wire::JobOptions& options) {
  ParallelismOptions least = resolving(options, 1);
  least.allow_oversubscription = true;  // then nothing is said about how many there are
  const Result<std::vector<int>> parallelism = resolve_parallelism(graph, least);
  if (!parallelism.ok()) return parallelism.status();
  HUMMER_TRY(check_connected_pairs(graph, *parallelism));
  const int needed = slots_needed(graph, *parallelism, least.sharing);
  if (options.total_slots() != 0 && needed > static_cast<int>(options.total_slots())) {
    return Status(ErrorCode::invalid_configuration,
                  fmt::format("the job needs {} slots but its total is set to {}; raise the total "
                              "or lower the parallelism",
                              needed, options.total_slots()));
  }
  return needed;
}

Result<Placement> place_job(const JobGraph& graph, const wire::JobOptions& options,
                            std::uint64_t library_hash, const WorkerTable& workers) {
  const ParallelismOptions how = resolving(options, workers.slots(library_hash).free);
  const Result<std::vector<int>> parallelism = resolve_parallelism(graph, how);
  if (!parallelism.ok()) return parallelism.status();
  HUMMER_TRY(check_connected_pairs(graph, *parallelism));
  const int needed = slots_needed(graph, *parallelism, how.sharing);

  Placement placement;
  for (const Chosen& chosen : choose(workers, library_hash, needed)) {
    describe(chosen, *placement.workers.Add());
    placement.parts.push_back({chosen.worker->session, {}});
  }
  const Result<ExecutionGraph> placed = place_on_cluster(graph, placement.workers, options);
  if (!placed.ok()) return placed.status();
  HUMMER_ASSERT(placed->task_managers.size() == placement.parts.size());
  for (std::size_t i = 0; i < placement.parts.size(); ++i) {
    placement.parts[i].slots = slots_on(placed->task_managers[i]);
    placement.slots += static_cast<std::uint32_t>(placed->task_managers[i].used_slots.size());
  }
  placement.regions = find_regions(graph, options, *placed);
  placement.parallelism = placed->parallelism;
  placement.execution_hash = execution_hash(*placed);
  return placement;
}

Result<Placement> narrow(const JobGraph& graph, const wire::JobOptions& options,
                         const PlacedWorkers& workers, std::vector<int> narrowed) {
  const Result<ExecutionGraph> placed =
      place_on_cluster(graph, workers, options, std::move(narrowed));
  if (!placed.ok()) return placed.status();
  Placement placement;
  placement.regions = find_regions(graph, options, *placed);
  placement.parallelism = placed->parallelism;
  placement.execution_hash = execution_hash(*placed);
  return placement;
}

Result<std::uint64_t> replace_workers(const JobGraph& graph, const wire::JobOptions& options,
                                      std::uint64_t library_hash, const WorkerTable& workers,
                                      const std::vector<std::size_t>& gone,
                                      const std::vector<int>& narrowed,
                                      std::vector<Placement::Part>& parts, PlacedWorkers& placed) {
  PlacedWorkers instead = placed;
  std::vector<std::uint64_t> sessions;
  for (const std::size_t index : gone) {
    wire::PlacedWorker& worker = instead[static_cast<int>(index)];
    const std::vector<std::uint32_t>& slots = parts[index].slots;
    const auto own_slots = static_cast<std::size_t>(std::count_if(
        slots.begin(), slots.end(), [&](std::uint32_t slot) { return slot < worker.slots(); }));
    const Worker* const found = successor(workers, library_hash, instead, index, own_slots);
    if (found == nullptr) {
      return Status(ErrorCode::not_enough_slots,
                    fmt::format("no TaskManager has {} free slots, as '{}' had for the job",
                                own_slots, worker.id()));
    }
    Chosen chosen{found, 0, {}};
    for (std::size_t i = 0; i < own_slots; ++i) HUMMER_ASSERT(take_slot(chosen));
    worker.Clear();
    describe(chosen, worker);
    sessions.push_back(found->session);
  }
  const Result<ExecutionGraph> again = place_on_cluster(graph, instead, options, narrowed);
  if (!again.ok()) return again.status();
  // Slots that a narrowed vertex leaves unused stay dealt, or its tasks would move next time.
  const Result<ExecutionGraph> planned = place_on_cluster(graph, instead, options);
  if (!planned.ok()) return planned.status();
  HUMMER_ASSERT(planned->task_managers.size() == parts.size());
  for (std::size_t i = 0; i < gone.size(); ++i) {
    parts[gone[i]] = {sessions[i], slots_on(planned->task_managers[gone[i]])};
  }
  placed = std::move(instead);
  return execution_hash(*again);
}

}  // namespace hummer
