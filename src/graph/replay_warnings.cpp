#include "graph/replay_warnings.hpp"

#include <fmt/format.h>

namespace hummer {

std::vector<std::string> replay_warnings(const JobGraph& graph) {
  std::vector<std::string> warnings;
  for (const JobVertex& vertex : graph.vertices) {
    for (const ChainedOperator& op : vertex.chain) {
      if (op.replayable) continue;
      warnings.push_back(fmt::format(
          "source '{}' (node {}) cannot be replayed: when the job starts again, what it "
          "has handed out since the newest checkpoint may be lost; where no record may "
          "be, read from something that keeps them, such as files or a queue",
          op.name, op.node));
    }
  }
  return warnings;
}

}  // namespace hummer
