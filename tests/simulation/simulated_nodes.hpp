// The processes of a simulated cluster: a node each, and the actor that runs there.
//
// Lifecycle: start() makes a process; kill() freezes it; restart() is a new process on the
// same machine. Destroyed: killed first, or stopped in good order. Thread: that of the simulation.
#pragma once

#include <memory>
#include <string>

#include "job_manager/job_manager.hpp"
#include "platform/simulated_remote_memory.hpp"
#include "simulation/fault_schedule.hpp"
#include "simulation/simulated_client.hpp"
#include "simulation/simulated_jobs.hpp"
#include "task_manager/task_manager.hpp"

namespace hummer::cluster_simulation {

inline constexpr int slots_per_task_manager = 2;
inline constexpr Nanoseconds heartbeat_timeout = seconds(5);

// What every process of the cluster is made with.
struct NodeContext {
  Simulation& simulation;
  const MessageWeather& weather;
  FaultTotals& totals;
  Random& random;
  std::string job_manager_address;
  std::string token;
  bool verbose = false;
  // Whose disk all of them see; null: each has its own.
  SimulatedPlatform* store = nullptr;
  std::string state_directory = {};    // of the JobManager's journal; empty: it has none
  std::size_t memory_limit_bytes = 0;  // of each TaskManager; 0: none
  // Whether all run on one machine, so that their channels are rings in shared memory.
  bool one_machine = false;
  SimulatedPlatform* machine = nullptr;  // the first of them then
  // That of the devices by which channels are rings of one-sided writes; none: there are none.
  std::optional<WriteOrder> write_order = {};

  // Half of the seeds run on one machine, and half of the others have devices.
  void draw_machines(std::uint64_t seed) {
    one_machine = mix_bits(seed ^ 0x0e4ac41e) % 2 == 0;
    const std::uint64_t drawn = mix_bits(seed ^ 0x3d1c7a55);
    if (!one_machine && drawn % 2 == 0) write_order = static_cast<WriteOrder>(drawn / 2 % 3);
  }
};

class SimulatedProcess : public LogSink {
 public:
  SimulatedProcess(NodeContext& context, std::string name)
      : context_(context),
        node_(context.store == nullptr
                  ? &context.simulation.add_node(std::move(name))
                  : &context.simulation.add_node(std::move(name), *context.store)) {
    if (!context_.one_machine) return;
    if (context_.machine == nullptr) context_.machine = node_;
    context_.simulation.share_memory(*node_, *context_.machine);
  }
  ~SimulatedProcess() override = default;
  SimulatedProcess(const SimulatedProcess&) = delete;
  SimulatedProcess& operator=(const SimulatedProcess&) = delete;

  SimulatedPlatform& node() const { return *node_; }
  bool alive() const { return node_->alive(); }
  // How many processes there have been on this machine before.
  int number() const { return number_; }

  Status start();
  void kill(bool drop_at_once);
  // Of one that was killed by another way: at its disk.
  void killed(bool drop_at_once);
  // Dies once more at this operation of its disk, if it has not started by then (0: it does not):
  // a failure, and it is not alive.
  Status restart(std::uint64_t dies_at_disk_operation = 0);
  // In good order. A process that was killed is only destroyed.
  void stop();
  // What it says of itself.
  bool wants(LogModule /*room*/, LogLevel /*level*/) const override { return true; }
  void write(const LogEntry& entry) override;

 protected:
  virtual Status make() = 0;
  virtual void drop() = 0;
  virtual void stop_actor() {}
  void log(std::string_view line) const;

  NodeContext& context_;
  std::unique_ptr<PlannedMessageFaults> faults_;

 private:
  SimulatedPlatform* node_;
  int number_ = 0;
};

class JobManagerProcess final : public SimulatedProcess {
 public:
  using SimulatedProcess::SimulatedProcess;
  ~JobManagerProcess() override { drop(); }
  JobManager* actor() const { return actor_.get(); }

 private:
  Status make() override;
  void drop() override { actor_.reset(); }
  void stop_actor() override { actor_->stop(); }
  std::unique_ptr<JobManager> actor_;
};

class TaskManagerProcess final : public SimulatedProcess {
 public:
  using SimulatedProcess::SimulatedProcess;
  ~TaskManagerProcess() override { drop(); }
  TaskManager* actor() const { return actor_.get(); }

 private:
  Status make() override;
  void drop() override;
  void stop_actor() override { actor_->stop(); }
  BuiltInJobLibraries libraries_;
  std::unique_ptr<SimulatedRemoteMemoryDevice> device_;  // null: it has none
  std::unique_ptr<TaskManager> actor_;
};

class ClientProcess final : public SimulatedProcess {
 public:
  ClientProcess(NodeContext& context, std::string name, Context& shared)
      : SimulatedProcess(context, std::move(name)), shared_(shared) {}
  ~ClientProcess() override { drop(); }
  SimulatedClient& client() const { return *client_; }

 private:
  Status make() override;
  void drop() override { client_.reset(); }
  Context& shared_;
  std::unique_ptr<SimulatedClient> client_;
};

}  // namespace hummer::cluster_simulation
