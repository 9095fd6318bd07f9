// Sealed memory files; see shared_memory.hpp. (Linux form only.)
#pragma once

#include "platform/shared_memory.hpp"

namespace hummer {

class LinuxSharedMemory final : public SharedMemory {
 public:
  Result<MadeSegment> create(std::size_t size_bytes) override;
  Result<std::unique_ptr<SharedSegment>> open(std::string_view place,
                                              std::size_t size_bytes) override;
};

}  // namespace hummer
