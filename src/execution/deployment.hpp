// Deployment: the tasks and channels of one job in this process.
//
// Made from the three graphs, it wires every task of this TaskManager: operators
// from their factories, ring channels between tasks, and where a channel crosses
// a network, sender and receiver tasks on a transport. Then it starts them on
// their slots' executors and waits for all to end.
//
// Lifecycle: make → start → finished() → finish(); stop and cancel at any time, also before and
// while it starts; destroyed after it has finished (sooner: as a cancellation, which waits for user
// functions that run, but for no channel). A task that fails cancels all others; the first failure
// that is not a consequence of another is the job's.
//
// Network: on the process's data plane when one is given, where an edge's interface_or_address
// chooses among the addresses of `peers` (net/data_address.hpp), and channels of several jobs and
// attempts are told apart by channel_job and channel_attempt. Else, for an edge between two tasks
// of this process that asks for a transport, on one of its own on loopback.
//
// Blocking edges: their two ends are never in one deployment. What is ahead writes into
// `shuffle.store`; what is behind reads the files of `shuffle.sources`, here or over the data
// plane.
//
// Thread: make, start, finish and the destructor on the caller's; stop, cancel, finished, metrics,
// tasks and started from any. Ownership: owns tasks, channels and executors.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <hummer/detail/memory_account.hpp>
#include <hummer/job_result.hpp>

#include "checkpoint/restored_state.hpp"
#include "execution/task_samples.hpp"
#include "graph/execution_graph.hpp"
#include "net/data_plane.hpp"
#include "platform/platform.hpp"
#include "runtime/source_listing.hpp"
#include "runtime/stream_task.hpp"
#include "shuffle/shuffle_store.hpp"

namespace hummer {

class NetworkEmitter;
class PieceReader;

struct DeploymentPeer {
  std::string name;
  std::vector<DataAddress> addresses;
};

// Which attempt has left the files that a region has on a TaskManager.
struct ShuffleSource {
  int region = 0;
  int task_manager = 0;
  std::uint32_t attempt = 0;
};

struct ShuffleOptions {
  ShuffleStore* store = nullptr;  // null: no edge is blocking
  std::vector<int> region_of_vertex;
  std::vector<ShuffleSource> sources;
  // Files of this one are lost; then the task that needs them fails. Called on its slot's thread.
  std::function<void(const ShuffleSource&)> on_lost;
};

struct DeploymentOptions {
  // Which TaskManager of the execution graph this process is. Without peers every task runs here.
  int task_manager = 0;
  // The process's data plane, which outlives the deployment, and where those of all TaskManagers
  // listen (the own ones too), in the graph's order.
  DataPlane* data_plane = nullptr;
  std::vector<DeploymentPeer> peers;
  // By id: those whose tasks run in this deployment; empty: all. No channel leads to the others.
  std::vector<bool> vertices;
  std::optional<std::uint64_t> channel_job;  // absent: the job graph's fingerprint
  std::uint32_t channel_attempt = 0;
  // Snapshots: what a task's operators wrote, on the slots' threads. Empty: the job takes none.
  std::function<void(const ExecutionTask&, TaskSnapshot)> on_snapshot;
  Guarantee guarantee = Guarantee::exactly_once;
  bool unaligned = false;  // see CheckpointOptions
  std::size_t snapshot_step_bytes = default_snapshot_step_bytes;
  bool allow_dropped_state = false;  // also records in flight to operators that are gone
  std::shared_ptr<const RestoredState> restored;  // null: a fresh start
  std::uint64_t superseded_checkpoint = 0;        // see OperatorContext::superseded_epoch
  std::uint64_t run = 0;                          // see OperatorContext::run
  std::uint32_t attempt = 0;
  // Of sources here; those that are missing are made by start().
  SourceListings listings;
  // Called when a task has committed, on its slot's thread. May be empty.
  std::function<void()> on_committed;
  // Notified when the last task has ended; outlives finish().
  WakeEvent* on_finished = nullptr;
  std::uint32_t batch_records = default_batch_records;
  std::uint32_t channel_credits = 8;
  Nanoseconds spin_ns = 0;
  bool pin_slots = false;
  bool checks_views = false;  // see hummer/detail/operators/view_check.hpp
  // The process's account, and where state goes that has no room in memory.
  std::shared_ptr<MemoryAccount> memory;
  std::string spill_directory;
  ShuffleOptions shuffle;
};

// A failure that may only follow from another task's, here or in another process.
bool is_consequence(const Status& status);

class Deployment {
 public:
  Deployment(Platform& platform, StreamGraph stream_graph, JobGraph job_graph,
             ExecutionGraph execution_graph, DeploymentOptions options);
  ~Deployment();
  Deployment(const Deployment&) = delete;
  Deployment& operator=(const Deployment&) = delete;

