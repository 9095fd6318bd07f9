#include "platform/core_claim.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <cerrno>
#include <cstring>
#include <utility>

#include "platform/descriptor.hpp"
#include "platform/simulation.hpp"
#include "platform/system_error.hpp"

namespace hummer {
namespace {

class CoreLock final : public FileLock {
 public:
  explicit CoreLock(Descriptor file) : file_(std::move(file)) {}

 private:
  Descriptor file_;
};

// For all users of the machine.
constexpr const char* lock_directory = "/tmp/hummer-cores";

Status none_left(int cores) {
  return {ErrorCode::limit_exceeded,
          "all " + std::to_string(cores) +
              " cores that this process may use are claimed, by it or by others"};
}

Result<CoreClaim> claim_simulated_core(SimulatedPlatform& node) {
  HUMMER_TRY(node.files().create_directories(lock_directory));
  for (int core = 0; core < node.processors(); ++core) {
    auto lock = node.files().lock(std::string(lock_directory) + "/core-" + std::to_string(core));
    if (!lock.ok()) return lock.status();
    if (*lock != nullptr) return CoreClaim{core, std::move(*lock)};
  }
  return none_left(node.processors());
}

// A file of another user is opened for reading: that is enough for a lock, and where files are
// protected (fs.protected_regular) all that is allowed.
Descriptor open_lock_file(const std::string& path) {
  for (;;) {
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (file.valid() || errno != ENOENT) return file;
    file = Descriptor(
        ::open(path.c_str(), O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (file.valid() || errno != EEXIST) {
      if (file.valid()) (void)::fchmod(file.number(), 0644);  // whatever the umask is
      return file;
    }
  }
}

}  // namespace

Result<CoreClaim> claim_linux_core(const std::string& directory) {
  cpu_set_t mask;
  if (::sched_getaffinity(0, sizeof(mask), &mask) != 0) {
    return Status(
        ErrorCode::io_error,
        std::string("cannot read which cores this process may use: ") + std::strerror(errno));
  }
  if (::mkdir(directory.c_str(), 0777) == 0) {
    (void)::chmod(directory.c_str(), 01777);  // whatever the umask is
  } else if (errno != EEXIST) {
    return file_failure(errno, "make the directory of core locks", directory);
  }
  Status trouble;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(static_cast<unsigned>(core), &mask)) continue;
    const std::string path = directory + "/core-" + std::to_string(core);
    Descriptor file = open_lock_file(path);
    if (!file.valid()) {
      trouble = file_failure(errno, "open", path);
    } else if (::flock(file.number(), LOCK_EX | LOCK_NB) == 0) {
      return CoreClaim{core, std::make_unique<CoreLock>(std::move(file))};
    } else if (errno != EWOULDBLOCK) {
      trouble = file_failure(errno, "lock", path);
    }
  }
  return trouble.ok() ? none_left(CPU_COUNT(&mask)) : trouble;
}

Result<CoreClaim> claim_core(Platform& platform) {
  auto* const node = dynamic_cast<SimulatedPlatform*>(&platform);
  return node != nullptr ? claim_simulated_core(*node) : claim_linux_core(lock_directory);
}

}  // namespace hummer
