// What strikes a StatefulCluster.
#include <fmt/format.h>

#include <algorithm>

#include "simulation/stateful_cluster_state.hpp"

namespace hummer::cluster_simulation {

std::size_t StatefulCluster::a_task_manager_at_work(std::size_t but) {
  const std::size_t first = random_.below(3);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t one = (first + i) % 3;
    if (one != but && task_managers_[one]->actor()->attempts() > 0) return one;
  }
  return first;
}

// It may be killed again while it starts.
void StatefulCluster::revive(SimulatedProcess& process) {
  const bool again = random_.chance(0.2);
  const std::uint64_t dies_at = again ? 1 + random_.below(48) : 0;
  Status status = process.restart(dies_at);
  if (!process.alive()) status = process.restart();
  if (!status.ok()) {
    violation(process.node().name() + " does not start again: " + status.to_string());
  }
}

void StatefulCluster::die(Strike kind, Nanoseconds duration, std::size_t spared) {
  const bool of_job_manager =
      kind == Strike::job_manager_death || kind == Strike::job_manager_death_at_the_disk;
  const bool at_the_disk = kind == Strike::task_manager_death_at_the_disk ||
                           kind == Strike::job_manager_death_at_the_disk;
  SimulatedProcess* process = client_.get();
  if (of_job_manager) {
    process = job_manager_.get();
  } else if (kind != Strike::client_death) {
    process = task_managers_[a_task_manager_at_work(spared)].get();
  }
  // Short and long distances alike: the logarithm is uniform.
  const std::uint64_t later = random_.below(std::uint64_t{1} << random_.below(12));
  if (at_the_disk) {
    process->node().kill_at_disk_operation(later % 32 + 1);
    const Nanoseconds patience = simulation_.now() + milliseconds(2 * interval_ms_);
    while (process->alive() && goes_on() && simulation_.now() < patience) {
      run_until(std::min(patience, simulation_.now() + milliseconds(50)));
    }
    process->node().kill_at_disk_operation(0);
    if (process->alive()) {
      kind = of_job_manager ? Strike::job_manager_death : Strike::task_manager_death;
      process->node().kill();
    }
    process->killed(random_.chance(0.5));
  } else {
    run_steps(later);
    process->kill(random_.chance(0.5));
  }
  look(CommittedOutput::Look::bytes);
  count(kind);
  run_until(simulation_.now() + duration);
  revive(*process);
}

void StatefulCluster::power_cut(Random& random) {
  simulation_.trace("power cut", 0);
  log("---- power cut");
  const std::vector<SimulatedProcess*> all = {client_.get(), task_managers_[0].get(),
                                              task_managers_[1].get(), task_managers_[2].get(),
                                              job_manager_.get()};
  run_steps(random.below(std::uint64_t{1} << random.below(12)));
  // At an operation of somebody's disk, or anywhere.
  SimulatedProcess* writing = job_manager_.get();
  if (random.chance(0.5)) writing = task_managers_[a_task_manager_at_work()].get();
  if (random.chance(0.7)) {
    writing->node().kill_at_disk_operation(1 + random.below(32));
    const Nanoseconds patience = simulation_.now() + milliseconds(2 * interval_ms_);
    (void)simulation_.run_until([&] { return !writing->alive() || submission_.ended; }, patience);
    writing->node().kill_at_disk_operation(0);
  }
  for (SimulatedProcess* process : all) {
    if (process->alive()) process->node().kill();
  }
  look(CommittedOutput::Look::bytes);
  for (SimulatedProcess* process : all) process->killed(random.chance(0.5));
  store_.crash_disk();
  if (std::string wrong = output_.look_after_power_cut(store_, output); !wrong.empty()) {
    violation(wrong);
  }
  ++report_.totals[fmt::format("fault {}", power_cut_name)];
  (void)simulation_.run_until([] { return false; },
                              simulation_.now() + random.between(milliseconds(10), seconds(3)));
  for (auto process = all.rbegin(); process != all.rend(); ++process) revive(**process);
}

