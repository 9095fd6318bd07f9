// SimulatedRemoteMemory: one-sided writes between nodes of a simulation, as badly as the WriteOrder
// permits: each write goes in pieces, which arrive at drawn times and in a drawn order; its bytes
// are read when a piece arrives, not when it is begun; the queue is short. A partition holds pieces
// up, and an end whose peer is gone learns of it. (Simulated form only.)
//
//   SimulatedRemoteMemoryDevice device(node, WriteOrder::none);
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "platform/remote_memory.hpp"

namespace hummer {

class SimulatedPlatform;
class SimulatedWires;

// Ends that wait to be opened, by their places. Owned by the simulation.
class SimulatedRemoteMemories {
 public:
  std::string add(std::weak_ptr<SimulatedWires> wires);
  // Each can be taken once. Null: it is not there.
  std::shared_ptr<SimulatedWires> take(std::string_view place);

 private:
  std::map<std::string, std::weak_ptr<SimulatedWires>, std::less<>> waiting_;
  std::uint64_t made_ = 0;
};

class SimulatedRemoteMemoryDevice final : public RemoteMemoryDevice {
 public:
  SimulatedRemoteMemoryDevice(SimulatedPlatform& node, WriteOrder order)
      : node_(node), order_(order) {}

  std::string provider() const override { return "simulated"; }
  Result<MadeRemoteMemory> create(std::size_t size_bytes, std::size_t largest_write_bytes,
                                  std::string_view local_address) override;
  Result<std::unique_ptr<RemoteMemory>> open(std::string_view place, std::size_t size_bytes,
                                             std::size_t largest_write_bytes) override;

 private:
  SimulatedPlatform& node_;
  const WriteOrder order_;
};

}  // namespace hummer
