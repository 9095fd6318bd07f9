// Memory that was freed and is resident all the same.
#pragma once

#include <cstdint>

namespace hummer {

// The system gets back what the C library keeps for later, where that has whole pages. For those
// who have freed a good part of what they may hold, and need other memory next. Takes as long as
// what is free has parts. Thread: any.
void give_back_free_memory();

// Gives it back each time that so much has been freed: not for little, as it looks at all that is
// free, and costs system calls. Thread: one.
class FreedMemory {
 public:
  explicit FreedMemory(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}
  void add(std::uint64_t bytes) {
    bytes_ += bytes;
    if (bytes_ < most_bytes_) return;
    bytes_ = 0;
    give_back_free_memory();
  }

 private:
  const std::uint64_t most_bytes_;
  std::uint64_t bytes_ = 0;  // since it was given back
};

}  // namespace hummer
