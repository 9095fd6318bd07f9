#include "graph/execution_graph.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "graph/fingerprint.hpp"
#include "graph/graph_builder_for_test.hpp"

namespace hummer::execution_graph_test {
namespace {

Cluster cluster_of(std::vector<int> slots) {
  Cluster cluster;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    cluster.task_managers.push_back({"tm" + std::to_string(i), "", slots[i], {}});
  }
  return cluster;
}

JobGraph job_of(const GraphBuilder& b) {
  Result<JobGraph> job = fuse(b.graph);
  EXPECT_TRUE(job.ok()) << job.status().to_string();
  return std::move(job).value();
}

ExecutionGraph placed(const JobGraph& job, const Cluster& cluster,
                      const PlacementOptions& options = {}) {
  Result<ExecutionGraph> graph = place(job, cluster, options);
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  return graph.ok() ? std::move(graph).value() : ExecutionGraph{};
}

std::size_t count_tasks(const ExecutionGraph& graph, TaskKind kind) {
  return std::count_if(graph.tasks.begin(), graph.tasks.end(),
                       [&](const auto& task) { return task.kind == kind; });
}

using Address = std::pair<int, int>;  // TaskManager, slot
Address address(const ExecutionTask& task) { return {task.task_manager, task.slot}; }

TEST(Place, EmbeddedUsesMemoryChannelsOnly) {
  const ExecutionGraph graph =
      placed(job_of(word_count()), embedded_cluster(2), {.default_parallelism = 2});
  EXPECT_EQ(graph.parallelism, (std::vector<int>{2, 2}));
  ASSERT_EQ(graph.tasks.size(), 4u);
  EXPECT_EQ(graph.channels.size(), 4u);
  for (const ExecutionChannel& channel : graph.channels) {
    EXPECT_EQ(channel.form, ChannelForm::memory);
  }
  // partial[i] and merge[i] share slot i.
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(address(graph.tasks[graph.chain_task(0, i)]), Address(0, i));
    EXPECT_EQ(address(graph.tasks[graph.chain_task(1, i)]), Address(0, i));
  }
}

TEST(Place, BetweenTaskManagersASenderAndAReceiverStandIn) {
  const ExecutionGraph graph = placed(job_of(word_count()), cluster_of({1, 1}));
  EXPECT_EQ(count_tasks(graph, TaskKind::chain), 4u);
  EXPECT_EQ(count_tasks(graph, TaskKind::sender), 2u);
  EXPECT_EQ(count_tasks(graph, TaskKind::receiver), 2u);
  // Two local pairs; two remote pairs of three channels each.
  ASSERT_EQ(graph.channels.size(), 2u + 2u * 3u);
  // Pair 0 → 1 is the second: after the local pair 0 → 0.
  const ExecutionChannel& out = graph.channels[1];
  const ExecutionChannel& wire = graph.channels[2];
  const ExecutionChannel& in = graph.channels[3];
  EXPECT_EQ(out.from_task, graph.chain_task(0, 0));
  EXPECT_EQ(out.form, ChannelForm::memory);
  EXPECT_EQ(wire.from_task, out.to_task);
  EXPECT_EQ(wire.form, ChannelForm::network);
  EXPECT_EQ(wire.transport, Transport::automatic);  // shm or tcp
  EXPECT_EQ(in.from_task, wire.to_task);
  EXPECT_EQ(in.to_task, graph.chain_task(1, 1));
  EXPECT_EQ(in.form, ChannelForm::memory);
  const ExecutionTask& sender = graph.tasks[wire.from_task];
  const ExecutionTask& receiver = graph.tasks[wire.to_task];
  EXPECT_EQ(sender.peer, receiver.id);
  EXPECT_EQ(receiver.peer, sender.id);
  EXPECT_EQ(address(sender), Address(0, 0));
  EXPECT_EQ(address(receiver), Address(1, 0));
}

