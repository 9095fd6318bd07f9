// CoreClaim: the right to pin one thread to a core. Nobody else on the machine who asks has that
// core as long as the claim is held; destroying it gives the core back, and so does the end of the
// process, however it comes.
//
// A claim is a lock on a file per core in a directory that all processes of the machine share,
// whoever they run as. Simulated: on the node's disk, as if it were a machine of its own.
// Thread: any.
#pragma once

#include <memory>
#include <string>

#include "platform/platform.hpp"

namespace hummer {

struct CoreClaim {
  int core = -1;
  std::unique_ptr<FileLock> lock;
};

// The first core that this process may use (its affinity mask) and nobody has claimed.
// limit_exceeded: there is none left; others, with the path: the locks can't be had.
Result<CoreClaim> claim_core(Platform& platform);

// Of Linux, with the lock files in this directory, which is made when it is missing.
Result<CoreClaim> claim_linux_core(const std::string& directory);

}  // namespace hummer
