// Memory that was freed and is resident all the same.
#pragma once

#include <cstdint>

namespace hummer {

// The system gets back what the C library keeps for later, where that has whole pages. For those
// who have freed a good part of what they may hold, and need other memory next. Takes as long as
// what is free has parts. Thread: any.
void give_back_free_memory();

// From now on pieces of a MiB and more are mappings of their own, which the system gets back as
// soon as they are freed. The C library raises that border with each such piece that is freed, up
// to 32 MiB, and then what was freed lies between what is in use: a restored function had 102 MiB
// resident within 87. Costs page faults for each such piece, so it is for a process whose limit
// somebody chose. Thread: any.
void keep_large_memory_apart();

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
