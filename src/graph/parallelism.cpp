#include "graph/parallelism.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace hummer {
namespace {

std::string slots_text(int count) {
  return fmt::format("{} {}", count, count == 1 ? "slot" : "slots");
}

// Vertices that forward edges join: they have one parallelism.
struct ForwardGroup {
  std::vector<int> vertices;  // ascending
  std::optional<int> declared;
  ParallelismRange range;
};

// The representative of each vertex: the lowest id that forward edges lead to.
std::vector<int> forward_representatives(const JobGraph& graph) {
  std::vector<int> representative(graph.vertices.size());
  std::iota(representative.begin(), representative.end(), 0);
  for (const JobEdge& edge : graph.edges) {
    if (edge.routing != Routing::forward) continue;
    const int keep = std::min(representative[edge.from], representative[edge.to]);
    const int drop = std::max(representative[edge.from], representative[edge.to]);
    std::replace(representative.begin(), representative.end(), drop, keep);
  }
  return representative;
}

Result<std::vector<ForwardGroup>> forward_groups(const JobGraph& graph) {
  const std::vector<int> representative = forward_representatives(graph);
  std::map<int, ForwardGroup> groups;
  for (const JobVertex& vertex : graph.vertices) {
    ForwardGroup& group = groups[representative[vertex.id]];
    if (group.declared && vertex.parallelism && *group.declared != *vertex.parallelism) {
      return Status(ErrorCode::invalid_graph,
                    fmt::format("'{}' must have parallelism {} because forward edges join it to a "
                                "vertex that declares it, but it declares {}; use rebalance() "
                                "between them",
                                vertex.name, *group.declared, *vertex.parallelism));
    }
    if (vertex.parallelism) group.declared = vertex.parallelism;
    group.range = intersect(group.range, vertex.range);
    group.vertices.push_back(vertex.id);
  }
  std::vector<ForwardGroup> result;
  for (auto& [unused, group] : groups) {
    const std::string& name = graph.vertices[group.vertices.front()].name;
    if (group.range.empty()) {
      return Status(ErrorCode::invalid_graph,
                    fmt::format("forward edges join '{}' to vertices with a minimum parallelism "
                                "of {} and a maximum of {}, which cannot both hold; use "
                                "rebalance() between them",
                                name, group.range.min, group.range.max));
    }
    if (group.declared &&
        (*group.declared < group.range.min || *group.declared > group.range.max)) {
      return Status(
          ErrorCode::invalid_graph,
          fmt::format("parallelism {} reaches all vertices that forward edges join to '{}', but "
                      "one of them allows only {} to {}; use rebalance() between them",
                      *group.declared, name, group.range.min, group.range.max));
    }
    result.push_back(std::move(group));
  }
  return result;
}

// Raises the groups in turn, always the narrowest that may still grow, until
// nothing more fits into `budget` slots: what "an even share" means.
void share_evenly(const JobGraph& graph, const std::vector<ForwardGroup>& open, int budget,
                  SlotSharing sharing, std::vector<int>& parallelism) {
  std::vector<bool> full(open.size(), false);
  for (;;) {
    int narrowest = -1;
    for (std::size_t i = 0; i < open.size(); ++i) {
      const int width = parallelism[open[i].vertices.front()];
      if (width >= open[i].range.max) full[i] = true;
      if (full[i]) continue;
      if (narrowest < 0 || width < parallelism[open[narrowest].vertices.front()]) {
        narrowest = static_cast<int>(i);
      }
    }
    if (narrowest < 0) return;
    for (const int vertex : open[narrowest].vertices) ++parallelism[vertex];
    if (slots_needed(graph, parallelism, sharing) > budget) {
      for (const int vertex : open[narrowest].vertices) --parallelism[vertex];
      full[narrowest] = true;
    }
  }
}

}  // namespace

int slots_needed(const JobGraph& graph, const std::vector<int>& parallelism, SlotSharing sharing) {
  HUMMER_ASSERT(parallelism.size() == graph.vertices.size());
  if (sharing == SlotSharing::exclusive) {
    return std::accumulate(parallelism.begin(), parallelism.end(), 0);
  }
  std::map<std::string_view, int> widest;  // by resource group
  for (const JobVertex& vertex : graph.vertices) {
    int& width = widest[vertex.resource_group];
    width = std::max(width, parallelism[vertex.id]);
  }
  return std::accumulate(widest.begin(), widest.end(), 0,
                         [](int sum, const auto& group) { return sum + group.second; });
}

