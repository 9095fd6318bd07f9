#include "graph/regions.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace hummer {
namespace {

// Sets of vertices that are joined bit by bit; each is known by its lowest vertex.
class Sets {
 public:
  explicit Sets(std::size_t count) : lower_(count) {
    for (std::size_t i = 0; i < count; ++i) lower_[i] = static_cast<int>(i);
  }

  int lowest(int vertex) const {
    while (lower_[static_cast<std::size_t>(vertex)] != vertex) {
      vertex = lower_[static_cast<std::size_t>(vertex)];
    }
    return vertex;
  }
  void join(int a, int b) {
    const auto [low, high] = std::minmax({lowest(a), lowest(b)});
    lower_[static_cast<std::size_t>(high)] = low;
  }

 private:
  std::vector<int> lower_;
};

}  // namespace

std::vector<int> regions_of(const JobGraph& graph, const RegionOptions& options) {
  Sets sets(graph.vertices.size());
  for (const JobEdge& edge : graph.edges) {
    if (!edge.is_blocking()) sets.join(edge.from, edge.to);
  }
  const bool blocks = has_blocking_edges(graph);
  if (options.thread_per_slot && !blocks) {
    // Only resource groups never share a slot.
    std::map<std::string_view, int> first;
    for (const JobVertex& vertex : graph.vertices) {
      sets.join(first.emplace(vertex.resource_group, vertex.id).first->second, vertex.id);
    }
  }
  std::map<int, int> numbers;  // by lowest vertex
  std::vector<int> regions;
  for (const JobVertex& vertex : graph.vertices) {
    const int next = static_cast<int>(numbers.size());
    const int number = numbers.emplace(sets.lowest(vertex.id), next).first->second;
    regions.push_back(blocks ? number : number % max_regions);
  }
  return regions;
}

bool has_blocking_edges(const JobGraph& graph) {
  return std::any_of(graph.edges.begin(), graph.edges.end(),
                     [](const JobEdge& edge) { return edge.is_blocking(); });
}

std::vector<RegionLinks> region_links(const JobGraph& graph,
                                      const std::vector<int>& region_of_vertex) {
  std::vector<RegionLinks> links(static_cast<std::size_t>(region_count(region_of_vertex)));
  std::vector<std::set<int>> reads(links.size());
  const auto region = [&](int vertex) {
    return static_cast<std::size_t>(region_of_vertex[static_cast<std::size_t>(vertex)]);
  };
  for (const JobEdge& edge : graph.edges) {
    if (edge.is_blocking()) {
      reads[region(edge.to)].insert(static_cast<int>(region(edge.from)));
      links[region(edge.from)].is_read = true;
    } else if (edge.routing != Routing::forward) {
      links[region(edge.to)].subtasks_apart = false;
    }
  }
  for (std::size_t i = 0; i < links.size(); ++i)
    links[i].reads.assign(reads[i].begin(), reads[i].end());
  return links;
}

Status check_blocking_edges(const JobGraph& graph) {
  if (!has_blocking_edges(graph)) return {};
  const auto refuse = [&](const JobEdge& edge, std::string_view why) {
    return Status(ErrorCode::invalid_graph,
                  fmt::format("the edge '{}' -> '{}' is blocking, but {}",
                              graph.vertices[static_cast<std::size_t>(edge.from)].name,
                              graph.vertices[static_cast<std::size_t>(edge.to)].name, why));
  };
  const std::vector<int> regions = regions_of(graph);
  const std::vector<RegionLinks> links = region_links(graph, regions);
  // Those that could run, one after another.
  std::vector<bool> done(links.size(), false);
  for (bool found = true; found;) {
    found = false;
    for (std::size_t i = 0; i < links.size(); ++i) {
      const bool ready = std::all_of(links[i].reads.begin(), links[i].reads.end(), [&](int read) {
        return done[static_cast<std::size_t>(read)];
      });
      if (done[i] || !ready) continue;
      done[i] = found = true;
    }
  }
  for (const JobEdge& edge : graph.edges) {
    if (!edge.is_blocking()) continue;
    if (!graph.vertices[static_cast<std::size_t>(edge.from)].bounded) {
      return refuse(edge,
                    "a source ahead of it is unbounded, so nothing behind it would ever begin; let "
                    "it be pipelined, or bound the source");
    }
    if (!done[static_cast<std::size_t>(regions[static_cast<std::size_t>(edge.to)])]) {
      return refuse(edge,
                    "other edges lead past it, so that neither end could run without the other; "
                    "let those be blocking too");
    }
  }
  return {};
}

int region_count(const std::vector<int>& region_of_vertex) {
  if (region_of_vertex.empty()) return 0;
  return *std::max_element(region_of_vertex.begin(), region_of_vertex.end()) + 1;
}

}  // namespace hummer
