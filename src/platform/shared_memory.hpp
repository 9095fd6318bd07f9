// SharedMemory: memory that two processes of one machine see both, for data that passes between
// them without the system's help.
//
//   maker                                         the other process
//   auto made = memory.create(bytes);
//   tell it made.place and the size, by a link    auto seen = memory.open(place, bytes);
//   that both trust                               or it can't, and says why: use that link
//
// What is written by one is what the other reads, so everything in it comes from outside: whoever
// reads checks lengths and places, takes each word once, and orders what he reads by atomics.
//
// Lifecycle: a segment has no name in any folder and is gone when nobody has it mapped any more,
// however its processes ended. `place` leads to it while its maker has it. All bytes begin as zero.
// A segment never changes its size, so no access faults.
//
// Linux: a sealed memfd, found by its maker's process and descriptor number. A process of another
// user, or one with another view of processes (a container), can't open it, nor one on another
// machine. Simulated: nodes that Simulation::share_memory joined.
//
// Thread: any. Errors: `limit_exceeded` where there is no room for it, `not_found` for a place that
// is not visible from here, `io_error` for what else the system says.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <hummer/status.hpp>

namespace hummer {

class SharedSegment {
 public:
  virtual ~SharedSegment() = default;
  // From the beginning of a page.
  virtual std::span<char> bytes() = 0;
};

struct MadeSegment {
  std::unique_ptr<SharedSegment> segment;
  std::string place;
};

class SharedMemory {
 public:
  // What a place may be long.
  static constexpr std::size_t max_place_bytes = 200;

  virtual ~SharedMemory() = default;

  virtual Result<MadeSegment> create(std::size_t size_bytes) = 0;
  // `place` may be any text. REQUIRES: size_bytes > 0.
  virtual Result<std::unique_ptr<SharedSegment>> open(std::string_view place,
                                                      std::size_t size_bytes) = 0;
};

}  // namespace hummer
