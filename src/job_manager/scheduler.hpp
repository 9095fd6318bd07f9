// Scheduler: which free slots a job gets.
//
// Slots are dealt in turn over the TaskManagers that have free ones (the first free slot of each,
// then the second of each, …), in the order of registration; the job's exact placement on them
// is place_on_cluster() on the list made here, as the TaskManagers will compute it too.
//
// Order among jobs is the caller's (job_table.hpp). Pure; thread: any.
#pragma once

#include "job_manager/worker_table.hpp"
#include "protocol/placement.hpp"

namespace hummer {

// The fewest slots that the job can run in. Errors: those of resolve_parallelism, so also an answer
// to whether the job can ever be placed; invalid_configuration when its own total forbids it.
Result<int> least_slots(const JobGraph& graph, const wire::JobOptions& options);

struct Placement {
  struct Part {
    std::uint64_t session = 0;
    std::vector<std::uint32_t> slots;  // also extra ones
  };
  std::vector<Part> parts;  // parallel to `workers`
  PlacedWorkers workers;
  struct Region {
    std::vector<std::uint32_t> workers;       // indexes of those that have tasks of it, ascending
    std::vector<std::uint32_t> tasks;         // its chains: their numbers in the execution graph
    std::vector<std::uint32_t> task_workers;  // of each of them
    RegionLinks links;
  };
  std::vector<Region> regions;   // graph/regions.hpp
  std::vector<int> parallelism;  // by vertex
  std::uint32_t slots = 0;       // own ones, in all
  std::uint64_t execution_hash = 0;
};

// not_enough_slots: may fit later. Any other failure is the job's.
Result<Placement> place_job(const JobGraph& graph, const wire::JobOptions& options,
                            std::uint64_t library_hash, const WorkerTable& workers);

// The same placement with fewer subtasks of some vertices: its regions' tasks, parallelism and
// execution hash. `narrowed`: see PlacementOptions.
Result<Placement> narrow(const JobGraph& graph, const wire::JobOptions& options,
                         const PlacedWorkers& workers, std::vector<int> narrowed);

// Other TaskManagers in the place of some that are gone: each with as many free slots as its
// predecessor had given, the one that is called as it was if it is there again. All other tasks
// stay where they are. not_enough_slots: there is none for one of them. `parts`, `placed`: of the
// placement so far; left as they are by a failure. Returns the new execution hash.
Result<std::uint64_t> replace_workers(const JobGraph& graph, const wire::JobOptions& options,
                                      std::uint64_t library_hash, const WorkerTable& workers,
                                      const std::vector<std::size_t>& gone,
                                      const std::vector<int>& narrowed,
                                      std::vector<Placement::Part>& parts, PlacedWorkers& placed);

}  // namespace hummer
