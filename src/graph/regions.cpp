#include "graph/regions.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

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
  for (const JobEdge& edge : graph.edges) sets.join(edge.from, edge.to);
  if (options.thread_per_slot) {
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
    regions.push_back(numbers.emplace(sets.lowest(vertex.id), next).first->second % max_regions);
  }
  return regions;
}

int region_count(const std::vector<int>& region_of_vertex) {
  if (region_of_vertex.empty()) return 0;
  return *std::max_element(region_of_vertex.begin(), region_of_vertex.end()) + 1;
}

}  // namespace hummer
