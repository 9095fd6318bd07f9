#include "graph/execution_graph.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace hummer {
namespace {

struct SlotAddress {
  int task_manager = 0;
  int slot = 0;
};

// Free slots in the order in which they are dealt out: the first free slot of
// every TaskManager, then the second of every one, and so on.
std::vector<SlotAddress> free_slots_in_turn(const Cluster& cluster) {
  std::vector<std::vector<int>> free(cluster.task_managers.size());
  std::size_t rounds = 0;
  for (std::size_t i = 0; i < free.size(); ++i) {
    const TaskManagerSlots& manager = cluster.task_managers[i];
    const std::set<int> occupied(manager.occupied.begin(), manager.occupied.end());
    for (int slot = 0; slot < manager.slots; ++slot) {
      if (!occupied.contains(slot)) free[i].push_back(slot);
    }
    rounds = std::max(rounds, free[i].size());
  }
  std::vector<SlotAddress> slots;
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < free.size(); ++i) {
      if (round < free[i].size()) slots.push_back({static_cast<int>(i), free[i][round]});
    }
  }
  return slots;
}

Status check_cluster(const Cluster& cluster) {
  std::set<std::string_view> ids;
  for (const TaskManagerSlots& manager : cluster.task_managers) {
    if (!ids.insert(manager.id).second) {
      return {ErrorCode::invalid_configuration,
              fmt::format("two TaskManagers have the id \"{}\"; give each its own", manager.id)};
    }
    if (manager.slots < 0) {
      return {ErrorCode::invalid_configuration,
              fmt::format("TaskManager \"{}\" has {} slots; it can't have fewer than 0", manager.id,
                          manager.slots)};
    }
  }
  return {};
}

// The run of slots that a vertex is dealt into; subtask i is in slot first + i % count.
struct SlotWindow {
  int first = 0;
  int count = 0;
};

// One window per vertex. Vertices that may share slots have the same window.
Result<std::vector<SlotWindow>> slot_windows(const JobGraph& graph,
                                             const std::vector<int>& parallelism,
                                             SlotSharing sharing, int budget) {
  // What may share slots has one key: the resource group, or the vertex itself.
  std::vector<int> key_of_vertex(graph.vertices.size());
  std::vector<int> width_of_key;
  std::map<std::string_view, int> key_of_group;
  for (const JobVertex& vertex : graph.vertices) {
    int key = static_cast<int>(width_of_key.size());
    if (sharing == SlotSharing::shared) {
      key = key_of_group.emplace(vertex.resource_group, key).first->second;
    }
    if (key == static_cast<int>(width_of_key.size())) width_of_key.push_back(0);
    width_of_key[key] = std::max(width_of_key[key], parallelism[vertex.id]);
    key_of_vertex[vertex.id] = key;
  }
  const int keys = static_cast<int>(width_of_key.size());
  if (keys > budget) {
    return Status(ErrorCode::not_enough_slots,
                  fmt::format("the job has {} resource groups, which never share a slot, but there "
                              "{} {}; start another TaskManager",
                              keys, budget == 1 ? "is" : "are",
                              budget == 1 ? "1 slot" : fmt::format("{} slots", budget)));
  }
  // Everyone gets what it needs. When slots are short (oversubscription), they
  // are dealt one by one to those that are still short.
  std::vector<SlotWindow> windows(keys);
  for (bool dealt = true; dealt;) {
    dealt = false;
    for (int key = 0; key < keys && budget > 0; ++key) {
      if (windows[key].count >= width_of_key[key]) continue;
      ++windows[key].count;
      --budget;
      dealt = true;
    }
  }
  for (int key = 1; key < keys; ++key) {
    windows[key].first = windows[key - 1].first + windows[key - 1].count;
  }
  std::vector<SlotWindow> result;
  for (const int key : key_of_vertex) result.push_back(windows[key]);
  return result;
}

// Deals out the slots beyond a TaskManager's own that an edge asks for.
class ExtraSlots {
 public:
  explicit ExtraSlots(const Cluster& cluster) : cluster_(cluster) {
    for (const TaskManagerSlots& manager : cluster.task_managers) {
      taken_.emplace_back(manager.occupied.begin(), manager.occupied.end());
    }
  }

  // The slot of the edge's next sender or receiver, which may have `count` of them.
  int next(int task_manager, int edge, TaskKind kind, int count) {
    Ring& ring = rings_[{task_manager, edge, kind}];
    const std::size_t turn = ring.turn++ % static_cast<std::size_t>(count);
    if (turn == ring.slots.size()) ring.slots.push_back(claim(task_manager));
    return ring.slots[turn];
  }

