#include "control/task_manager/deployment.hpp"

#include <algorithm>

#include "runtime/channel_emitters.hpp"

namespace hummer {

struct Deployment::Slot {
  int number;
  std::unique_ptr<Executor> executor;
  std::atomic<const TaskFigures*> turn{nullptr};
};

struct Deployment::Network {};

namespace {

// Upstream order of the channels of an edge is by downstream subtask, so that a
// partitioner's target index is that subtask.
std::vector<const ExecutionChannel*> channels_out(const ExecutionGraph& graph, int task, int edge) {
  std::vector<const ExecutionChannel*> found;
  for (const ExecutionChannel& channel : graph.channels) {
    if (channel.from_task == task && channel.edge == edge) found.push_back(&channel);
  }
  std::sort(found.begin(), found.end(), [](const auto* a, const auto* b) {
    return a->downstream_subtask < b->downstream_subtask;
  });
  return found;
}

// A failure that only follows from another task's.
bool is_consequence(const Status& status) {
  return status.code() == ErrorCode::peer_gone || status.code() == ErrorCode::cancelled;
}

}  // namespace

Deployment::Deployment(Platform& platform, StreamGraph stream_graph, JobGraph job_graph,
                       ExecutionGraph execution_graph, DeploymentOptions options)
    : platform_(platform),
      stream_graph_(std::move(stream_graph)),
      job_graph_(std::move(job_graph)),
      execution_graph_(std::move(execution_graph)),
      options_(options) {}

Deployment::~Deployment() {
  cancel();
  for (auto& slot : slots_) slot->executor->stop();
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
  slot->executor = platform_.make_executor(
      {.name = "slot-" + std::to_string(task.slot),
       .core = options_.pin_slots ? task.slot % platform_.processors() : -1,
       .spin_ns = options_.spin_ns});
  slots_.push_back(std::move(slot));
  return *slots_.back();
}

Status Deployment::start() {
  HUMMER_TRY(make_tasks());
  make_channels();
  for (const ExecutionTask& execution : execution_graph_.tasks) {
    HUMMER_TRY(make_emitters(execution, *tasks_[static_cast<std::size_t>(execution.id)]));
  }
  running_.store(tasks_.size(), std::memory_order_release);
  for (const ExecutionTask& execution : execution_graph_.tasks) {
    StreamTask& task = *tasks_[static_cast<std::size_t>(execution.id)];
    Slot& slot = slot_of(execution);
    task.figures().turn = &slot.turn;
    task.set_on_finished([this](StreamTask& ended) { task_ended(ended); });
    slot.executor->spawn(task.invoke());
  }
  return {};
}

Status Deployment::make_tasks() {
  for (const ExecutionTask& execution : execution_graph_.tasks) {
    const JobVertex& vertex = job_graph_.vertices[static_cast<std::size_t>(execution.vertex)];
    Slot& slot = slot_of(execution);
    std::string name = vertex.name + "[" + std::to_string(execution.subtask) + "]";
    if (execution.kind != TaskKind::chain) name = std::string(to_string(execution.kind)) + " " + name;
    tasks_.push_back(std::make_unique<StreamTask>(platform_, std::move(name),
                                                  "slot " + std::to_string(slot.number)));
    HUMMER_TRY(make_chain(execution, *tasks_.back()));
  }
  return {};
}

Status Deployment::make_chain(const ExecutionTask& execution, StreamTask& task) {
  if (execution.kind != TaskKind::chain) {
    return {ErrorCode::invalid_graph, "network edges are not wired yet"};
  }
  const JobVertex& vertex = job_graph_.vertices[static_cast<std::size_t>(execution.vertex)];
  for (const ChainedOperator& chained : vertex.chain) {
    const StreamNode* node = nullptr;
    for (const StreamNode& candidate : stream_graph_.nodes) {
      if (candidate.id == chained.node) node = &candidate;
    }
    StageOptions stage;
    stage.name = chained.name;
    stage.subtask = execution.subtask;
    stage.parallelism = execution.parallelism;
    stage.key_groups = chained.key_groups > 0 ? chained.key_groups : static_cast<int>(default_key_groups);
    stage.bounded = vertex.bounded;
    stage.batch_records = options_.batch_records;
    task.chain().add_stage(node->factory->make(), stage);
  }
  return {};
}

void Deployment::make_channels() {
  channels_.resize(execution_graph_.channels.size());
  for (const ExecutionChannel& channel : execution_graph_.channels) {
    if (channel.form != ChannelForm::memory) continue;
    StreamTask& from = *tasks_[static_cast<std::size_t>(channel.from_task)];
    StreamTask& to = *tasks_[static_cast<std::size_t>(channel.to_task)];
    auto ring = std::make_unique<RingChannel>(options_.channel_credits, from.wake_event(), to.wake_event());
    to.add_input(ring.get());
    channels_[static_cast<std::size_t>(channel.id)] = std::move(ring);
  }
}

Status Deployment::make_emitters(const ExecutionTask& execution, StreamTask& task) {
  ChainDriver& chain = task.chain();
  const std::size_t last = chain.stage_count() - 1;
  for (const JobEdge& edge : job_graph_.edges) {
    if (edge.from != execution.vertex) continue;
    const auto out = channels_out(execution_graph_, execution.id, edge.id);
    std::vector<RingChannel*> rings;
    for (const ExecutionChannel* channel : out) {
      rings.push_back(channels_[static_cast<std::size_t>(channel->id)].get());
    }
    const auto port = static_cast<std::size_t>(edge.from_port);
    const std::string target = job_graph_.vertices[static_cast<std::size_t>(edge.to)].name;
    std::unique_ptr<Emitter> emitter;
    switch (edge.routing) {
      case Routing::forward: emitter = std::make_unique<ForwardEmitter>(rings, target); break;
      case Routing::rebalance: emitter = std::make_unique<RebalanceEmitter>(rings, target); break;
      case Routing::broadcast: emitter = std::make_unique<BroadcastEmitter>(rings, target); break;
      case Routing::hash: {
        const PartitionerFactory* factory = nullptr;
        const int from_node = job_graph_.vertices[static_cast<std::size_t>(edge.from)].chain.back().node;
        const int to_node = job_graph_.vertices[static_cast<std::size_t>(edge.to)].chain.front().node;
        for (const StreamEdge& written : stream_graph_.edges) {
          if (written.from == from_node && written.to == to_node && written.from_port == edge.from_port) {
            factory = written.partitioner.get();
          }
        }
        HUMMER_ASSERT(factory != nullptr);
        emitter = std::make_unique<HashEmitter>(
            rings, target, chain.output_type(last, port),
            factory->make(static_cast<std::uint32_t>(rings.size()),
                          static_cast<std::uint32_t>(edge.key_groups)),
            options_.batch_records);
        break;
      }
    }
    chain.add_emitter(last, port, std::move(emitter));
  }
  return {};
}

void Deployment::task_ended(StreamTask& task) {
  if (!task.result().ok()) {
    bool first = false;
    {
      const std::lock_guard lock(failure_mutex_);
      first = failure_.ok();
      if (first || (is_consequence(failure_) && !is_consequence(task.result()))) failure_ = task.result();
    }
    if (first) cancel_tasks();
  }
  if (running_.fetch_sub(1, std::memory_order_acq_rel) == 1) platform_.notify_main();
}

void Deployment::stop() {
  for (auto& task : tasks_) task->stop();
}

void Deployment::cancel() {
  cancel_requested_.store(true, std::memory_order_relaxed);
  cancel_tasks();
}

void Deployment::cancel_tasks() {
  for (auto& task : tasks_) task->cancel();
}

Status Deployment::finish() {
  HUMMER_ASSERT(finished());
  if (finish_called_) return failure_;
  finish_called_ = true;
  for (auto& slot : slots_) slot->executor->stop();
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

JobResult Deployment::figures() const {
  JobResult result;
  result.job_name = job_graph_.job_name;
  for (const JobVertex& vertex : job_graph_.vertices) {
    VertexResult& row = result.vertices.emplace_back();
    row.name = vertex.name;
    for (const ChainedOperator& chained : vertex.chain) row.operators.push_back({.name = chained.name});
    for (const ExecutionTask& execution : execution_graph_.tasks) {
      if (execution.vertex != vertex.id || execution.kind != TaskKind::chain) continue;
      row.parallelism = execution.parallelism;
      const TaskFigures& figures = tasks_[static_cast<std::size_t>(execution.id)]->figures();
      for (std::size_t i = 0; i < row.operators.size(); ++i) {
        row.operators[i].records_in += figures.operators[i].records_in.get();
        row.operators[i].records_out += figures.operators[i].records_out.get();
        row.operators[i].bytes += figures.operators[i].bytes.get();
      }
    }
    for (std::size_t i = 0; i < vertex.chain.size(); ++i) {
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

}  // namespace hummer
