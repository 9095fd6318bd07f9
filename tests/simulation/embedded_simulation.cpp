#include "simulation/embedded_simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include <hummer/hummer.hpp>

#include "simulation/committed_output.hpp"
#include "simulation/completed_checkpoints.hpp"
#include "simulation/process_faults.hpp"
#include "simulation/stateful_job.hpp"

namespace hummer::cluster_simulation {
namespace {

constexpr std::int64_t embedded_lasts_s = 67;
constexpr Nanoseconds faults_from = seconds(9);
// Also while the job ends.
constexpr Nanoseconds faults_until = seconds(70);
// Every job must have ended by then. Nearly all have a minute after the last fault; one in
// thousands is slow without a fault, where a drawn batch is of 7 records and each step of the clock
// is long.
constexpr Nanoseconds embedded_at_most = seconds(300);
constexpr Nanoseconds look_at_job_every = milliseconds(200);
constexpr const char* checkpoint_directory = "/checkpoints";
constexpr const char* output_directory = "/out";

// Which checkpoints a run takes, and at which parallelism.
struct Way {
  bool unaligned = false;
  int parallelism = 0;  // 0: another one at each start
  std::uint32_t retained = 1;
};
Way draw_way(Random& random) {
  Way way;
  way.unaligned = random.chance(0.5);
  if (way.unaligned && random.chance(0.5)) way.parallelism = static_cast<int>(1 + random.below(3));
  way.retained = static_cast<std::uint32_t>(1 + random.below(2));
  return way;
}

Workload workload_for(const Way& way, Random& random, std::int64_t begins_ms) {
  Workload workload = draw_workload(random, begins_ms, embedded_lasts_s);
  // Records that were in flight within a chain keep their order only at the same parallelism.
  if (way.unaligned && way.parallelism == 0) {
    workload.shuts_accounts = 0;
    workload.order_kept = false;
  }
  return workload;
}

// A process: a node's environment and the job in it.
struct Process {
  std::unique_ptr<StreamExecutionEnvironment> environment;
  std::optional<JobHandle> job;
};

class EmbeddedSimulation {
 public:
  explicit EmbeddedSimulation(RunOptions options)
      : options_(options),
        simulation_({.seed = options.seed}),
        random_(mix_bits(options.seed ^ 0xe3bedded)),
        node_(&simulation_.add_node("process")),
        way_(draw_way(random_)),
        workload_(workload_for(way_, random_, simulation_.options().start_wall_time_ms)),
        faults_(draw_process_faults(random_, faults_from, faults_until)),
        interval_ms_(random_.between(400, 2500)) {
    report_.seed = options.seed;
    for (std::size_t i = 0; i < process_fault_kinds; ++i) {
      count(static_cast<ProcessFaultKind>(i), 0);
    }
  }

  SeedReport run() {
    // The longer it takes, the more comes in between.
    if (random_.chance(0.4)) {
      simulation_.options().disk_operation_maximum_ns =
          random_.between(milliseconds(1), milliseconds(10));
    }
    start();
    for (const ProcessFault& fault : faults_) {
      run_until(fault.begin);
      if (ended_) break;
      strike(fault);
    }
    run_until(embedded_at_most);
    if (!ended_) violation("the job never ended");
    check_end();
    if (node_->alive()) node_->kill();
    process_ = {};
    report_.virtual_ns = simulation_.now();
    report_.steps = simulation_.steps();
    report_.trace_hash = simulation_.trace_hash();
    report_.totals["restores"] = restores_;
    report_.totals["checkpoints"] = completed_.count();
    report_.totals["checkpoints with deltas"] = completed_.with_deltas();
    report_.totals["checkpoints with records in flight"] = completed_.with_records_in_flight();
    report_.totals["seeds with unaligned checkpoints"] = way_.unaligned ? 1 : 0;
    report_.totals["records checked"] = output_.records_checked();
    report_.least["fewest checkpoints"] = completed_.count();
    report_.least["fewest restores after a kill"] = restores_;
    report_.least["fewest records checked"] = output_.records_checked();
    return report_;
  }

