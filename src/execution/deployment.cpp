#include "execution/deployment.hpp"

#include <algorithm>
#include <set>

#include <hummer/detail/operators/union.hpp>

#include "execution/deployment_slot.hpp"
#include "execution/listed_sources.hpp"
#include "net/handshake.hpp"
#include "net/tcp_transport.hpp"

namespace hummer {

struct Deployment::DataPlaneHost {
  std::unique_ptr<Executor> executor;
  std::unique_ptr<DataPlane> plane;
};

// A process that dies takes its connections with it, which its peers often see before anyone can
// tell them why.
bool is_consequence(const Status& status) {
  return status.code() == ErrorCode::peer_gone || status.code() == ErrorCode::cancelled ||
         status.code() == ErrorCode::connection_lost;
}

namespace {

// How near a failure is to the cause: one of its own, a connection seen to break, a peer that gave
// up.
int closeness(const Status& status) {
  if (!is_consequence(status)) return 2;
  return status.code() == ErrorCode::connection_lost ? 1 : 0;
}

}  // namespace

Deployment::Deployment(Platform& platform, StreamGraph stream_graph, JobGraph job_graph,
                       ExecutionGraph execution_graph, DeploymentOptions options)
    : platform_(platform),
      stream_graph_(std::move(stream_graph)),
      job_graph_(std::move(job_graph)),
      execution_graph_(std::move(execution_graph)),
      options_(std::move(options)) {}

Deployment::~Deployment() {
  cancel();
  stop_executors();
  if (!finish_called_) {
    for (auto& task : tasks_) (void)task->close();
  }
  tasks_.clear();
  channels_.clear();
}

Deployment::Slot& Deployment::slot_of(const ExecutionTask& task) {
  for (auto& slot : slots_) {
    if (slot->number == task.slot) return *slot;
  }
  auto slot = std::make_unique<Slot>();
  slot->number = task.slot;
  slot->began_ns = platform_.now();
  if (options_.pin_slots) {
    Result<CoreClaim> core = claim_core(platform_);
    if (core.ok()) {
      slot->core = std::move(*core);
    } else {
      not_pinned_ = core.status();
    }
  }
  slot->executor = platform_.make_executor({.name = "slot-" + std::to_string(task.slot),
                                            .core = slot->core.core,
                                            .spin_ns = options_.spin_ns});
  slots_.push_back(std::move(slot));
  return *slots_.back();
}

std::string Deployment::describe_pinning() const {
  if (!options_.pin_slots) return {};
  std::string pinned, others;
  for (const auto& slot : slots_) {
    const std::string number = std::to_string(slot->number);
    if (slot->core.core >= 0) {
      pinned += (pinned.empty() ? "pinned: slot " : ", slot ") + number + " to core " +
                std::to_string(slot->core.core);
    } else {
      others += (others.empty() ? "not pinned: slot " : ", slot ") + number;
    }
  }
  if (others.empty()) return pinned;
  return pinned + (pinned.empty() ? "" : "; ") + others + " (" + not_pinned_.message() + ")";
}

bool Deployment::is_here(const ExecutionTask& task) const {
  const std::vector<bool>& vertices = options_.vertices;
  if (!vertices.empty() && !vertices[static_cast<std::size_t>(task.vertex)]) return false;
  return is_alone() || task.task_manager == options_.task_manager;
}

Status Deployment::start() {
  HUMMER_TRY(check_shuffle());
  HUMMER_TRY(list_sources());
  HUMMER_TRY(start_data_plane());
  HUMMER_TRY(choose_routes());
  HUMMER_TRY(choose_shuffle_routes());
  HUMMER_TRY(make_tasks());
  HUMMER_TRY(count_channels());
  HUMMER_TRY(restore_tasks());
  make_channels();
  for (const ExecutionTask& execution : execution_graph_.tasks) {
    StreamTask* task = task_here(execution.id);
    if (task == nullptr) continue;
    make_emitters(execution, *task);
    task->metrics().turn = &slot_of(execution).turn;
  }
  {
    const std::lock_guard lock(start_mutex_);
    if (cancel_requested_.load(std::memory_order_relaxed)) {
      return {ErrorCode::cancelled, "the job was cancelled"};
    }
    running_.store(tasks_.size(), std::memory_order_release);
    started_.store(true, std::memory_order_release);
    if (stop_requested_) stop_tasks();
  }
  for (const ExecutionTask& execution : execution_graph_.tasks) {
    StreamTask* task = task_here(execution.id);
    if (task == nullptr) continue;
    task->set_on_finished([this](StreamTask& ended) { task_ended(ended); });
    slot_of(execution).executor->spawn(task->invoke());
  }
  return {};
}

Status Deployment::list_sources() {
  listings_ = options_.listings;
  for (const ListedSource& source : listed_sources(stream_graph_, job_graph_)) {
    const std::vector<bool>& vertices = options_.vertices;
    const bool is_own = vertices.empty() || vertices[static_cast<std::size_t>(source.vertex)];
    if (!is_own || listings_.contains(source.uid)) continue;
    Result<SourceListing> listing = list_source(platform_, source);
    if (!listing.ok()) return listing.status();
    listings_[source.uid] = std::move(*listing);
  }
  return {};
}

// Only where a channel crosses a network: most embedded jobs open no socket.
Status Deployment::start_data_plane() {
  const bool needed = std::any_of(
      execution_graph_.channels.begin(), execution_graph_.channels.end(),
      [](const ExecutionChannel& channel) { return channel.form == ChannelForm::network; });
  if (!needed) return {};
  data_plane_ = options_.data_plane;
  if (data_plane_ != nullptr) return {};
  own_data_plane_ = std::make_unique<DataPlaneHost>();
  own_data_plane_->executor = platform_.make_executor({.name = "data-plane"});
  DataPlaneOptions options;
  options.listen_addresses = {{"", "127.0.0.1:0"}};
  own_data_plane_->plane =
      std::make_unique<DataPlane>(platform_, *own_data_plane_->executor, std::move(options));
  data_plane_ = own_data_plane_->plane.get();
  return data_plane_->start();
}

// Before anything is made, so that a wrong interface costs nothing.
Status Deployment::choose_routes() {
  for (const ExecutionChannel& channel : execution_graph_.channels) {
    if (channel.form != ChannelForm::network) continue;
    const auto task_of = [&](int id) -> const ExecutionTask& {
      return execution_graph_.tasks[static_cast<std::size_t>(id)];
    };
    if (!is_here(task_of(channel.from_task))) continue;
    const auto to = static_cast<std::size_t>(task_of(channel.to_task).task_manager);
    const std::string& setting = channel.network.interface_or_address;
    if (!options_.peers.empty()) {
      const auto own = static_cast<std::size_t>(options_.task_manager);
      Result<DataRoute> route =
          choose_route(setting, options_.peers.at(own).addresses, options_.peers.at(to).addresses,
                       options_.peers.at(to).name);
      if (!route.ok()) {
        const JobEdge& edge = job_graph_.edges[static_cast<std::size_t>(channel.edge)];
        const auto name = [&](int vertex) -> const std::string& {
          return job_graph_.vertices[static_cast<std::size_t>(vertex)].name;
        };
        return route.status().with_context("edge " + name(edge.from) + " → " + name(edge.to));
      }
      routes_[channel.id] = std::move(*route);
    } else {
      routes_[channel.id] = {data_plane_->address().to_string(), connect_options(setting)};
    }
  }
  return {};
}

ChannelKey Deployment::key_of(const ExecutionChannel& channel) const {
  ChannelKey key;
  key.job = options_.channel_job.value_or(job_graph_.fingerprint);
  key.channel = static_cast<std::uint32_t>(channel.id);
  key.attempt = options_.channel_attempt;
  return key;
}

Status Deployment::make_tasks() {
  if (options_.memory != nullptr) memory_ = options_.memory->make_child(job_graph_.job_name);
  tasks_by_id_.resize(execution_graph_.tasks.size());
  for (const ExecutionTask& execution : execution_graph_.tasks) {
    if (!is_here(execution)) continue;
    const JobVertex& vertex = job_graph_.vertices[static_cast<std::size_t>(execution.vertex)];
    Slot& slot = slot_of(execution);
    std::string name = vertex.name + "[" + std::to_string(execution.subtask) + "]";
    if (execution.kind != TaskKind::chain) {
      name = std::string(to_string(execution.kind)) + " of " + name;
    }
    tasks_.push_back(std::make_unique<StreamTask>(platform_, std::move(name),
                                                  "slot " + std::to_string(slot.number)));
    tasks_by_id_[static_cast<std::size_t>(execution.id)] = tasks_.back().get();
    make_chain(execution, *tasks_.back());
  }
  return {};
}

template <typename Function>
void Deployment::for_each_chain(Function&& function) {
  for (const ExecutionTask& execution : execution_graph_.tasks) {
    StreamTask* task = task_here(execution.id);
    if (task != nullptr && execution.kind == TaskKind::chain) function(*task);
  }
}

void Deployment::trigger(std::uint64_t checkpoint, bool savepoint, bool unaligned) {
  unaligned = unaligned && !savepoint && this->unaligned();
  for_each_chain([&](StreamTask& task) {
    if (task.chain().has_source()) task.trigger(checkpoint, savepoint, unaligned);
  });
}

void Deployment::commit(std::uint64_t checkpoint) {
  for_each_chain([&](StreamTask& task) { task.commit(checkpoint); });
}

void Deployment::finish_committed() {
  for_each_chain([](StreamTask& task) { task.finish_committed(); });
}

void Deployment::pause_sources_after(std::uint64_t checkpoint) {
  for_each_chain([&](StreamTask& task) {
    if (task.chain().has_source()) task.pause_after(checkpoint);
  });
}

std::uint64_t Deployment::committed() {
  std::uint64_t lowest = UINT64_MAX;
  for_each_chain([&](StreamTask& task) { lowest = std::min(lowest, task.committed()); });
  return lowest;
}

void Deployment::make_chain(const ExecutionTask& execution, StreamTask& task) {
  const JobVertex& vertex = job_graph_.vertices[static_cast<std::size_t>(execution.vertex)];
  StageOptions stage;
  stage.subtask = execution.subtask;
  stage.parallelism = execution.parallelism;
  stage.bounded = vertex.bounded;
  stage.batch_records = options_.batch_records;
  stage.checks_views = options_.checks_views;
  stage.slot_objects = &slot_of(execution).objects;
  if (execution.kind != TaskKind::chain && unaligned()) task.set_passes_barriers_on();
  if (execution.kind == TaskKind::sender) {
    stage.name = "send";
    task.chain().add_stage(std::make_unique<UnionOperator>(edge_type(execution.edge)), stage);
    return;
  }
  if (execution.kind == TaskKind::receiver) {
    const bool reads_files =
        job_graph_.edges[static_cast<std::size_t>(execution.edge)].is_blocking();
    stage.name = reads_files ? "read" : "receive";
    task.chain().add_stage(
        reads_files ? make_shuffle_reader(execution) : make_network_receiver(execution), stage);
    return;
  }
  stage.run = options_.run;
  stage.attempt = options_.attempt;
  if (options_.restored != nullptr) stage.restored_epoch = options_.restored->checkpoint;
  stage.superseded_epoch = options_.superseded_checkpoint;
  stage.snapshot_step_bytes = options_.snapshot_step_bytes;
  if (memory_ != nullptr && memory_->limited()) {
    const std::size_t all = memory_->limit_bytes(), least = 64 << 10;
    stage.snapshot_step_bytes = std::min(stage.snapshot_step_bytes, std::max(least, all / 256));
    stage.snapshot_most_bytes = std::min(stage.snapshot_most_bytes, all / 16 / tasks_by_id_.size());
  }
  stage.leaves_memory = leaves_memory(execution);
  stage.spill_directory = options_.spill_directory;
  std::shared_ptr<MemoryAccount> memory;
  if (memory_ != nullptr) {
    memory = memory_->make_child(vertex.name + "[" + std::to_string(execution.subtask) + "]");
  }
  for (const ChainedOperator& chained : vertex.chain) {
    stage.name = chained.name;
    if (memory != nullptr) stage.memory = memory->make_child(chained.name);
    stage.uid = chained.uid;
    stage.key_groups =
        chained.key_groups > 0 ? chained.key_groups : static_cast<int>(default_key_groups);
    const StreamNode& node = stream_graph_.nodes[static_cast<std::size_t>(chained.node)];
    // Metrics of its functions know by it where they count.
    stage.user_metrics = std::make_shared<detail::UserMetrics>();
    const detail::MetricsScope scope(stage.user_metrics.get());
    stage.failures = node.failures;
    const auto listing = listings_.find(chained.uid);
    task.chain().add_stage(
        listing == listings_.end()
            ? node.factory->make()
            : dynamic_cast<const ListingSourceFactory&>(*node.factory).make_with(listing->second),
        stage);
  }
}

bool Deployment::leaves_memory(const ExecutionTask& execution) const {
  return std::any_of(execution_graph_.channels.begin(), execution_graph_.channels.end(),
                     [&](const ExecutionChannel& channel) {
                       const auto to = static_cast<std::size_t>(channel.to_task);
                       return channel.from_task == execution.id &&
                              execution_graph_.tasks[to].kind != TaskKind::chain;
                     });
}

bool Deployment::aligns_across_task_managers() const {
  if (execution_graph_.task_managers.size() < 2) return false;
  std::set<int> task_managers;
  for (const JobVertex& vertex : job_graph_.vertices) {
    const bool aligned =
        std::any_of(vertex.chain.begin(), vertex.chain.end(), [&](const ChainedOperator& chained) {
          const StreamNode& node = stream_graph_.nodes[static_cast<std::size_t>(chained.node)];
          return node.factory->make()->is_aligned();
        });
    if (!aligned) continue;
    for (const ExecutionTask& task : execution_graph_.tasks) {
      if (task.kind == TaskKind::chain && task.vertex == vertex.id) {
        task_managers.insert(task.task_manager);
      }
    }
  }
  return task_managers.size() > 1;
}

void Deployment::fail(Status status) {
  bool first = false;
  {
    const std::lock_guard lock(failure_mutex_);
    first = failure_.ok();
    if (first || closeness(status) > closeness(failure_)) failure_ = std::move(status);
  }
  if (first) cancel_tasks();
}

void Deployment::task_ended(StreamTask& task) {
  if (!task.result().ok()) fail(task.result());
  const Nanoseconds now = platform_.now();
  Nanoseconds latest = ended_at_.load(std::memory_order_relaxed);
  while (latest < now && !ended_at_.compare_exchange_weak(latest, now)) continue;
  if (running_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (options_.on_finished != nullptr) options_.on_finished->notify();
  platform_.notify_main();
}

void Deployment::stop() {
  const std::lock_guard lock(start_mutex_);
  stop_requested_ = true;
  if (started()) stop_tasks();
}

// Not the receivers: what is at the head of their chains ends when its sender does.
void Deployment::stop_tasks() {
  for_each_chain([](StreamTask& task) { task.stop(); });
}

void Deployment::cancel() {
  const std::lock_guard lock(start_mutex_);
  cancel_requested_.store(true, std::memory_order_relaxed);
  if (started()) cancel_tasks();
}

void Deployment::cancel_tasks() {
  for (auto& task : tasks_) task->cancel();
}

void Deployment::stop_executors() {
  for (auto& slot : slots_) slot->executor->stop();
  if (own_data_plane_) {
    if (own_data_plane_->plane) own_data_plane_->plane->stop();
    own_data_plane_->executor->stop();
  }
}

Status Deployment::finish() {
  HUMMER_ASSERT(finished());
  if (finish_called_) return failure_;
  finish_called_ = true;
  stop_executors();
  // Tasks see each other's end and the cancellation in any order.
  if (is_consequence(failure_) && cancel_requested_.load(std::memory_order_relaxed)) {
    failure_ = {ErrorCode::cancelled, "the job was cancelled"};
  }
  for (auto& task : tasks_) {
    Status status = task->close();
    if (failure_.ok() && !status.ok()) failure_ = std::move(status);
  }
  return failure_;
}

JobResult Deployment::metrics() const {
  JobResult result;
  result.job_name = job_graph_.job_name;
  for (const JobVertex& vertex : job_graph_.vertices) {
    VertexSummary& row = result.vertices.emplace_back();
    row.name = vertex.name;
    for (const ChainedOperator& chained : vertex.chain)
      row.operators.push_back({.name = chained.name, .metrics = {}});
    for (const ExecutionTask& execution : execution_graph_.tasks) {
      if (execution.vertex != vertex.id || execution.kind != TaskKind::chain) continue;
      row.parallelism = execution.parallelism;
      const StreamTask* task =
          started() ? tasks_by_id_[static_cast<std::size_t>(execution.id)] : nullptr;
      if (task == nullptr) continue;
      const TaskMetrics& metrics = task->metrics();
      for (std::size_t i = 0; i < row.operators.size(); ++i) {
        row.operators[i].records_in += metrics.operators[i].records_in.get();
        row.operators[i].records_out += metrics.operators[i].records_out.get();
        row.operators[i].bytes += metrics.operators[i].bytes.get();
        row.operators[i].bytes_expected += metrics.operators[i].bytes_expected.get();
        row.operators[i].records_late += metrics.operators[i].records_late.get();
        row.operators[i].records_skipped += metrics.operators[i].records_skipped.get();
      }
    }
    for (std::size_t i = 0; i < vertex.chain.size(); ++i) {
      result.records_late += row.operators[i].records_late;
      result.records_skipped += row.operators[i].records_skipped;
      const StreamNode& node = stream_graph_.nodes[static_cast<std::size_t>(vertex.chain[i].node)];
      if (node.kind == OperatorKind::source) {
        result.bytes_read += row.operators[i].bytes;
        result.records_read += row.operators[i].records_out;
      } else if (node.kind == OperatorKind::sink) {
        result.records_written += row.operators[i].records_in;
      }
    }
  }
  return result;
}

std::vector<int> Deployment::slots_in_use() const {
  std::set<int> slots;
  for (const ExecutionTask& execution : execution_graph_.tasks) {
    const StreamTask* task = tasks_by_id_[static_cast<std::size_t>(execution.id)];
    if (task == nullptr) continue;
    const TaskState state = task->metrics().state.load(std::memory_order_acquire);
    if (state != TaskState::finished) slots.insert(execution.slot);
  }
  return {slots.begin(), slots.end()};
}

Deployment::TaskCounts Deployment::task_counts(int vertex) const {
  TaskCounts counts;
  if (!started()) return counts;
  for (const ExecutionTask& execution : execution_graph_.tasks) {
    if (execution.vertex != vertex || execution.kind != TaskKind::chain) continue;
    const StreamTask* task = tasks_by_id_[static_cast<std::size_t>(execution.id)];
    if (task == nullptr) continue;
    const bool finished =
        task->metrics().state.load(std::memory_order_acquire) == TaskState::finished;
    ++(finished ? counts.finished : counts.running);
  }
  return counts;
}

}  // namespace hummer