Result<std::vector<int>> resolve_parallelism(const JobGraph& graph,
                                             const ParallelismOptions& options) {
  const auto at_least_one = [](std::string_view what, int value) -> Status {
    if (value >= 1) return {};
    return {ErrorCode::invalid_configuration,
            fmt::format("{} is {}; it must be at least 1", what, value)};
  };
  HUMMER_TRY(
      at_least_one("the job's default parallelism", options.default_parallelism.value_or(1)));
  HUMMER_TRY(at_least_one("the job's total of slots", options.total_slots.value_or(1)));
  Result<std::vector<ForwardGroup>> groups = forward_groups(graph);
  if (!groups.ok()) return groups.status();

  std::vector<int> parallelism(graph.vertices.size(), 0);
  std::vector<ForwardGroup> open;  // without declared or default parallelism
  for (const ForwardGroup& group : *groups) {
    int width = group.range.min;
    if (group.declared) {
      width = *group.declared;
    } else if (options.default_parallelism) {
      width = std::clamp(*options.default_parallelism, group.range.min, group.range.max);
    } else {
      open.push_back(group);
    }
    for (const int vertex : group.vertices) parallelism[vertex] = width;
  }

  const int budget = std::min(options.free_slots, options.total_slots.value_or(options.free_slots));
  const int needed = slots_needed(graph, parallelism, options.sharing);
  const bool may_exceed = options.allow_oversubscription && options.sharing == SlotSharing::shared;
  if (needed > budget && !may_exceed) {
    if (budget < options.free_slots) {
      return Status(ErrorCode::not_enough_slots,
                    fmt::format("the job needs {} but its total is set to {}; raise the total or "
                                "lower the parallelism",
                                slots_text(needed), budget));
    }
    return Status(ErrorCode::not_enough_slots,
                  fmt::format("the job needs {} but {} {} free; start another TaskManager, give "
                              "one more slots, or lower the parallelism",
                              slots_text(needed), budget, budget == 1 ? "is" : "are"));
  }
  if (needed <= budget) share_evenly(graph, open, budget, options.sharing, parallelism);
  return parallelism;
}

namespace {

// What vertices that forward edges join read through blocking edges, and whether their number may
// depend on it.
struct Reading {
  std::uint64_t bytes = 0;
  bool from_files = false;
  bool fixed = false;
  ParallelismRange range;
};

// By vertex: the reading of its group. `bytes`: by edge, or empty.
std::vector<Reading> readings(const JobGraph& graph, const std::vector<int>& region_of_vertex,
                              const std::vector<std::uint64_t>& bytes) {
  const std::vector<int> group_of = forward_representatives(graph);
  std::vector<Reading> groups(graph.vertices.size());
  const auto group = [&](int vertex) -> Reading& {
    return groups[static_cast<std::size_t>(group_of[static_cast<std::size_t>(vertex)])];
  };
  const auto region = [&](int vertex) {
    return region_of_vertex[static_cast<std::size_t>(vertex)];
  };
  for (const JobVertex& vertex : graph.vertices) {
    Reading& reading = group(vertex.id);
    // A source reads bytes that nobody has counted.
    reading.fixed |= vertex.parallelism.has_value() ||
                     vertex.chain.front().kind == OperatorKind::source ||
                     region(vertex.id) != region(group_of[static_cast<std::size_t>(vertex.id)]);
    reading.range = intersect(reading.range, vertex.range);
  }
  for (const JobEdge& edge : graph.edges) {
    Reading& reading = group(edge.to);
    const bool dealt = edge.routing == Routing::hash || edge.routing == Routing::rebalance;
    // So does who gets records while they are made; and a function that says which subtask gets a
    // record may count on it.
    if (edge.is_custom || (edge.is_blocking() ? edge.routing == Routing::forward : dealt)) {
      reading.fixed = true;
    }
    if (!edge.is_blocking() || !dealt) continue;
    reading.from_files = true;
    if (!bytes.empty()) reading.bytes += bytes[static_cast<std::size_t>(edge.id)];
  }
  std::vector<Reading> result;
  for (const JobVertex& vertex : graph.vertices) result.push_back(group(vertex.id));
  return result;
}

}  // namespace

std::vector<bool> may_be_narrowed(const JobGraph& graph, const std::vector<int>& region_of_vertex) {
  std::vector<bool> result;
  for (const Reading& reading : readings(graph, region_of_vertex, {})) {
    result.push_back(reading.from_files && !reading.fixed);
  }
  return result;
}

std::vector<NarrowedVertex> narrowed(const JobGraph& graph,
                                     const std::vector<int>& region_of_vertex, int region,
                                     const std::vector<int>& planned,
                                     const std::vector<std::uint64_t>& bytes,
                                     std::uint64_t bytes_per_subtask) {
  HUMMER_ASSERT(bytes_per_subtask > 0 && bytes.size() == graph.edges.size());
  std::vector<NarrowedVertex> result(graph.vertices.size());
  const std::vector<Reading> all = readings(graph, region_of_vertex, bytes);
  for (std::size_t v = 0; v < result.size(); ++v) {
    const Reading& reading = all[v];
    if (region_of_vertex[v] != region || reading.fixed || !reading.from_files) continue;
    const std::uint64_t for_bytes =
        reading.bytes / bytes_per_subtask + (reading.bytes % bytes_per_subtask > 0 ? 1 : 0);
    const std::uint64_t needed = std::max(for_bytes, static_cast<std::uint64_t>(reading.range.min));
    int count = 1;
    while (count < planned[v] &&
           (planned[v] % count != 0 || static_cast<std::uint64_t>(count) < needed)) {
      ++count;
    }
    if (count < planned[v]) result[v] = {count, reading.bytes};
  }
  return result;
}

}  // namespace hummer