 private:
  void start();
  void run_until(Nanoseconds time);
  void run_steps(std::uint64_t steps);
  void look(CommittedOutput::Look how = CommittedOutput::Look::bytes);
  void job_ended();
  void strike(const ProcessFault& fault);
  void die(const ProcessFault& fault);
  void check_end();
  // Nothing runs meanwhile.
  void let_pass(Nanoseconds time) { simulation_.charge(time, time); }
  std::uint64_t disk_troubles() const {
    return simulation_.counts().write_faults + simulation_.counts().full_disks;
  }
  void count(ProcessFaultKind kind, std::uint64_t times) {
    report_.totals[fmt::format("fault {}", to_string(kind))] += times;
  }
  void violation(std::string text) {
    log("VIOLATION " + text);
    report_.violations.push_back(std::move(text));
  }
  void log(const std::string& text) const {
    if (!options_.verbose) return;
    fmt::print(stderr, "{:11.6f} {}\n", static_cast<double>(simulation_.now()) / 1e9, text);
  }

  const RunOptions options_;
  Simulation simulation_;
  Random random_;
  SimulatedPlatform* node_;
  const Way way_;
  const Workload workload_;
  const std::vector<ProcessFault> faults_;
  const std::int64_t interval_ms_;
  Process process_;
  std::uint64_t troubles_at_start_ = 0;
  bool ended_ = false;
  Nanoseconds next_look_ = 0;
  CommittedOutput output_;
  CompletedCheckpoints completed_;
  std::uint64_t restores_ = 0;
  SeedReport report_;
};

void EmbeddedSimulation::start() {
  EnvironmentOptions options;
  options.platform = node_;
  // Unaligned ones not at 1, where there are no partial halves to which records can be in flight.
  const std::uint64_t least = way_.unaligned ? 2 : 1;
  options.parallelism = way_.parallelism;
  if (way_.parallelism == 0)
    options.parallelism = static_cast<int>(least + random_.below(4 - least));
  options.batch_records = random_.chance(0.2) ? 7 : 512;
  options.channel_credits = static_cast<int>(2 + random_.below(3));
  options.checkpoints.directory = checkpoint_directory;
  // In small steps some are given up in the middle of a table.
  if (random_.chance(0.5)) options.checkpoints.step_bytes = 1 + random_.below(400);
  options.checkpoints.interval_ms = interval_ms_;
  options.checkpoints.restore = "latest";
  // What one left behind, the other begins with.
  options.checkpoints.unaligned = way_.unaligned && random_.chance(0.8);
  options.checkpoints.alignment_timeout_ms = draw_alignment_timeout_ms(options_.seed);
  options.checkpoints.retained = way_.retained;
  // One that dies behind its end, while it removes its checkpoints, would else begin anew.
  options.checkpoints.keep_at_end = true;
  options.checkpoints.tolerated_failures =
      random_.chance(0.5) ? 1000 : static_cast<std::uint32_t>(random_.below(4));
  options.restart = RestartStrategy::fixed_delay(5, 100);
  log(fmt::format("starts at parallelism {}", options.parallelism));
  troubles_at_start_ = disk_troubles();
  process_.environment = std::make_unique<StreamExecutionEnvironment>(options);
  build_stateful_job(*process_.environment, workload_, output_directory);
  process_.job.emplace(process_.environment->execute_async("accounts"));
}

void EmbeddedSimulation::look(CommittedOutput::Look how) {
  if (std::string wrong = output_.look(*node_, output_directory, how); !wrong.empty())
    violation(wrong);
  for (const std::string& path : completed_.look(*node_, checkpoint_directory)) {
    log(fmt::format("checkpoint {}", path));
  }
}

// Until then, or until the job has ended for good or the process is dead.
void EmbeddedSimulation::run_until(Nanoseconds time) {
  while (!ended_ && node_->alive() && simulation_.now() < time) {
    const Nanoseconds until = std::min(time, next_look_);
    const RunEnd end =
        simulation_.run_until([&] { return !node_->alive() || process_.job->finished(); }, until);
    if (simulation_.now() >= next_look_ || end == RunEnd::satisfied) {
      look(CommittedOutput::Look::sizes);
      next_look_ = simulation_.now() + look_at_job_every;
    }
    if (end == RunEnd::deadlock) return violation("nothing can ever happen again");
    if (node_->alive() && process_.job->finished()) job_ended();
  }
}

void EmbeddedSimulation::job_ended() {
  const JobResult result = process_.job->wait();
  if (result.ok()) {
    log("the job has finished");
    ended_ = true;
    return;
  }
  log("the job gave up: " + result.status.to_string());
  const ErrorCode code = result.status.code();
  const bool by_the_disk = code == ErrorCode::io_error || code == ErrorCode::disk_full;
  if (!by_the_disk || disk_troubles() == troubles_at_start_) {
    violation("the job failed: " + result.status.to_string());
    ended_ = true;
    return;
  }
  process_ = {};
  let_pass(milliseconds(500));
  start();
}

void EmbeddedSimulation::run_steps(std::uint64_t steps) {
  const std::uint64_t last = simulation_.steps() + steps;
  const Nanoseconds patience = simulation_.now() + milliseconds(500);
  (void)simulation_.run_until(
      [&] { return simulation_.steps() >= last || !node_->alive() || process_.job->finished(); },
      patience);
}

void EmbeddedSimulation::die(const ProcessFault& fault) {
  const bool at_the_disk = fault.kind == ProcessFaultKind::death_at_the_disk ||
                           fault.kind == ProcessFaultKind::power_cut_at_the_disk;
  if (at_the_disk) {
    // Operations come with checkpoints: one of the next is struck.
    node_->kill_at_disk_operation(fault.steps_later % 64 + 1);
    run_until(simulation_.now() + milliseconds(2 * interval_ms_));
    node_->kill_at_disk_operation(0);
  } else {
    run_steps(fault.steps_later);
  }
  if (!at_the_disk && process_.job->finished()) job_ended();
  if (ended_) return;
  const bool struck = !node_->alive();
  if (!struck) node_->kill();
  look();
  const bool power_cut = fault.kind == ProcessFaultKind::power_cut ||
                         fault.kind == ProcessFaultKind::power_cut_at_the_disk;
  const bool drop_at_once = random_.chance(0.5);
  if (drop_at_once) process_ = {};
  if (power_cut) {
    node_->crash_disk();
    if (std::string wrong = output_.look_after_power_cut(*node_, output_directory);
        !wrong.empty()) {
      violation(wrong);
    }
  }
  log(fmt::format("{}{}", to_string(fault.kind), at_the_disk && !struck ? " (late)" : ""));
  if (at_the_disk && !struck) {
    count(power_cut ? ProcessFaultKind::power_cut : ProcessFaultKind::death, 1);
  } else {
    count(fault.kind, 1);
  }
  let_pass(fault.duration);
  process_ = {};
  node_ = &simulation_.restart_node(*node_);
  restores_ += completed_.count() == 0 ? 0 : 1;
  start();
}

void EmbeddedSimulation::strike(const ProcessFault& fault) {
  simulation_.trace("fault", static_cast<std::uint64_t>(fault.kind));
  if (is_death(fault.kind)) return die(fault);
  log(fmt::format("---- {}", to_string(fault.kind)));
  SimulationOptions& options = simulation_.options();
  const SimulationOptions calm = options;
  const SimulationCounts before = simulation_.counts();
  const Nanoseconds end = simulation_.now() + fault.duration;
  switch (fault.kind) {
    case ProcessFaultKind::failing_disk:
      // Also so rarely that one checkpoint is given up and the next is complete.
      options.write_fault_rate = 0.003 * static_cast<double>(1 + random_.below(16));
      break;
    case ProcessFaultKind::full_disk: options.disk_capacity_bytes = 1; break;
    case ProcessFaultKind::slow_disk:
      options.disk_operation_minimum_ns = milliseconds(1);
      options.disk_operation_maximum_ns = milliseconds(100);
      break;
    default: node_->pause_until(end); break;
  }
  run_until(end);
  const SimulationCounts& counts = simulation_.counts();
  std::uint64_t effect = 0;
  switch (fault.kind) {
    case ProcessFaultKind::failing_disk: effect = counts.write_faults - before.write_faults; break;
    case ProcessFaultKind::full_disk: effect = counts.full_disks - before.full_disks; break;
    case ProcessFaultKind::slow_disk:
      effect = counts.disk_operations - before.disk_operations;
      break;
    default: effect = 1; break;
  }
  count(fault.kind, effect > 0 ? 1 : 0);
  const std::uint64_t seed = options.seed;
  options = calm;
  options.seed = seed;
  log(fmt::format("---- end of {} ({})", to_string(fault.kind), effect));
  // What builds on a checkpoint that the disk refused must not be relied on.
  if (fault.kind == ProcessFaultKind::clock_pause || random_.chance(0.2)) return;
  run_until(simulation_.now() + random_.between(0, milliseconds(4 * interval_ms_)));
  if (!ended_) die({.kind = ProcessFaultKind::death, .duration = milliseconds(100)});
}

void EmbeddedSimulation::check_end() {
  look();
  if (!ended_ || !report_.violations.empty()) return;
  for (std::string& wrong : output_.check_end(*node_, output_directory, workload_)) {
    violation(std::move(wrong));
  }
}

}  // namespace

SeedReport simulate_embedded(RunOptions options) { return EmbeddedSimulation(options).run(); }

}  // namespace hummer::cluster_simulation