  // Starts every task. A failure (a network edge that cannot be set up; cancelled) starts none.
  Status start();
  void stop();
  void cancel();
  // With snapshots: sources send the barrier (where options.unaligned allows it one that unaligned
  // records; the snapshots of a savepoint are whole); operators may commit; tasks that have ended
  // may finish. Any thread, after start().
  void trigger(std::uint64_t checkpoint, bool savepoint, bool unaligned);
  void commit(std::uint64_t checkpoint);
  void finish_committed();
  // Sources send nothing behind the barrier of this checkpoint; 0: they go on.
  void pause_sources_after(std::uint64_t checkpoint);
  // The lowest checkpoint that all tasks here have committed.
  std::uint64_t committed();
  // Whether start() has wired the tasks: tasks() and metrics() are complete from then on.
  bool started() const { return started_.load(std::memory_order_acquire); }
  bool finished() const { return running_.load(std::memory_order_acquire) == 0; }
  // REQUIRES: finished(). When the last task ended.
  Nanoseconds ended_at() const { return ended_at_.load(std::memory_order_relaxed); }

  // REQUIRES: finished(). Stops the executors and closes the operators, once.
  Status finish();

  // REQUIRES: started(), on another thread.
  const std::vector<std::unique_ptr<StreamTask>>& tasks() const { return tasks_; }
  const JobGraph& job_graph() const { return job_graph_; }
  const ExecutionGraph& execution_graph() const { return execution_graph_; }
  // Inputs that are to stay together (WatermarkAlignment) are on several TaskManagers, whose
  // members know nothing of each other.
  // Whether a channel of the task leads to one that sends, or writes files.
  bool leaves_memory(const ExecutionTask& execution) const;
  bool aligns_across_task_managers() const;
  // REQUIRES: started(). "pinned: slot 0 to core 2; not pinned: slot 1 (why)"; empty: not asked
  // for.
  std::string describe_pinning() const;
  // Metrics so far, summed per vertex; complete once finished.
  JobResult metrics() const;
  // Of a vertex's tasks in this process.
  struct TaskCounts {
    std::uint32_t running = 0;
    std::uint32_t finished = 0;
  };
  TaskCounts task_counts(int vertex) const;
  // Of the functions of the vertex's operator with this place in the chain, over its subtasks here.
  std::vector<MetricSample> user_metrics(int vertex, std::size_t op) const;
  // REQUIRES: started(). The numbers of the slots of which a task has not ended, ascending.
  std::vector<int> slots_in_use() const;
  // REQUIRES: started(). What the tasks here have read of the state that they began with.
  struct RestoredTask {
    const StreamTask* task = nullptr;
    std::uint64_t bytes = 0;
  };
  const std::vector<RestoredTask>& restored_tasks() const { return restored_tasks_; }
  // Empty before started().
  TaskSamples samples(Nanoseconds now) const;
  // Of a vertex's tasks in this process, summed.
  TimeShares vertex_time(int vertex, Nanoseconds now) const;

 private:
  struct Slot;
  struct DataPlaneHost;

