#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "graph/explain_forms.hpp"

namespace hummer {
namespace {

// A DOT string. Control characters become blanks; "\n" made by us is written as `\n`.
std::string dot_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '\n') {
      result += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') result += '\\';
    result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return result + '"';
}

class DotForm {
 public:
  explicit DotForm(const ExplainedJob& explained) : explained_(explained) {}

  std::string write() && {
    line("digraph {} {{", dot_string(explained_.job.job_name));
    line("  rankdir=LR;");
    line("  node [shape=box];");
    write_stream_graph();
    write_job_graph();
    write_execution_graph();
    line("}}");
    return std::move(text_);
  }

 private:
  template <typename... Arguments>
  void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
    text_ += '\n';
  }

  void write_stream_graph() {
    line("  subgraph cluster_stream {{");
    line("    label=\"stream graph\";");
    for (const StreamNode& node : explained_.stream.nodes) {
      line("    \"s{}\" [label={}];", node.id,
           dot_string(fmt::format("{}\n{}{}", node.name, to_string(node.kind),
                                  node.replayable ? "" : ", cannot be replayed")));
    }
    line("  }}");
    for (std::size_t i = 0; i < explained_.stream.edges.size(); ++i) {
      const StreamEdge& edge = explained_.stream.edges[i];
      const FusionDecision& decision = explained_.job.decisions[i];
      line("  \"s{}\" -> \"s{}\" [label={}, style={}];", edge.from, edge.to,
           dot_string(fmt::format("{}\n{}", to_string(edge.routing), fusion_text(decision))),
           decision.fused() ? "bold" : "solid");
    }
  }

  void write_job_graph() {
    line("  subgraph cluster_job {{");
    line("    label=\"job graph\";");
    for (const JobVertex& vertex : explained_.job.vertices) {
      line("    \"v{}\" [label={}];", vertex.id,
           dot_string(fmt::format("v{}: {}\nparallelism {}", vertex.id, vertex.name,
                                  declared_parallelism_text(vertex))));
    }
    line("  }}");
    for (const JobEdge& edge : explained_.job.edges) {
      line("  \"v{}\" -> \"v{}\" [label={}];", edge.from, edge.to,
           dot_string(fmt::format("e{}: {}\n{}", edge.id, to_string(edge.routing),
                                  to_string(edge.network))));
    }
  }

  void write_execution_graph() {
    const ExecutionGraph& execution = explained_.execution;
    line("  subgraph cluster_execution {{");
    line("    label=\"execution graph\";");
    for (std::size_t i = 0; i < execution.task_managers.size(); ++i) {
      const PlacedTaskManager& manager = execution.task_managers[i];
      line("    subgraph cluster_task_manager_{} {{", i);
      line("      label={};", dot_string(manager.id));
      for (const int slot : manager.used_slots) write_slot(static_cast<int>(i), slot, "slot");
      for (const int slot : manager.extra_slots) {
        write_slot(static_cast<int>(i), slot, "extra slot");
      }
      line("    }}");
    }
    line("  }}");
    for (const ExecutionChannel& channel : execution.channels) {
      if (channel.form == ChannelForm::memory) {
        line("  \"t{}\" -> \"t{}\";", channel.from_task, channel.to_task);
      } else {
        line("  \"t{}\" -> \"t{}\" [label=\"{}\", style=dashed];", channel.from_task,
             channel.to_task, to_string(channel.transport));
      }
    }
  }

  void write_slot(int task_manager, int slot, std::string_view noun) {
    line("      subgraph cluster_slot_{}_{} {{", task_manager, slot);
    line("        label=\"{} {}\";", noun, slot);
    for (const ExecutionTask& task : explained_.execution.tasks) {
      if (task.task_manager != task_manager || task.slot != slot) continue;
      const std::string what = task.kind == TaskKind::chain
                                   ? fmt::format("v{}[{}]", task.vertex, task.subtask)
                                   : fmt::format("{} e{}", to_string(task.kind), task.edge);
      line("        \"t{}\" [label={}];", task.id, dot_string(what));
    }
    line("      }}");
  }

  const ExplainedJob& explained_;
  std::string text_;
};

}  // namespace

std::string explain_as_dot(const ExplainedJob& explained) { return DotForm(explained).write(); }

}  // namespace hummer