 private:
  struct Ring {
    std::vector<int> slots;
    std::size_t turn = 0;
  };

  int claim(int task_manager) {
    int slot = cluster_.task_managers[task_manager].slots;
    while (!taken_[task_manager].insert(slot).second) ++slot;
    return slot;
  }

  const Cluster& cluster_;
  std::vector<std::set<int>> taken_;
  std::map<std::tuple<int, int, TaskKind>, Ring> rings_;
};

// The transport that joins two tasks, or why the one asked for can't.
Result<Transport> resolve_transport(const NetworkSettings& settings, const TaskManagerSlots& from,
                                    const TaskManagerSlots& to) {
  const bool same_manager = from.id == to.id;
  switch (settings.transport) {
    case Transport::automatic:
      // With an interface to bind, what is asked for is a network.
      if (!settings.interface_or_address.empty() && !same_manager) return Transport::tcp;
      return same_manager ? Transport::memory : Transport::automatic;
    case Transport::memory:
      if (same_manager) return Transport::memory;
      return Status(ErrorCode::invalid_graph,
                    fmt::format("the edge asks for the memory transport, but it joins the "
                                "TaskManagers \"{}\" and \"{}\"; use automatic or tcp",
                                from.id, to.id));
    case Transport::shm:
    case Transport::tcp:
    case Transport::rdma: return settings.transport;
  }
  return Status(ErrorCode::internal, "unknown transport");
}

class Placer {
 public:
  Placer(const JobGraph& graph, const Cluster& cluster)
      : graph_(graph), cluster_(cluster), extra_slots_(cluster) {}

  void add_chains(const std::vector<SlotWindow>& windows, const std::vector<SlotAddress>& slots) {
    for (const JobVertex& vertex : graph_.vertices) {
      const SlotWindow& window = windows[vertex.id];
      const int parallelism = out_.parallelism[vertex.id];
      for (int subtask = 0; subtask < parallelism; ++subtask) {
        ExecutionTask task;
        task.vertex = vertex.id;
        task.subtask = subtask;
        task.parallelism = parallelism;
        const SlotAddress& address = slots[window.first + subtask % window.count];
        task.task_manager = address.task_manager;
        task.slot = address.slot;
        add(task);
      }
    }
  }

  Status add_edge(const JobEdge& edge) {
    if (edge.is_blocking()) {
      for (int j = 0; j < out_.parallelism[edge.to]; ++j) add_files(edge, j);
      return {};
    }
    const int upstream = out_.parallelism[edge.from];
    const int downstream = out_.parallelism[edge.to];
    for (int i = 0; i < upstream; ++i) {
      if (edge.routing == Routing::forward) {
        HUMMER_TRY(connect(edge, i, i));
        continue;
      }
      for (int j = 0; j < downstream; ++j) HUMMER_TRY(connect(edge, i, j));
    }
    return {};
  }

  ExecutionGraph finish() && {
    std::vector<std::set<int>> used(cluster_.task_managers.size());
    for (const ExecutionTask& task : out_.tasks) used[task.task_manager].insert(task.slot);
    for (std::size_t i = 0; i < used.size(); ++i) {
      const TaskManagerSlots& manager = cluster_.task_managers[i];
      PlacedTaskManager placed{manager.id, manager.host, manager.slots, {}, {}};
      for (const int slot : used[i]) {
        (slot < manager.slots ? placed.used_slots : placed.extra_slots).push_back(slot);
      }
      out_.task_managers.push_back(std::move(placed));
    }
    return std::move(out_);
  }

  ExecutionGraph& out() { return out_; }

 private:
  int add(ExecutionTask task) {
    task.id = static_cast<int>(out_.tasks.size());
    out_.tasks.push_back(task);
    return task.id;
  }

  // The task that moves `served`'s records to or from the network.
  int add_transfer(TaskKind kind, const ExecutionTask& served, const JobEdge& edge) {
    ExecutionTask task = served;
    task.kind = kind;
    task.edge = edge.id;
    const int own =
        kind == TaskKind::sender ? edge.network.sender_slots : edge.network.receiver_slots;
    if (own > 0) task.slot = extra_slots_.next(served.task_manager, edge.id, kind, own);
    return add(task);
  }