TEST(Place, ATransportThatIsAskedForIsUsedOnOneTaskManagerToo) {
  GraphBuilder b = word_count();
  b.graph.edges[2].network.transport = Transport::tcp;
  const ExecutionGraph graph = placed(job_of(b), embedded_cluster(2));
  EXPECT_EQ(count_tasks(graph, TaskKind::sender), 4u);
  EXPECT_EQ(std::count_if(graph.channels.begin(), graph.channels.end(),
                          [](const auto& c) { return c.form == ChannelForm::network; }),
            4);
}

TEST(Place, TransportsThatCannotConnectAreRefused) {
  GraphBuilder b = word_count();
  b.graph.edges[2].network.transport = Transport::memory;
  Status status = place(job_of(b), cluster_of({1, 1})).status();
  EXPECT_EQ(status.code(), ErrorCode::invalid_graph);
  EXPECT_EQ(status.message(),
            "'from_file → flat_map → partial_count' -> 'count → print': the edge asks for the "
            "memory transport, but it joins the TaskManagers \"tm0\" and \"tm1\"; use automatic "
            "or tcp");
}

TEST(Place, OwnSlotsComeAfterTheSharedOnesInTurn) {
  GraphBuilder b = word_count();
  b.graph.edges[2].network.sender_slots = 2;
  b.graph.edges[2].network.receiver_slots = 1;
  const ExecutionGraph graph = placed(job_of(b), cluster_of({3, 3}));
  std::map<Address, int> senders;
  std::map<Address, int> receivers;
  for (const ExecutionTask& task : graph.tasks) {
    if (task.kind == TaskKind::sender) ++senders[address(task)];
    if (task.kind == TaskKind::receiver) ++receivers[address(task)];
  }
  // 6 × 6 pairs, half of them between the TaskManagers: 9 senders on each.
  EXPECT_EQ(senders, (std::map<Address, int>{{{0, 3}, 5}, {{0, 4}, 4}, {{1, 4}, 5}, {{1, 5}, 4}}));
  EXPECT_EQ(receivers, (std::map<Address, int>{{{0, 5}, 9}, {{1, 3}, 9}}));
  EXPECT_EQ(graph.task_managers[0].used_slots, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(graph.task_managers[0].extra_slots, (std::vector<int>{3, 4, 5}));
}

TEST(Place, OccupiedSlotsAreLeftAlone) {
  Cluster cluster = cluster_of({3, 2});
  cluster.task_managers[0].occupied = {0, 3};
  cluster.task_managers[1].occupied = {1};
  GraphBuilder b = word_count();
  b.graph.edges[2].network.sender_slots = 1;
  const ExecutionGraph graph = placed(job_of(b), cluster);
  EXPECT_EQ(graph.parallelism, (std::vector<int>{3, 3}));
  EXPECT_EQ(graph.task_managers[0].used_slots, (std::vector<int>{1, 2}));
  EXPECT_EQ(graph.task_managers[0].extra_slots, (std::vector<int>{4}));
  EXPECT_EQ(graph.task_managers[1].used_slots, (std::vector<int>{0}));
  EXPECT_EQ(graph.task_managers[1].extra_slots, (std::vector<int>{2}));
}

TEST(Place, OversubscriptionWrapsWithinTheGroup) {
  GraphBuilder b = word_count();
  for (StreamNode& node : b.graph.nodes) node.parallelism = 4;
  b.node(4).resource_group = b.node(5).resource_group = "state";
  const JobGraph job = job_of(b);
  EXPECT_EQ(place(job, cluster_of({3})).status().code(), ErrorCode::not_enough_slots);
  const ExecutionGraph graph = placed(job, cluster_of({3}), {.allow_oversubscription = true});
  std::map<int, std::set<int>> slots_of_vertex;
  for (const ExecutionTask& task : graph.tasks) slots_of_vertex[task.vertex].insert(task.slot);
  EXPECT_EQ(slots_of_vertex[0], (std::set<int>{0, 1}));
  EXPECT_EQ(slots_of_vertex[1], (std::set<int>{2}));
  EXPECT_EQ(place(job, cluster_of({1}), {.allow_oversubscription = true}).status().message(),
            "the job has 2 resource groups, which never share a slot, but there is 1 slot; start "
            "another TaskManager");
}

TEST(Place, ClustersThatMakeNoSenseAreRefused) {
  const JobGraph job = job_of(word_count());
  EXPECT_EQ(place(job, Cluster{}).status().code(), ErrorCode::not_enough_slots);
  EXPECT_EQ(place(job, cluster_of({1, -1})).status().code(), ErrorCode::invalid_configuration);
  Cluster twins = cluster_of({1, 1});
  twins.task_managers[1].id = "tm0";
  EXPECT_EQ(place(job, twins).status().code(), ErrorCode::invalid_configuration);
}

// --- Properties, over many small jobs and clusters -----------------------------------------

// A deterministic sequence: the cases are the same on every run.
class Sequence {
 public:
  explicit Sequence(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15 + 1) {}
  int below(int bound) {
    state_ = state_ * 6364136223846793005 + 1442695040888963407;
    return static_cast<int>((state_ >> 33) % static_cast<std::uint64_t>(bound));
  }

 private:
  std::uint64_t state_;
};

GraphBuilder any_job(Sequence& any) {
  constexpr Routing routings[] = {Routing::forward, Routing::hash, Routing::rebalance,
                                  Routing::broadcast};
  constexpr Transport transports[] = {Transport::automatic, Transport::automatic, Transport::tcp};
  GraphBuilder b;
  b.source("source");
  const int operators = 1 + any.below(5);
  for (int i = 0; i < operators; ++i) {
    StreamNode& node = b.op("op" + std::to_string(i));
    const int id = node.id;
    if (any.below(4) == 0) node.resource_group = "other";
    if (any.below(3) == 0) node.max_parallelism = 1 + any.below(4);
    const int inputs = 1 + any.below(2);
    for (int input = 0; input < inputs; ++input) {
      StreamEdge& edge = b.edge(1 + any.below(id - 1), id, routings[any.below(4)]);
      edge.network.transport = transports[any.below(3)];
      edge.network.sender_slots = any.below(3);
      edge.network.receiver_slots = any.below(3);
    }
  }
  return b;
}

void check_chains(const JobGraph& job, const ExecutionGraph& graph, const Cluster& cluster) {
  std::set<std::pair<int, int>> subtasks;
  std::map<std::pair<int, Address>, int> of_vertex_in_slot;
  std::map<Address, std::set<std::string>> groups_in_slot;
  for (const ExecutionTask& task : graph.tasks) {
    ASSERT_EQ(task.id, &task - graph.tasks.data());
    if (task.kind != TaskKind::chain) continue;
    EXPECT_TRUE(subtasks.insert({task.vertex, task.subtask}).second) << "placed twice";
    EXPECT_EQ(task.id, graph.chain_task(task.vertex, task.subtask));
    EXPECT_LT(task.slot, cluster.task_managers[task.task_manager].slots);
    EXPECT_EQ(++of_vertex_in_slot[std::make_pair(task.vertex, address(task))], 1);
    groups_in_slot[address(task)].insert(job.vertices[task.vertex].resource_group);
  }
  std::size_t expected = 0;
  for (const JobVertex& vertex : job.vertices) {
    const int parallelism = graph.parallelism[vertex.id];
    EXPECT_GE(parallelism, vertex.range.min);
    EXPECT_LE(parallelism, vertex.range.max);
    expected += static_cast<std::size_t>(parallelism);
  }
  EXPECT_EQ(subtasks.size(), expected);
  for (const auto& [slot, groups] : groups_in_slot) EXPECT_EQ(groups.size(), 1u);
}

void check_channels(const JobGraph& job, const ExecutionGraph& graph) {
  // Walk from each upstream subtask along its channels: the pairs reached are those of the routing.
  std::map<int, std::vector<const ExecutionChannel*>> into;
  std::map<int, std::vector<const ExecutionChannel*>> out_of;
  for (const ExecutionChannel& channel : graph.channels) {
    const ExecutionTask& from = graph.tasks[channel.from_task];
    const ExecutionTask& to = graph.tasks[channel.to_task];
    into[to.id].push_back(&channel);
    out_of[from.id].push_back(&channel);
    if (channel.form == ChannelForm::memory) {
      EXPECT_EQ(from.task_manager, to.task_manager);
      EXPECT_EQ(channel.transport, Transport::memory);
    } else {
      EXPECT_EQ(from.kind, TaskKind::sender);
      EXPECT_EQ(to.kind, TaskKind::receiver);
    }
  }
  for (const ExecutionTask& task : graph.tasks) {
    if (task.kind == TaskKind::chain) continue;
    EXPECT_EQ(into[task.id].size(), 1u);
    EXPECT_EQ(out_of[task.id].size(), 1u);
  }
  for (const JobEdge& edge : job.edges) {
    std::multiset<std::pair<int, int>> reached;
    for (int i = 0; i < graph.parallelism[edge.from]; ++i) {
      for (const ExecutionChannel* channel : out_of[graph.chain_task(edge.from, i)]) {
        if (channel->edge != edge.id) continue;
        const ExecutionTask* at = &graph.tasks[channel->to_task];
        while (at->kind != TaskKind::chain) at = &graph.tasks[out_of[at->id].front()->to_task];
        EXPECT_EQ(at->vertex, edge.to);
        EXPECT_EQ(at->subtask, channel->downstream_subtask);
        EXPECT_EQ(i, channel->upstream_subtask);
        reached.insert({i, at->subtask});
      }
    }
    std::multiset<std::pair<int, int>> wanted;
    for (int i = 0; i < graph.parallelism[edge.from]; ++i) {
      for (int j = 0; j < graph.parallelism[edge.to]; ++j) {
        if (edge.routing != Routing::forward || i == j) wanted.insert({i, j});
      }
    }
    EXPECT_EQ(reached, wanted) << "edge " << edge.id;
  }
}

// A vertex uses as many TaskManagers as its subtasks could: no TaskManager has
// two while another, with a slot that nobody uses, has none.
void check_spread(const JobGraph& job, const ExecutionGraph& graph) {
  std::vector<std::set<int>> used(graph.task_managers.size());
  for (const ExecutionTask& task : graph.tasks) used[task.task_manager].insert(task.slot);
  for (const JobVertex& vertex : job.vertices) {
    std::map<int, int> count;
    for (const ExecutionTask& task : graph.tasks) {
      if (task.kind == TaskKind::chain && task.vertex == vertex.id) ++count[task.task_manager];
    }
    const bool doubled =
        std::any_of(count.begin(), count.end(), [](const auto& entry) { return entry.second > 1; });
    for (std::size_t i = 0; doubled && i < graph.task_managers.size(); ++i) {
      if (count.contains(static_cast<int>(i))) continue;
      EXPECT_GE(graph.task_managers[i].used_slots.size(),
                static_cast<std::size_t>(graph.task_managers[i].slots))
          << vertex.name << " crowds while tm" << i << " has room";
    }
  }
}

TEST(PlaceProperties, HoldForManyJobsAndClusters) {
  int accepted = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(seed);
    Sequence any(seed);
    const GraphBuilder b = any_job(any);
    const JobGraph job = job_of(b);
    Cluster cluster = cluster_of({});
    const int managers = 1 + any.below(4);
    for (int i = 0; i < managers; ++i) {
      cluster.task_managers.push_back({"tm" + std::to_string(i), "", 1 + any.below(6), {}});
    }
    PlacementOptions options;
    options.sharing = any.below(2) == 0 ? SlotSharing::shared : SlotSharing::exclusive;
    if (any.below(2) == 0) options.default_parallelism = 1 + any.below(4);
    const Result<ExecutionGraph> graph = place(job, cluster, options);
    if (!graph.ok()) {
      EXPECT_EQ(graph.status().code(), ErrorCode::not_enough_slots) << graph.status().message();
      continue;
    }
    ++accepted;
    check_chains(job, *graph, cluster);
    check_channels(job, *graph);
    check_spread(job, *graph);
    EXPECT_EQ(*graph, *place(job_of(b), cluster, options));
    if (options.sharing == SlotSharing::shared) {
      for (const ExecutionTask& task : graph->tasks) {
        if (task.kind != TaskKind::chain) continue;
        for (const JobVertex& other : job.vertices) {
          if (other.resource_group != job.vertices[task.vertex].resource_group) continue;
          if (task.subtask >= graph->parallelism[other.id]) continue;
          const int beside = graph->chain_task(other.id, task.subtask);
          EXPECT_EQ(address(task), address(graph->tasks[beside]));
        }
      }
    }
  }
  EXPECT_GT(accepted, 200);
}

