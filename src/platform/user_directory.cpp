#include "platform/user_directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>

#include "platform/descriptor.hpp"
#include "platform/simulation.hpp"
#include "platform/system_error.hpp"

namespace hummer {
namespace {

bool is_simulated(Platform& platform) {
  return dynamic_cast<SimulatedPlatform*>(&platform) != nullptr;
}

}  // namespace

// Nobody else must be able to put something in its place, so whatever is there is looked at.
Result<std::string> user_directory(Platform& platform) {
  if (is_simulated(platform)) {
    std::string path = "/tmp/hummer-user";
    HUMMER_TRY(platform.files().create_directories(path));
    return path;
  }
  std::string path = "/tmp/hummer-" + std::to_string(::geteuid());
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return file_failure(errno, "make", path);
  struct stat found{};
  if (::lstat(path.c_str(), &found) != 0) return file_failure(errno, "look at", path);
  if (!S_ISDIR(found.st_mode) || found.st_uid != ::geteuid() || (found.st_mode & 077) != 0) {
    return Status(ErrorCode::permission_denied,
                  "'" + path + "' is no directory of this user alone (mode 0700): remove it");
  }
  return path;
}

Status write_private_file(Platform& platform, const std::string& path, std::string_view text) {
  if (is_simulated(platform)) {
    auto file = platform.files().open_for_writing(path, WriteMode::create_new);
    if (!file.ok()) return file.status();
    HUMMER_TRY((*file)->append(text));
    HUMMER_TRY((*file)->sync());
    return (*file)->close();
  }
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.valid()) return file_failure(errno, "open for writing", path);
  while (!text.empty()) {
    const ssize_t put = ::write(file.number(), text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return file_failure(errno, "write", path);
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  if (::fsync(file.number()) != 0) return file_failure(errno, "sync", path);
  return {};
}

}  // namespace hummer
