// Deployment: the channels between tasks, and the ends of those that cross a network.
#include <algorithm>

#include "execution/deployment.hpp"
#include "execution/deployment_slot.hpp"
#include "net/data_plane.hpp"
#include "net/network_emitter.hpp"
#include "net/network_receiver.hpp"
#include "runtime/channel_emitters.hpp"

namespace hummer {
namespace {

// Of a channel from a task to the sender that runs in its slot: nothing is gained when one of them
// is further ahead, and what it has made would leave the cache before it is sent (records of 100
// bytes: a sixth more of them with two batches under way than with eight).
constexpr std::uint32_t credits_by_turns = 2;

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

const ExecutionChannel& network_channel(const ExecutionGraph& graph, const ExecutionTask& end) {
  for (const ExecutionChannel& channel : graph.channels) {
    if (channel.form != ChannelForm::network) continue;
    if (channel.from_task == end.id || channel.to_task == end.id) return channel;
  }
  HUMMER_ASSERT(false && "a sender or receiver without a network channel");
  return graph.channels.front();
}

}  // namespace

const TypeDescriptor& Deployment::edge_type(int edge_id) const {
  const JobEdge& edge = job_graph_.edges[static_cast<std::size_t>(edge_id)];
  const int node = job_graph_.vertices[static_cast<std::size_t>(edge.from)].chain.back().node;
  Output declared;
  const StreamNode& from = stream_graph_.nodes[static_cast<std::size_t>(node)];
  from.factory->make()->declare(declared);
  if (from.failures != nullptr) from.failures->declare(declared);
  return declared.type(static_cast<std::size_t>(edge.from_port));
}

std::size_t Deployment::batch_bytes(int edge) {
  const auto [found, is_new] = batch_bytes_.try_emplace(edge, 0);
  if (is_new) found->second = edge_type(edge).size_bytes * options_.batch_records;
  return found->second;
}

bool Deployment::is_by_turns(const ExecutionChannel& channel) const {
  const auto task = [&](int id) -> const ExecutionTask& {
    return execution_graph_.tasks[static_cast<std::size_t>(id)];
  };
  const ExecutionTask& from = task(channel.from_task);
  const ExecutionTask& to = task(channel.to_task);
  return to.kind == TaskKind::sender && from.slot == to.slot;
}

std::uint32_t Deployment::credits_of(const ExecutionChannel& channel) const {
  const JobEdge& edge = job_graph_.edges[static_cast<std::size_t>(channel.edge)];
  const std::uint32_t all = options_.channel_credits;
  const std::uint32_t credits = edge.halves_credits ? (all + 1) / 2 : all;
  return is_by_turns(channel) ? std::min(credits, credits_by_turns) : credits;
}

std::unique_ptr<Operator> Deployment::make_network_receiver(const ExecutionTask& execution) {
  const ExecutionChannel& channel = network_channel(execution_graph_, execution);
  const TypeDescriptor& type = edge_type(channel.edge);
  const std::string peer = "subtask " + std::to_string(channel.upstream_subtask) + " upstream";
  return std::make_unique<NetworkReceiver>(
      data_plane_->open_receiver(key_of(channel), type, channel.network, peer), type, peer);
}

std::unique_ptr<Emitter> Deployment::make_network_emitter(const ExecutionTask& execution,
                                                          StreamTask& task) {
  const ExecutionChannel& channel = network_channel(execution_graph_, execution);
  const TypeDescriptor& type = edge_type(channel.edge);
  DataRoute route = routes_.at(channel.id);
  const JobEdge& edge = job_graph_.edges[static_cast<std::size_t>(channel.edge)];
  const std::string peer = job_graph_.vertices[static_cast<std::size_t>(edge.to)].name + "[" +
                           std::to_string(channel.downstream_subtask) + "] at " + route.address;
  auto emitter = std::make_unique<NetworkEmitter>(
      data_plane_->open_sender(std::move(route), key_of(channel), type, channel.network, peer),
      type, peer);
  emitter->attach(*slot_of(execution).executor, task.wake_event());
  network_emitters_[execution.id] = emitter.get();
  return emitter;
}

// What may be under way in channels: in those that end here, batches full of records (what records
// point to, text, is not known); in those between processes, the buffers of the end that is here.
Status Deployment::count_channels() {
  if (memory_ == nullptr || !memory_->limited()) return {};
  channels_memory_ = memory_->make_child("channels");
  std::size_t bytes = 0;
  for (const ExecutionChannel& channel : execution_graph_.channels) {
    if (channel.form == ChannelForm::network) {
      const auto credits = static_cast<std::size_t>(channel.network.credits);
      const std::size_t buffer = channel.network.buffer_size_bytes;
      if (task_here(channel.to_task) != nullptr) bytes += credits * buffer;
      if (task_here(channel.from_task) != nullptr) {
        bytes += std::min(credits, TransportOptions{}.max_unsent_buffers) * buffer;
      }
      continue;
    }
    if (task_here(channel.to_task) == nullptr) continue;
    bytes += batch_bytes(channel.edge) * credits_of(channel);
  }
  for (const ExecutionTask& execution : execution_graph_.tasks) {
    if (task_here(execution.id) != nullptr) bytes += shuffle_buffer_bytes(execution);
  }
  return channels_memory_->set_own(bytes);
}

void Deployment::make_channels() {
  channels_.resize(execution_graph_.channels.size());
  for (const ExecutionChannel& channel : execution_graph_.channels) {
    if (channel.form != ChannelForm::memory) continue;
    StreamTask* from = task_here(channel.from_task);
    StreamTask* to = task_here(channel.to_task);
    if (from == nullptr || to == nullptr) continue;
    const std::uint32_t credits = credits_of(channel);
    const std::uint32_t batches =
        is_by_turns(channel) ? credits : RingChannel::places(credits, batch_bytes(channel.edge));
    auto ring =
        std::make_unique<RingChannel>(credits, from->wake_event(), to->wake_event(), batches);
    to->add_input(ring.get(), job_graph_.edges[static_cast<std::size_t>(channel.edge)].to_input);
    channels_[static_cast<std::size_t>(channel.id)] = std::move(ring);
  }
}

void Deployment::make_emitters(const ExecutionTask& execution, StreamTask& task) {
  ChainDriver& chain = task.chain();
  if (execution.kind == TaskKind::sender) {
    chain.add_emitter(0, 0, make_network_emitter(execution, task));
    return;
  }
  const std::size_t last = chain.stage_count() - 1;
  // Functions that make keys count for the operator whose output they are called with.
  const detail::MetricsScope scope(task.metrics().operators.back().user.get());
  for (const JobEdge& edge : job_graph_.edges) {
    // A receiver hands on to the one task that it receives for.
    const bool receiver = execution.kind == TaskKind::receiver;
    if (receiver ? edge.id != execution.edge : edge.from != execution.vertex) continue;
    if (!receiver && edge.is_blocking()) {
      const auto port = static_cast<std::size_t>(edge.from_port);
      chain.add_emitter(last, port,
                        make_shuffle_emitter(execution, edge, chain.output_type(last, port)));
      continue;
    }
    const auto out = channels_out(execution_graph_, execution.id, edge.id);
    std::vector<RingChannel*> rings;
    for (const ExecutionChannel* channel : out) {
      rings.push_back(channels_[static_cast<std::size_t>(channel->id)].get());
    }
    const auto port = receiver ? 0 : static_cast<std::size_t>(edge.from_port);
    const std::string target = job_graph_.vertices[static_cast<std::size_t>(edge.to)].name;
    std::unique_ptr<Emitter> emitter;
    switch (receiver ? Routing::forward : edge.routing) {
      case Routing::forward: emitter = std::make_unique<ForwardEmitter>(rings, target); break;
      case Routing::rebalance:
        emitter = std::make_unique<RebalanceEmitter>(rings, target,
                                                     static_cast<std::size_t>(execution.subtask));
        break;
      case Routing::broadcast: emitter = std::make_unique<BroadcastEmitter>(rings, target); break;
      case Routing::hash:
        emitter = std::make_unique<HashEmitter>(
            rings, target, chain.output_type(last, port),
            partitioner_of(edge).make(static_cast<std::uint32_t>(rings.size()),
                                      static_cast<std::uint32_t>(edge.key_groups)),
            options_.batch_records);
        break;
    }
    const std::string& uid =
        job_graph_.vertices[static_cast<std::size_t>(edge.to)].chain.front().uid;
    chain.add_emitter(last, port, std::move(emitter), {uid, edge.to_input});
  }
}

}  // namespace hummer
