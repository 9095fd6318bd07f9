#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "graph/explain_forms.hpp"
#include "graph/regions.hpp"

namespace hummer {
namespace {

std::string counted(std::size_t count, std::string_view noun) {
  // The only noun here that takes more than an s.
  if (count != 1 && noun == "vertex") return fmt::format("{} vertices", count);
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// The name of a job's author, on one line.
std::string one_line(std::string_view name) {
  std::string line(name);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return line;
}

std::string group_text(const std::string& group) {
  return group.empty() ? "" : ", resource group " + one_line(group);
}

class TextForm {
 public:
  explicit TextForm(const ExplainedJob& explained) : explained_(explained) {}

  std::string write() && {
    line("Job '{}', fingerprint {:016x}", one_line(job().job_name), job().fingerprint);
    line("");
    write_stream_graph();
    line("");
    write_job_graph();
    line("");
    write_execution_graph();
    return std::move(text_);
  }

 private:
  template <typename... Arguments>
  void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
    text_ += '\n';
  }

  const JobGraph& job() const { return explained_.job; }

  std::string node_name(int id) const {
    const StreamNode* node = find_node(explained_.stream, id);
    if (node == nullptr) return fmt::format("node {}", id);
    return fmt::format("{} {}", id, one_line(node->name));
  }

  void write_stream_graph() {
    const StreamGraph& stream = explained_.stream;
    line("Stream graph, as written: {}, {}", counted(stream.nodes.size(), "operator"),
         counted(stream.edges.size(), "edge"));
    for (const StreamNode& node : stream.nodes) {
      std::string detail(to_string(node.kind));
      if (node.kind == OperatorKind::source) detail += node.bounded ? ", bounded" : ", unbounded";
      if (!node.replayable) detail += ", cannot be replayed";
      if (node.stateful) detail += fmt::format(", stateful, {}", groups(key_groups_of(node)));
      if (node.parallelism) detail += fmt::format(", parallelism {}", *node.parallelism);
      if (node.min_parallelism) detail += fmt::format(", at least {}", *node.min_parallelism);
      if (node.max_parallelism) detail += fmt::format(", at most {}", *node.max_parallelism);
      detail += group_text(node.resource_group);
      if (!node.uid.empty()) detail += fmt::format(", uid {}", one_line(node.uid));
      if (!node.output_type.empty()) {
        detail += fmt::format(", gives {}", one_line(node.output_type));
      }
      if (!node.strategy.empty()) detail += "; pre-aggregation " + node.strategy;
      line("  {}: {}", node_name(node.id), detail);
    }
    for (std::size_t i = 0; i < stream.edges.size(); ++i) {
      const StreamEdge& edge = stream.edges[i];
      line("  {} → {}: {}{}, {}", node_name(edge.from), node_name(edge.to), to_string(edge.routing),
           port(edge.from_port), fusion_text(job().decisions[i]));
    }
  }

  void write_job_graph() {
    line("Job graph, fused: {}, {}", counted(job().vertices.size(), "vertex"),
         counted(job().edges.size(), "edge"));
    for (const JobVertex& vertex : job().vertices) {
      line("  v{} {}: parallelism {}{}, uid {}", vertex.id, one_line(vertex.name),
           declared_parallelism_text(vertex), group_text(vertex.resource_group),
           one_line(vertex.uid));
    }
    for (const JobEdge& edge : job().edges) {
      const std::string keys =
          edge.routing == Routing::hash ? fmt::format(" over {}", groups(edge.key_groups)) : "";
      line("  e{} v{} → v{}: {}{}{}; {}", edge.id, edge.from, edge.to, to_string(edge.routing),
           keys, port(edge.from_port), to_string(edge.network));
    }
  }

  void write_execution_graph() {
    const ExecutionGraph& execution = explained_.execution;
    write_regions();
    line("Execution graph, placed: {}, {}, slots {}", counted(execution.tasks.size(), "task"),
         counted(execution.channels.size(), "channel"), to_string(execution.sharing));
    for (const JobVertex& vertex : job().vertices) {
      const std::uint64_t bytes = explained_.bytes_per_subtask[vertex.id];
      line("  v{} {}: parallelism {}{}", vertex.id, one_line(vertex.name),
           execution.parallelism[vertex.id],
           bytes == 0 ? "" : fmt::format(", or less: one for each {} bytes that it reads", bytes));
    }
    std::map<std::pair<int, int>, std::string> tasks_of_slot;
    for (const ExecutionTask& task : execution.tasks) {
      std::string& tasks = tasks_of_slot[{task.task_manager, task.slot}];
      tasks += (tasks.empty() ? "" : ", ") + task_text(task);
    }
    for (std::size_t i = 0; i < execution.task_managers.size(); ++i) {
      const PlacedTaskManager& manager = execution.task_managers[i];
      line("  TaskManager {}{}: {} of {} used{}", one_line(manager.id),
           manager.host.empty() ? "" : " on " + one_line(manager.host), manager.used_slots.size(),
           counted(manager.slots, "slot"),
           manager.extra_slots.empty()
               ? ""
               : fmt::format(", {} for network tasks",
                             counted(manager.extra_slots.size(), "extra slot")));
      for (const auto& [address, tasks] : tasks_of_slot) {
        if (address.first != static_cast<int>(i)) continue;
        line("    slot {}{}: {}", address.second, address.second >= manager.slots ? " (extra)" : "",
             tasks);
      }
    }
    for (const JobEdge& edge : job().edges) line("  e{}: {}", edge.id, channels_text(edge));
  }

  // Only where blocking edges make more of them than there are pipelines.
  void write_regions() {
    if (!has_blocking_edges(job())) return;
    const std::vector<int> regions = regions_of(job());
    const std::vector<RegionLinks> links = region_links(job(), regions);
    line("Regions, each of which begins when those that it reads have finished: {}", links.size());
    for (std::size_t i = 0; i < links.size(); ++i) {
      std::string vertices, reads;
      for (std::size_t v = 0; v < regions.size(); ++v) {
        if (regions[v] == static_cast<int>(i)) vertices += fmt::format(" v{}", v);
      }
      for (const int read : links[i].reads) {
        reads += fmt::format("{} {}", reads.empty() ? ", reads region" : ",", read + 1);
      }
      line("  region {}:{}{}", i + 1, vertices, reads);
    }
    line("");
  }

  // "v0[1]", "send e0 1→0", "receive e0 1→0", "read e0 →0".
  std::string task_text(const ExecutionTask& task) const {
    if (task.kind == TaskKind::chain) return fmt::format("v{}[{}]", task.vertex, task.subtask);
    if (task.peer < 0) return fmt::format("read e{} →{}", task.edge, task.subtask);
    const bool sends = task.kind == TaskKind::sender;
    const int other = explained_.execution.tasks[task.peer].subtask;
    return fmt::format("{} e{} {}→{}", sends ? "send" : "receive", task.edge,
                       sends ? task.subtask : other, sends ? other : task.subtask);
  }

  // "2 pairs of subtasks by memory, 2 by tcp". The memory channels to senders and
  // from receivers are part of a network pair and not counted.
  std::string channels_text(const JobEdge& edge) const {
    const ExecutionGraph& execution = explained_.execution;
    if (edge.is_blocking()) {
      return fmt::format(
          "{} ahead, {} behind",
          counted(static_cast<std::size_t>(execution.parallelism[edge.from]), "file"),
          counted(static_cast<std::size_t>(execution.parallelism[edge.to]), "reader"));
    }
    std::map<Transport, std::size_t> pairs;
    for (const ExecutionChannel& channel : execution.channels) {
      if (channel.edge != edge.id) continue;
      const bool direct = execution.tasks[channel.from_task].kind == TaskKind::chain &&
                          execution.tasks[channel.to_task].kind == TaskKind::chain;
      if (direct || channel.form == ChannelForm::network) ++pairs[channel.transport];
    }
    std::string text;
    for (const auto& [transport, count] : pairs) {
      text += text.empty() ? counted(count, "pair") + " of subtasks" : fmt::format(", {}", count);
      text += fmt::format(
          " by {}", transport == Transport::automatic ? "shm, rdma or tcp" : to_string(transport));
    }
    return text;
  }

  static std::string port(int from_port) {
    return from_port == 0 ? "" : fmt::format(", side output {}", from_port);
  }
  static std::string groups(int count) {
    return counted(static_cast<std::size_t>(count), "key group");
  }

  const ExplainedJob& explained_;
  std::string text_;
};

}  // namespace

std::string explain_as_text(const ExplainedJob& explained) { return TextForm(explained).write(); }

}  // namespace hummer
