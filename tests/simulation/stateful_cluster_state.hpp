// StatefulCluster: the cluster of stateful_cluster.hpp while it runs; what strikes it is in
// stateful_cluster_strikes.cpp.
//
// Thread: that of the simulation.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "simulation/committed_output.hpp"
#include "simulation/completed_checkpoints.hpp"
#include "simulation/simulated_nodes.hpp"
#include "simulation/stateful_client.hpp"
#include "simulation/stateful_cluster.hpp"
#include "simulation/stateful_job.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace hummer::cluster_simulation {

inline constexpr std::int64_t cluster_lasts_s = 66;
inline constexpr Nanoseconds faults_from = seconds(10);
// Also while the job ends.
inline constexpr Nanoseconds faults_until = seconds(68);
// See embedded_simulation.cpp.
inline constexpr Nanoseconds run_at_most = seconds(300);
inline constexpr Nanoseconds look_every = milliseconds(200);
inline constexpr std::uint64_t faults_most = 6;
// Of a run: fewer are a stall.
inline constexpr std::uint64_t checkpoints_least = 5;
inline constexpr const char* checkpoints = "/checkpoints";
inline constexpr const char* output = "/out";
inline constexpr const char* journal = "/journal";
inline constexpr const char* token = "secret";
inline constexpr const char* job_manager_address = "jobmanager:6123";

enum class Strike : std::uint8_t {
  task_manager_death,
  task_manager_death_at_the_disk,
  job_manager_death,
  job_manager_death_at_the_disk,
  client_death,
  // It is lost, and runs on, with its disk and its peers, until it notices.
  cut_until_lost,
  // The next one knows nothing of the one that is cut off.
  job_manager_death_behind_a_cut,
  cut_from_job_manager,
  cut_from_task_managers,
  cut_from_all,
  connection_deaths,
  message_loss,
  message_repetition,
  message_delay,
  slow_network,
  task_manager_pause,
  failing_disk,
  full_disk,
  slow_disk,
  // It is heard and hears nothing, or the other way round.
  one_way_cut_from_job_manager,
  one_way_cut_to_job_manager,
  one_way_cut_between_task_managers,
  // Longer than anybody waits for it.
  task_manager_stall,
  job_manager_stall,
  task_manager_clock_step,
  job_manager_clock_step,
  corrupted_data,
  corrupted_messages,
};
inline constexpr std::array<std::string_view, 28> strike_names = {
    "TaskManager death",
    "TaskManager death at the disk",
    "JobManager death",
    "JobManager death at the disk",
    "client death",
    "TaskManager cut off until it is lost",
    "JobManager death behind a cut",
    "TaskManager cut off from JobManager",
    "cut between TaskManagers",
    "TaskManager cut off from all",
    "connection deaths",
    "message loss",
    "message repetition",
    "message delay",
    "slow network",
    "TaskManager clock pause",
    "failing disk",
    "full disk",
    "slow disk",
    "one-way cut from JobManager",
    "one-way cut to JobManager",
    "one-way cut between TaskManagers",
    "TaskManager stall beyond time-outs",
    "JobManager stall beyond time-outs",
    "TaskManager clock step",
    "JobManager clock step",
    "corrupted data",
    "corrupted control messages"};
// Every process dies, and the disk keeps what was synced, the rest torn. Drawn apart from the
// others, so that seeds without one are what they were before there was any.
inline constexpr std::string_view power_cut_name = "power cut of the cluster";
// What the person does to the job, beside the faults: drawn apart, too.
inline constexpr std::array<std::string_view, 4> event_names = {
    "", "event savepoint", "event rescale by a savepoint", "event rescale by a checkpoint"};
inline constexpr double request_rate = 0.3;  // ahead of each fault
// Channels alone need a third of it.
inline constexpr std::size_t memory_limit_bytes = 96 << 20;

// The client's process.
class StatefulClientProcess final : public SimulatedProcess {
 public:
  StatefulClientProcess(NodeContext& context, StatefulSubmission& submission)
      : SimulatedProcess(context, "client"), submission_(submission) {}
  ~StatefulClientProcess() override { drop(); }

 private:
  Status make() override {
    client_ = std::make_unique<StatefulClient>(node(), submission_);
    return {};
  }
  void drop() override { client_.reset(); }
  StatefulSubmission& submission_;
  std::unique_ptr<StatefulClient> client_;
};

class StatefulCluster {
 public:
  explicit StatefulCluster(RunOptions options);
  ~StatefulCluster();
  SeedReport run();

 private:
  void draw_conditions();
  Workload draw_work();
  Status write_input();
  // The job as a client makes it, with what is drawn anew for each run of it.
  Status make_request(int parallelism, const std::string& restore);
  void desired_state(Random& random);
  // What the request for a savepoint came to, if it has.
  void take_answer();
  // Whether the job runs, or another one goes on where it was ended for that.
  bool goes_on();
  std::string newest_checkpoint() const;
  void run_until(Nanoseconds time);
  void run_steps(std::uint64_t steps);
  // Until so many have been completed.
  void run_until_checkpoints(std::uint64_t count);
  void look(CommittedOutput::Look how);
  void strike(Strike kind, Nanoseconds duration);
  // `spared`: a TaskManager that it does not hit while there is another at work.
  void die(Strike kind, Nanoseconds duration, std::size_t spared = task_manager_count);
  // Any of the five.
  Strike draw_death() { return static_cast<Strike>(random_.below(5)); }
  void power_cut(Random& random);
  void cut_off(Strike kind, Nanoseconds duration);
  void revive(SimulatedProcess& process);
  // One that has a part of the job, if there is any.
  std::size_t a_task_manager_at_work(std::size_t but = task_manager_count);
  void count(Strike kind) {
    ++report_.totals[fmt::format("fault {}", strike_names[static_cast<std::size_t>(kind)])];
  }
  std::uint64_t effect(Strike kind);
  std::int64_t draw_clock_step();
  void corrupt(Strike kind, double rate);
  void end_one_way_cuts(Strike kind, std::size_t victim);
  void check_end();
  void violation(std::string text) {
    log("VIOLATION " + text);
    report_.violations.push_back(std::move(text));
  }
  void log(const std::string& text) const {
    if (!options_.verbose) return;
    fmt::print(stderr, "{:11.6f} {}\n", static_cast<double>(simulation_.now()) / 1e9, text);
  }
  SimulatedPlatform& task_manager(std::size_t number) { return task_managers_[number]->node(); }

  const RunOptions options_;
  Simulation simulation_;
  Random random_;
  SimulatedPlatform& store_;
  MessageWeather weather_;
  FaultTotals messages_;
  NodeContext context_;
  const std::int64_t interval_ms_;
  const bool unaligned_;
  const bool keeps_parallelism_;  // where records in flight come back
  const Workload workload_;
  Random requests_;
  int parallelism_ = 1;
  std::string restored_from_;  // empty: the job began at the start
  StatefulSubmission submission_;
  std::unique_ptr<JobManagerProcess> job_manager_;
  std::vector<std::unique_ptr<TaskManagerProcess>> task_managers_;
  std::unique_ptr<StatefulClientProcess> client_;
  Nanoseconds next_look_ = 0;
  CommittedOutput output_;
  CompletedCheckpoints completed_;
  std::uint64_t restores_ = 0;
  std::uint32_t attempts_seen_ = 1;
  SeedReport report_;
};

}  // namespace hummer::cluster_simulation
