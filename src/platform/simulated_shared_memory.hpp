// SimulatedSharedMemory: what processes of one simulated machine share; see simulation.hpp.
// (Simulated form only.)
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "platform/shared_memory.hpp"

namespace hummer {

class SimulatedPlatform;

// The bytes, by their places. Owned by the simulation.
class SimulatedSegments {
 public:
  struct Bytes;

  std::string add(std::shared_ptr<Bytes> bytes, int machine);
  // Null when nobody has it any more, or `machine` can't see it.
  std::shared_ptr<Bytes> find(const std::string& place, int machine);

 private:
  struct Entry {
    std::weak_ptr<Bytes> bytes;
    int machine = 0;
  };
  std::map<std::string, Entry> entries_;
  std::uint64_t made_ = 0;
};

class SimulatedSharedMemory final : public SharedMemory {
 public:
  explicit SimulatedSharedMemory(SimulatedPlatform& node) : node_(node) {}

  Result<MadeSegment> create(std::size_t size_bytes) override;
  Result<std::unique_ptr<SharedSegment>> open(std::string_view place,
                                              std::size_t size_bytes) override;

 private:
  SimulatedPlatform& node_;
};

}  // namespace hummer
