// Deployment: the tasks and channels of one job in this process.
//
// Made from the three graphs, it wires every task of this TaskManager: operators
// from their factories, ring channels between tasks, and where a channel crosses
// a network, sender and receiver tasks on a transport. Then it starts them on
// their slots' executors and waits for all to end.
//
// Lifecycle: make → start → (stop | cancel)* → finished() → result(); destroyed
// after it has finished. A task that fails cancels all others; the first failure
// that is not a consequence of another is the job's.
//
// Thread: make, start and result on the caller's; stop, cancel, finished and
// figures from any. Ownership: owns tasks, channels and executors.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <hummer/job_result.hpp>

#include "graph/execution_graph.hpp"
#include "platform/platform.hpp"
#include "runtime/stream_task.hpp"

namespace hummer {

struct DeploymentOptions {
  // Which TaskManager of the execution graph this process is, and where the data planes of all
  // listen (host:port, in the graph's order). Without addresses every task runs here.
  int task_manager = 0;
  std::vector<std::string> addresses;
  std::uint32_t batch_records = default_batch_records;
  std::uint32_t channel_credits = 8;
  Nanoseconds spin_ns = 0;
  bool pin_slots = false;
};

class Deployment {
 public:
  Deployment(Platform& platform, StreamGraph stream_graph, JobGraph job_graph,
             ExecutionGraph execution_graph, DeploymentOptions options);
  ~Deployment();
  Deployment(const Deployment&) = delete;
  Deployment& operator=(const Deployment&) = delete;

  // Starts every task. A failure (a network edge that cannot be set up) starts none.
  Status start();
  void stop();
  void cancel();
  bool finished() const { return running_.load(std::memory_order_acquire) == 0; }

  // REQUIRES: finished(). Stops the executors and closes the operators, once.
  Status finish();

  const std::vector<std::unique_ptr<StreamTask>>& tasks() const { return tasks_; }
  const JobGraph& job_graph() const { return job_graph_; }
  const ExecutionGraph& execution_graph() const { return execution_graph_; }
  // Figures so far, summed per vertex; complete once finished.
  JobResult figures() const;

 private:
  struct Slot;
  struct DataPlaneHost;

  Slot& slot_of(const ExecutionTask& task);
  bool is_here(const ExecutionTask& task) const;
  StreamTask* task_here(int id) { return tasks_by_id_[static_cast<std::size_t>(id)]; }
  Status start_data_plane();
  Status make_tasks();
  void make_channels();
  void make_chain(const ExecutionTask& execution, StreamTask& task);
  void make_emitters(const ExecutionTask& execution, StreamTask& task);
  std::unique_ptr<Emitter> make_network_emitter(const ExecutionTask& execution, StreamTask& task);
  std::unique_ptr<Operator> make_network_receiver(const ExecutionTask& execution);
  // Of the records that cross a JobEdge.
  const TypeDescriptor& edge_type(int edge) const;
  void task_ended(StreamTask& task);
  void cancel_tasks();
  void stop_executors();

  Platform& platform_;
  const StreamGraph stream_graph_;
  const JobGraph job_graph_;
  const ExecutionGraph execution_graph_;
  const DeploymentOptions options_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::unique_ptr<DataPlaneHost> data_plane_;
  std::vector<std::unique_ptr<StreamTask>> tasks_;      // those that run here
  std::vector<StreamTask*> tasks_by_id_;                // null: another process runs it
  std::vector<std::unique_ptr<RingChannel>> channels_;  // by execution channel id; null: network
  std::atomic<std::size_t> running_{0};
  std::mutex failure_mutex_;
  Status failure_;
  std::atomic<bool> cancel_requested_{false};
  bool finish_called_ = false;
};

}  // namespace hummer
