#include "simulation/simulated_nodes.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "simulation/stateful_job.hpp"

namespace hummer::cluster_simulation {

void SimulatedProcess::log(std::string_view line) const {
  if (!context_.verbose) return;
  fmt::print(stderr, "{:11.6f} {}: {}\n", static_cast<double>(context_.simulation.now()) / 1e9,
             node_->name(), line);
}

void SimulatedProcess::write(const LogEntry& entry) {
  const std::string job =
      entry.subject.job == 0 ? "" : "job " + std::to_string(entry.subject.job) + ": ";
  log(job + std::string(entry.text));
}

Status SimulatedProcess::start() {
  faults_ = std::make_unique<PlannedMessageFaults>(context_.simulation, context_.weather,
                                                   context_.totals, context_.random.next());
  log("starts");
  return make();
}

void SimulatedProcess::kill(bool drop_at_once) {
  node_->kill();
  killed(drop_at_once);
}

void SimulatedProcess::killed(bool drop_at_once) {
  log("killed");
  if (drop_at_once) drop();
}

Status SimulatedProcess::restart(std::uint64_t dies_at_disk_operation) {
  HUMMER_ASSERT(!node_->alive());
  drop();
  node_ = &context_.simulation.restart_node(*node_);
  ++number_;
  node_->kill_at_disk_operation(dies_at_disk_operation);
  Status status = start();
  node_->kill_at_disk_operation(0);
  if (!node_->alive()) {
    log("killed while it starts");
    return {ErrorCode::cancelled, "killed while it starts"};
  }
  return status;
}

void SimulatedProcess::stop() {
  if (alive()) stop_actor();
}

Status JobManagerProcess::make() {
  JobManagerOptions options;
  SocketAddress address = node().address();
  address.port = 6123;
  options.listen_address = address.to_string();
  options.token = context_.token;
  options.state_directory = context_.state_directory;
  options.heartbeat_timeout_ns = heartbeat_timeout;
  options.slot_timeout_ns = seconds(20);
  options.faults = faults_.get();
  options.log = Logger(this, LogModule::cluster);
  actor_ = std::make_unique<JobManager>(node(), options);
  return actor_->start();
}

Status TaskManagerProcess::make() {
  add_all_jobs(libraries_);
  libraries_.add(stateful_job_library, &call_job<&stateful_job>);
  TaskManagerOptions options;
  options.id = node().name();
  options.host = node().name();
  options.job_manager = context_.job_manager_address;
  options.token = context_.token;
  options.slots = slots_per_task_manager;
  options.data_addresses = {node().address().to_string()};
  options.memory_limit_bytes = context_.memory_limit_bytes;
  options.spill_directory = "/spill";
  options.faults = faults_.get();
  options.log = this;
  if (context_.write_order) {
    device_ = std::make_unique<SimulatedRemoteMemoryDevice>(node(), *context_.write_order);
    options.remote_memory = device_.get();
  }
  actor_ = std::make_unique<TaskManager>(node(), libraries_, options);
  return actor_->start();
}

void TaskManagerProcess::drop() { actor_.reset(); }

Status ClientProcess::make() {
  client_ = std::make_unique<SimulatedClient>(node(), shared_);
  return {};
}

}  // namespace hummer::cluster_simulation