  Slot& slot_of(const ExecutionTask& task);
  bool is_here(const ExecutionTask& task) const;
  StreamTask* task_here(int id) { return tasks_by_id_[static_cast<std::size_t>(id)]; }
  bool is_alone() const { return options_.peers.empty(); }
  Status list_sources();
  Status start_data_plane();
  Status choose_routes();
  ChannelKey key_of(const ExecutionChannel& channel) const;
  Status make_tasks();
  // Reads from disk, piece by piece; each subtask reads those that it needs.
  Status restore_tasks();
  Status restore_stage(const ExecutionTask& execution, StreamTask& task, std::size_t stage,
                       std::uint64_t& bytes_read);
  Result<std::unique_ptr<PieceReader>> open_piece(const RestoredPiece& piece,
                                                  const KeyGroups& wanted);
  // Records that an earlier run had in flight to the operators of this task; those to operators
  // that nobody has any more are refused.
  using InFlightPieces = std::map<std::string, std::vector<std::string>>;  // by uid
  Result<InFlightPieces> read_in_flight();
  std::shared_ptr<MemoryAccount> count_in_flight(const InFlightPieces& pieces) const;
  std::vector<std::shared_ptr<MemoryAccount>> claim_shares() const;
  Status restore_in_flight(const ExecutionTask& execution, StreamTask& task,
                           const InFlightPieces& pieces);
  Status check_in_flight() const;
  struct InFlightInput;
  Result<InFlightInput> in_flight_input(const JobVertex& vertex, ChainDriver& chain,
                                        std::size_t stage, int input) const;
  bool unaligned() const;
  // Of a hash edge.
  const PartitionerFactory& partitioner_of(const JobEdge& edge) const;
  // REQUIRES: started(). Those that run operators of the job, not senders and receivers.
  template <typename Function>
  void for_each_chain(Function&& function);
  Status count_channels();
  void make_channels();
  void make_chain(const ExecutionTask& execution, StreamTask& task);
  void make_emitters(const ExecutionTask& execution, StreamTask& task);
  std::unique_ptr<Emitter> make_network_emitter(const ExecutionTask& execution, StreamTask& task);
  std::unique_ptr<Operator> make_network_receiver(const ExecutionTask& execution);
  // deployment_shuffle.cpp
  Status check_shuffle() const;
  Status choose_shuffle_routes();
  std::unique_ptr<Operator> make_shuffle_reader(const ExecutionTask& execution);
  std::unique_ptr<Emitter> make_shuffle_emitter(const ExecutionTask& execution, const JobEdge& edge,
                                                const TypeDescriptor& type);
  std::size_t shuffle_buffer_bytes(const ExecutionTask& execution) const;
  std::uint32_t shuffle_partitions(const JobEdge& edge) const;
  // Of the records that cross a JobEdge.
  const TypeDescriptor& edge_type(int edge) const;
  // Of a batch full of them.
  std::size_t batch_bytes(int edge);
  // Of channels within this process. By turns: from a task to the sender that runs in its slot.
  bool is_by_turns(const ExecutionChannel& channel) const;
  std::uint32_t credits_of(const ExecutionChannel& channel) const;
  void task_ended(StreamTask& task);
  // The job's failure, if it is the first or closer to the root than the one that is known.
  void fail(Status status);
  void stop_tasks();
  void cancel_tasks();
  void stop_executors();

  Platform& platform_;
  const StreamGraph stream_graph_;
  const JobGraph job_graph_;
  const ExecutionGraph execution_graph_;
  const DeploymentOptions options_;
  SourceListings listings_;
  std::shared_ptr<MemoryAccount> memory_;           // the job's
  std::shared_ptr<MemoryAccount> channels_memory_;  // of what may be under way in its channels
  std::shared_ptr<MemoryAccount> restore_memory_;   // while the tasks are restored
  std::vector<std::unique_ptr<Slot>> slots_;
  Status not_pinned_;  // why a slot is not
  std::unique_ptr<DataPlaneHost> own_data_plane_;
  DataPlane* data_plane_ = nullptr;  // null: no channel crosses a network
  std::map<int, DataRoute> routes_;  // by execution channel id: those that begin here
  std::map<std::pair<int, int>, DataRoute> shuffle_routes_;  // by blocking edge and TaskManager
  std::vector<std::unique_ptr<StreamTask>> tasks_;           // those that run here
  std::vector<RestoredTask> restored_tasks_;
  std::vector<StreamTask*> tasks_by_id_;                   // null: another process runs it
  std::map<int, const NetworkEmitter*> network_emitters_;  // by execution task id
  std::vector<std::unique_ptr<RingChannel>> channels_;     // by execution channel id; null: network
  std::map<int, std::size_t> batch_bytes_;                 // by edge
  std::atomic<std::size_t> running_{0};
  std::atomic<Nanoseconds> ended_at_{0};
  std::mutex failure_mutex_;
  Status failure_;
  // Between start(), and stop and cancel from elsewhere.
  std::mutex start_mutex_;
  std::atomic<bool> started_{false};
  bool stop_requested_ = false;
  std::atomic<bool> cancel_requested_{false};
  bool finish_called_ = false;
};

}  // namespace hummer
