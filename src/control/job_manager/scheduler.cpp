#include "control/job_manager/scheduler.hpp"

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
    const PlacedTaskManager& manager = placed->task_managers[i];
    std::vector<std::uint32_t>& slots = placement.parts[i].slots;
    slots.assign(manager.used_slots.begin(), manager.used_slots.end());
    placement.slots += static_cast<std::uint32_t>(slots.size());
    slots.insert(slots.end(), manager.extra_slots.begin(), manager.extra_slots.end());
  }
  placement.parallelism = placed->parallelism;
  placement.execution_hash = execution_hash(*placed);
  return placement;
}

}  // namespace hummer
