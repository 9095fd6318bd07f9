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
  struct Network;

  Slot& slot_of(const ExecutionTask& task);
  Status make_tasks();
  void make_channels();
  Status make_chain(const ExecutionTask& execution, StreamTask& task);
  Status make_emitters(const ExecutionTask& execution, StreamTask& task);
  void task_ended(StreamTask& task);
  void cancel_tasks();

  Platform& platform_;
  const StreamGraph stream_graph_;
  const JobGraph job_graph_;
  const ExecutionGraph execution_graph_;
  const DeploymentOptions options_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::unique_ptr<Network> network_;
  std::vector<std::unique_ptr<StreamTask>> tasks_;      // by execution task id
  std::vector<std::unique_ptr<RingChannel>> channels_;  // by execution channel id; null: network
  std::atomic<std::size_t> running_{0};
  std::mutex failure_mutex_;
  Status failure_;
  std::atomic<bool> cancel_requested_{false};
  bool finish_called_ = false;
};

}  // namespace hummer
