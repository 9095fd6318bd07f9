#include "execution/listed_sources.hpp"

#include <utility>

namespace hummer {

std::vector<ListedSource> listed_sources(const StreamGraph& stream, const JobGraph& job) {
  std::vector<ListedSource> found;
  for (const JobVertex& vertex : job.vertices) {
    const ChainedOperator& head = vertex.chain.front();
    const StreamNode& node = stream.nodes[static_cast<std::size_t>(head.node)];
    const auto* factory = dynamic_cast<const ListingSourceFactory*>(node.factory.get());
    if (factory != nullptr) found.push_back({vertex.id, head.uid, head.name, factory});
  }
  return found;
}

Result<SourceListing> list_source(Platform& platform, const ListedSource& source) {
  Result<std::string> listing = source.factory->list(platform);
  if (!listing.ok()) return listing.status();
  return std::make_shared<const std::string>(std::move(*listing));
}

}  // namespace hummer
