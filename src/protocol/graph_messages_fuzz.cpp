// Bytes → wire::JobGraph → JobGraph. What is accepted must be fit for the graph module, and must
// survive the way back. The fingerprint, which no mutation guesses, is put right first.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "protocol/graph_messages.hpp"
#include "protocol/placement.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

// What the refusal of a wrong fingerprint says was computed.
std::uint64_t computed_fingerprint(const std::string& refusal) {
  const std::size_t at = refusal.find("but ");
  return at == std::string::npos ? 0 : std::strtoull(refusal.c_str() + at + 4, nullptr, 16);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  hummer::wire::JobGraph message;
  if (!message.ParseFromArray(data, static_cast<int>(size))) return 0;
  hummer::Result<hummer::JobGraph> graph = hummer::job_graph_from(message);
  if (!graph.ok()) {
    message.set_fingerprint(computed_fingerprint(graph.status().message()));
    graph = hummer::job_graph_from(message);
    if (!graph.ok()) return 0;
  }
  hummer::wire::JobGraph again;
  hummer::to_message(*graph, again);
  const hummer::Result<hummer::JobGraph> back = hummer::job_graph_from(again);
  require(back.ok() && back->fingerprint == graph->fingerprint);
  hummer::PlacedWorkers workers;
  for (int i = 0; i < 2; ++i) {
    workers.Add()->set_id("tm" + std::to_string(i));
    workers.Mutable(i)->set_slots(4);
  }
  (void)hummer::place_on_cluster(*graph, workers, {});
  return 0;
}