void StatefulCluster::cut_off(Strike kind, Nanoseconds duration) {
  const std::size_t number = a_task_manager_at_work();
  SimulatedPlatform& victim = task_manager(number);
  const Nanoseconds until = simulation_.now() + heartbeat_timeout + duration;
  simulation_.partition(victim, job_manager_->node());
  if (kind == Strike::job_manager_death_behind_a_cut) {
    run_until(simulation_.now() + random_.between(0, seconds(1)));
    run_steps(random_.below(64));
    job_manager_->kill(random_.chance(0.5));
    run_until(simulation_.now() + random_.between(milliseconds(1), milliseconds(500)));
    revive(*job_manager_);
  } else if (random_.chance(0.6)) {
    // The attempt fails while nobody knows what the one that is cut off does.
    run_until(simulation_.now() + random_.between(0, seconds(2)));
    die(Strike::task_manager_death, random_.between(milliseconds(50), seconds(1)), number);
  }
  run_until(until);
  simulation_.heal(victim, job_manager_->node());
  count(kind);
}

std::uint64_t StatefulCluster::effect(Strike kind) {
  const SimulationCounts& counts = simulation_.counts();
  switch (kind) {
    case Strike::connection_deaths: return counts.connection_deaths;
    case Strike::cut_from_job_manager:
    case Strike::cut_from_task_managers:
    case Strike::cut_from_all:
    case Strike::one_way_cut_from_job_manager:
    case Strike::one_way_cut_to_job_manager:
    case Strike::one_way_cut_between_task_managers: return counts.held_by_partition;
    case Strike::corrupted_data:
    case Strike::corrupted_messages: return counts.corrupted_transfers;
    case Strike::message_loss: return messages_[FaultKind::message_loss];
    case Strike::message_repetition: return messages_[FaultKind::message_repetition];
    case Strike::message_delay: return messages_[FaultKind::message_delay];
    case Strike::slow_network: return counts.transfers;
    case Strike::failing_disk: return counts.write_faults;
    case Strike::full_disk: return counts.full_disks;
    case Strike::slow_disk: return counts.disk_operations;
    default: return simulation_.steps();
  }
}