// Each subtask behind has one task that reads for it, wherever what it reads is.
TEST(Place, ABlockingEdgeHasNoChannelsButFromItsReaders) {
  GraphBuilder b = word_count();
  b.graph.edges[2].network.exchange = ExchangeMode::blocking;
  const JobGraph job = job_of(b);
  const ExecutionGraph graph = placed(job, cluster_of({1, 1}));
  EXPECT_EQ(count_tasks(graph, TaskKind::chain), 4u);
  EXPECT_EQ(count_tasks(graph, TaskKind::sender), 0u);
  EXPECT_EQ(count_tasks(graph, TaskKind::receiver), 2u);
  ASSERT_EQ(graph.channels.size(), 2u);
  for (const ExecutionChannel& channel : graph.channels) {
    EXPECT_EQ(channel.form, ChannelForm::memory);
    const ExecutionTask& reader = graph.tasks[static_cast<std::size_t>(channel.from_task)];
    const ExecutionTask& task = graph.tasks[static_cast<std::size_t>(channel.to_task)];
    EXPECT_EQ(reader.kind, TaskKind::receiver);
    EXPECT_EQ(address(reader), address(task));
    EXPECT_EQ(task.subtask, channel.downstream_subtask);
  }
}

TEST(Place, ANarrowedVertexLeavesTheOthersWhereTheyAre) {
  GraphBuilder b = word_count();
  b.graph.edges[2].network.exchange = ExchangeMode::blocking;
  b.sink("apart").resource_group = "apart";
  b.edge(1, 6, Routing::rebalance);
  const JobGraph job = job_of(b);
  const Cluster cluster = cluster_of({4, 4});
  const ExecutionGraph wide = placed(job, cluster, {.default_parallelism = 4});
  std::vector<int> fewer(job.vertices.size(), 0);
  const auto counts = std::find_if(job.vertices.begin(), job.vertices.end(),
                                   [](const JobVertex& vertex) { return vertex.uid == "counts"; });
  fewer[static_cast<std::size_t>(counts->id)] = 2;
  const ExecutionGraph narrow = placed(job, cluster, {.default_parallelism = 4, .narrowed = fewer});
  EXPECT_EQ(narrow.planned, wide.parallelism);
  EXPECT_EQ(wide.planned, wide.parallelism);
  for (const JobVertex& vertex : job.vertices) {
    const int count = narrow.parallelism[static_cast<std::size_t>(vertex.id)];
    EXPECT_EQ(count, vertex.id == counts->id ? 2 : 4);
    for (int i = 0; i < count; ++i) {
      const auto of = [&](const ExecutionGraph& graph) {
        return address(graph.tasks[static_cast<std::size_t>(graph.chain_task(vertex.id, i))]);
      };
      EXPECT_EQ(of(narrow), of(wide));
    }
  }
  EXPECT_NE(execution_hash(narrow), execution_hash(wide));
  fewer[static_cast<std::size_t>(counts->id)] = 3;
  EXPECT_FALSE(place(job, cluster, {.default_parallelism = 4, .narrowed = fewer}).ok());
}

}  // namespace
}  // namespace hummer::execution_graph_test