  Status connect(const JobEdge& edge, int i, int j) {
    const ExecutionTask from = out_.tasks[out_.chain_task(edge.from, i)];
    const ExecutionTask to = out_.tasks[out_.chain_task(edge.to, j)];
    Result<Transport> transport =
        resolve_transport(edge.network, cluster_.task_managers[from.task_manager],
                          cluster_.task_managers[to.task_manager]);
    if (!transport.ok()) {
      return transport.status().with_context(fmt::format(
          "'{}' -> '{}'", graph_.vertices[edge.from].name, graph_.vertices[edge.to].name));
    }
    ExecutionChannel channel;
    channel.edge = edge.id;
    channel.upstream_subtask = i;
    channel.downstream_subtask = j;
    channel.network = edge.network;
    const auto add_channel = [&](int from_task, int to_task, Transport form_of) {
      channel.id = static_cast<int>(out_.channels.size());
      channel.from_task = from_task;
      channel.to_task = to_task;
      channel.transport = form_of;
      channel.form = form_of == Transport::memory ? ChannelForm::memory : ChannelForm::network;
      out_.channels.push_back(channel);
    };
    if (*transport == Transport::memory) {
      add_channel(from.id, to.id, Transport::memory);
      return {};
    }
    const int sender = add_transfer(TaskKind::sender, from, edge);
    const int receiver = add_transfer(TaskKind::receiver, to, edge);
    out_.tasks[sender].peer = receiver;
    out_.tasks[receiver].peer = sender;
    add_channel(from.id, sender, Transport::memory);
    add_channel(sender, receiver, *transport);
    add_channel(receiver, to.id, Transport::memory);
    return {};
  }

  // What hands the records of files on to one subtask.
  void add_files(const JobEdge& edge, int j) {
    const ExecutionTask to = out_.tasks[out_.chain_task(edge.to, j)];
    ExecutionChannel channel;
    channel.id = static_cast<int>(out_.channels.size());
    channel.edge = edge.id;
    channel.downstream_subtask = j;
    channel.network = edge.network;
    channel.from_task = add_transfer(TaskKind::receiver, to, edge);
    channel.to_task = to.id;
    out_.channels.push_back(channel);
  }

  const JobGraph& graph_;
  const Cluster& cluster_;
  ExtraSlots extra_slots_;
  ExecutionGraph out_;
};

}  // namespace

int ExecutionGraph::chain_task(int vertex, int subtask) const {
  HUMMER_ASSERT(subtask >= 0 && subtask < parallelism.at(vertex));
  int first = 0;
  for (int v = 0; v < vertex; ++v) first += parallelism[v];
  return first + subtask;
}

Cluster embedded_cluster(int slots) { return {{{"embedded", "", slots, {}}}}; }

Result<ExecutionGraph> place(const JobGraph& graph, const Cluster& cluster,
                             const PlacementOptions& options) {
  HUMMER_TRY(check_cluster(cluster));
  const std::vector<SlotAddress> slots = free_slots_in_turn(cluster);

  ParallelismOptions resolving;
  resolving.sharing = options.sharing;
  resolving.free_slots = static_cast<int>(slots.size());
  resolving.default_parallelism = options.default_parallelism;
  resolving.total_slots = options.total_slots;
  resolving.allow_oversubscription = options.allow_oversubscription;
  Result<std::vector<int>> parallelism = resolve_parallelism(graph, resolving);
  if (!parallelism.ok()) return parallelism.status();

  const int budget =
      std::min(resolving.free_slots, options.total_slots.value_or(resolving.free_slots));
  Result<std::vector<SlotWindow>> windows =
      slot_windows(graph, *parallelism, options.sharing, budget);
  if (!windows.ok()) return windows.status();

  Placer placer(graph, cluster);
  placer.out().job_name = graph.job_name;
  placer.out().sharing = options.sharing;
  placer.out().planned = *parallelism;
  for (std::size_t v = 0; v < options.narrowed.size(); ++v) {
    const int narrow = options.narrowed[v];
    if (narrow == 0) continue;
    if (v >= parallelism->size() || narrow < 1 || (*parallelism)[v] % narrow != 0) {
      return Status(ErrorCode::invalid_graph,
                    fmt::format("vertex {} can't be narrowed to {} subtasks", v, narrow));
    }
    (*parallelism)[v] = narrow;
  }
  placer.out().parallelism = std::move(*parallelism);
  placer.add_chains(*windows, slots);
  for (const JobEdge& edge : graph.edges) HUMMER_TRY(placer.add_edge(edge));
  return std::move(placer).finish();
}

}  // namespace hummer
