// ExecutionGraph: every subtask with its slot, every channel with its form.
//
// Placement walks the free slots round-robin over the TaskManagers (first free
// slot of each, then the second of each, …), so replicas of one vertex are on
// different TaskManagers where possible. With slot sharing subtask i of every
// vertex of a resource group is in the group's i-th slot: the two halves of an
// aggregate (partial, merge) are co-located by construction.
//
// A JobEdge between subtasks becomes one memory channel, or, where the ends are
// on different TaskManagers or the edge asks for a transport, a memory channel
// to a sender task, a network channel, a receiver task and a memory channel
// (Hummer, section 3.3). There is one sender and one receiver per connected pair
// of subtasks, so order is kept per pair. They run in the slot of the task that
// they serve or, when the edge's settings say so, in extra slots: at most N per
// TaskManager and edge, numbered after the TaskManager's own, taken in turn.
//
// A blocking JobEdge becomes a receiver task and a memory channel for each subtask behind it: what
// is ahead writes files, which that task reads, wherever they are (shuffle/shuffle_reader.hpp).
//
// Thread: plain data, a pure function; equal input gives an equal graph, also in
// order. Errors: `not_enough_slots`; `invalid_graph` for a transport that cannot
// connect its two ends; those of resolve_parallelism.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/parallelism.hpp"

namespace hummer {

struct TaskManagerSlots {
  std::string id;    // unique in the cluster
  std::string host;  // equal on TaskManagers that can share memory; empty: its own
  int slots = 1;
  std::vector<int> occupied;  // slots (also extra ones) that other jobs hold
};

struct Cluster {
  std::vector<TaskManagerSlots> task_managers;
};

struct PlacementOptions {
  SlotSharing sharing = SlotSharing::shared;
  std::optional<int> default_parallelism = std::nullopt;
  std::optional<int> total_slots = std::nullopt;
  // When slots are short, let a slot host several subtasks of one vertex instead
  // of refusing the job. Only with shared slots, and never across groups.
  bool allow_oversubscription = false;
  // By vertex, 0: as it is resolved; empty: all are. See narrowed() in graph/parallelism.hpp. Slots
  // are dealt as if no vertex were.
  std::vector<int> narrowed = {};
};

enum class TaskKind { chain, sender, receiver };

struct ExecutionTask {
  int id = 0;  // its index in ExecutionGraph::tasks; chains first, by vertex and subtask
  TaskKind kind = TaskKind::chain;
  int vertex = 0;   // the vertex that it runs, sends for or receives for
  int subtask = 0;  // 0 .. parallelism-1
  int parallelism = 1;
  int task_manager = 0;  // index into ExecutionGraph::task_managers
  int slot = 0;
  int edge = -1;  // JobEdge of a sender or receiver
  int peer = -1;  // task id at the other end of the network channel; of a blocking edge: none

  friend bool operator==(const ExecutionTask&, const ExecutionTask&) = default;
};

enum class ChannelForm { memory, network };

struct ExecutionChannel {
  int id = 0;         // its index in ExecutionGraph::channels
  int from_task = 0;  // task ids
  int to_task = 0;
  int edge = 0;                // JobEdge: routing, port, input, key groups
  int upstream_subtask = 0;    // the pair of subtasks that it connects, also when it
  int downstream_subtask = 0;  // leads to or from a sender or receiver
  ChannelForm form = ChannelForm::memory;
  // Resolved; automatic: shm, rdma or tcp, as the two TaskManagers agree when they connect.
  Transport transport = Transport::memory;
  NetworkSettings network;

  friend bool operator==(const ExecutionChannel&, const ExecutionChannel&) = default;
};

struct PlacedTaskManager {
  std::string id;
  std::string host;
  int slots = 0;                 // of its own
  std::vector<int> used_slots;   // that this job uses, ascending
  std::vector<int> extra_slots;  // for senders and receivers, ascending, each >= slots

  friend bool operator==(const PlacedTaskManager&, const PlacedTaskManager&) = default;
};

struct ExecutionGraph {
  std::string job_name;
  SlotSharing sharing = SlotSharing::shared;
  std::vector<int> parallelism;  // resolved, by vertex id
  std::vector<int> planned;      // the same before any vertex was narrowed
  std::vector<PlacedTaskManager> task_managers;
  std::vector<ExecutionTask> tasks;
  std::vector<ExecutionChannel> channels;

  // Task id of a vertex's subtask.
  int chain_task(int vertex, int subtask) const;

  friend bool operator==(const ExecutionGraph&, const ExecutionGraph&) = default;
};

constexpr std::string_view to_string(TaskKind kind) {
  switch (kind) {
    case TaskKind::chain: return "chain";
    case TaskKind::sender: return "sender";
    case TaskKind::receiver: return "receiver";
  }
  return "unknown";
}

constexpr std::string_view to_string(ChannelForm form) {
  return form == ChannelForm::memory ? "memory" : "network";
}

// One TaskManager in this process: what embedded mode places on.
Cluster embedded_cluster(int slots);

Result<ExecutionGraph> place(const JobGraph& graph, const Cluster& cluster,
                             const PlacementOptions& options = {});

}  // namespace hummer