void StatefulCluster::strike(Strike kind, Nanoseconds duration) {
  simulation_.trace("fault", static_cast<std::uint64_t>(kind));
  log(fmt::format("---- {}", strike_names[static_cast<std::size_t>(kind)]));
  if (kind <= Strike::client_death) return die(kind, duration);
  if (kind <= Strike::job_manager_death_behind_a_cut) return cut_off(kind, duration);
  SimulationOptions& options = simulation_.options();
  const SimulationOptions calm = options;
  const std::uint64_t before = effect(kind);
  const std::size_t victim = a_task_manager_at_work();
  std::vector<SimulatedPlatform*> cut;
  switch (kind) {
    case Strike::cut_from_job_manager: cut = {&job_manager_->node()}; break;
    case Strike::cut_from_task_managers: cut = {&task_manager((victim + 1) % 3)}; break;
    case Strike::cut_from_all:
      cut = {&job_manager_->node(), &task_manager((victim + 1) % 3),
             &task_manager((victim + 2) % 3)};
      break;
    case Strike::connection_deaths: options.connection_death_rate = 0.02; break;
    case Strike::message_loss: ++weather_.losing; break;
    case Strike::message_repetition: ++weather_.repeating; break;
    case Strike::message_delay: ++weather_.delaying; break;
    case Strike::slow_network:
      options.latency_minimum_ns = milliseconds(20);
      options.latency_maximum_ns = milliseconds(300);
      options.delay_rate = 0.01;
      break;
    case Strike::task_manager_pause:
      task_manager(victim).pause_until(simulation_.now() + duration);
      break;
    case Strike::failing_disk:
      // Also so rarely that one checkpoint is given up and the next is complete.
      options.write_fault_rate = 0.003 * static_cast<double>(1 + random_.below(16));
      break;
    case Strike::full_disk: options.disk_capacity_bytes = 1; break;
    case Strike::one_way_cut_from_job_manager:
      simulation_.cut(job_manager_->node(), task_manager(victim));
      break;
    case Strike::one_way_cut_to_job_manager:
      simulation_.cut(task_manager(victim), job_manager_->node());
      break;
    case Strike::one_way_cut_between_task_managers:
      simulation_.cut(task_manager(victim), task_manager((victim + 1) % 3));
      break;
    case Strike::task_manager_stall:
      task_manager(victim).pause_until(simulation_.now() + heartbeat_timeout + duration);
      break;
    case Strike::job_manager_stall:
      job_manager_->node().pause_until(simulation_.now() + heartbeat_timeout + duration);
      break;
    case Strike::task_manager_clock_step:
      task_manager(victim).step_wall_clock(draw_clock_step());
      break;
    case Strike::job_manager_clock_step:
      job_manager_->node().step_wall_clock(draw_clock_step());
      break;
    case Strike::corrupted_data:
    case Strike::corrupted_messages:
      corrupt(kind, 0.001 * static_cast<double>(1 + random_.below(32)));
      break;
    default:
      options.disk_operation_minimum_ns = milliseconds(1) / (workload_.crowd > 0 ? 20 : 1);
      options.disk_operation_maximum_ns = milliseconds(50) / (workload_.crowd > 0 ? 100 : 1);
      break;
  }
  for (SimulatedPlatform* other : cut) simulation_.partition(task_manager(victim), *other);
  const bool stalls = kind == Strike::task_manager_stall || kind == Strike::job_manager_stall;
  const Nanoseconds until = simulation_.now() + duration + (stalls ? heartbeat_timeout : 0);
  const bool of_the_disk = kind >= Strike::failing_disk && kind <= Strike::slow_disk;
  // Nobody can start where the disk takes nothing.
  const bool can_start = kind != Strike::failing_disk && kind != Strike::full_disk;
  if (can_start && random_.chance(kind == Strike::slow_disk ? 0.7 : 0.3)) {
    run_until(simulation_.now() + random_.between(0, duration / 2));
    die(draw_death(), random_.between(milliseconds(10), duration / 4 + milliseconds(10)));
  }
  run_until(until);
  for (SimulatedPlatform* other : cut) simulation_.heal(task_manager(victim), *other);
  end_one_way_cuts(kind, victim);
  corrupt(kind, 0);
  weather_ = {};
  options = calm;
  if (effect(kind) > before) count(kind);
  log(fmt::format("---- end of it ({})", effect(kind) - before));
  // What builds on a checkpoint that the disk refused must not be relied on.
  if (of_the_disk && random_.chance(0.8)) {
    run_until(simulation_.now() + random_.between(0, milliseconds(4 * interval_ms_)));
    die(draw_death(), random_.between(milliseconds(50), seconds(1)));
  }
}

// Short and long ones, forwards and back.
std::int64_t StatefulCluster::draw_clock_step() {
  const auto step =
      static_cast<std::int64_t>(1 + random_.below(std::uint64_t{1} << random_.below(15)));
  return random_.chance(0.5) ? step : -step;
}

// On all links between TaskManagers, or all of them to the JobManager.
void StatefulCluster::corrupt(Strike kind, double rate) {
  if (kind != Strike::corrupted_data && kind != Strike::corrupted_messages) return;
  for (std::size_t i = 0; i < 3; ++i) {
    SimulatedPlatform& other =
        kind == Strike::corrupted_data ? task_manager((i + 1) % 3) : job_manager_->node();
    simulation_.corrupt(task_manager(i), other, rate);
  }
}

void StatefulCluster::end_one_way_cuts(Strike kind, std::size_t victim) {
  if (kind < Strike::one_way_cut_from_job_manager ||
      kind > Strike::one_way_cut_between_task_managers) {
    return;
  }
  const bool of_task_managers = kind == Strike::one_way_cut_between_task_managers;
  simulation_.heal(task_manager(victim),
                   of_task_managers ? task_manager((victim + 1) % 3) : job_manager_->node());
}

}  // namespace hummer::cluster_simulation
