#include "graph/fingerprint.hpp"

#include "graph/job_graph.hpp"

namespace hummer {

void StableHash::add_bytes(const unsigned char* bytes, std::size_t count) {
  constexpr std::uint64_t prime = 0x100000001b3;
  for (std::size_t i = 0; i < count; ++i) value_ = (value_ ^ bytes[i]) * prime;
}

StableHash& StableHash::add(std::int64_t number) {
  unsigned char bytes[8];
  for (int i = 0; i < 8; ++i) {
    bytes[i] = static_cast<unsigned char>(static_cast<std::uint64_t>(number) >> (8 * i));
  }
  add_bytes(bytes, sizeof bytes);
  return *this;
}

StableHash& StableHash::add(std::string_view text) {
  add(static_cast<std::int64_t>(text.size()));
  add_bytes(reinterpret_cast<const unsigned char*>(text.data()), text.size());
  return *this;
}

std::uint64_t fingerprint(const JobGraph& graph) {
  StableHash hash;
  hash.add("hummer job graph 1");
  hash.add(static_cast<std::int64_t>(graph.vertices.size()));
  for (const JobVertex& vertex : graph.vertices) {
    hash.add(static_cast<std::int64_t>(vertex.chain.size()));
    for (const ChainedOperator& op : vertex.chain) {
      hash.add(op.name).add(op.uid).add(to_string(op.kind)).add(op.output_type);
      hash.add(op.stateful ? 1 : 0).add(op.key_groups);
    }
  }
  hash.add(static_cast<std::int64_t>(graph.edges.size()));
  for (const JobEdge& edge : graph.edges) {
    hash.add(edge.from).add(edge.to).add(edge.from_port).add(edge.to_input);
    hash.add(to_string(edge.routing)).add(edge.key_groups);
  }
  return hash.value();
}

}  // namespace hummer
