#include "platform/linux_shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "platform/descriptor.hpp"

namespace hummer {
namespace {

// Begins the name of each memory file; a random number follows, so that a place that was used again
// (another process with the number, another file with the descriptor) is not taken for the one
// meant.
constexpr std::string_view name_begin = "hummer-ring-";

class LinuxSegment final : public SharedSegment {
 public:
  LinuxSegment(void* base, std::size_t size_bytes) : base_(base), size_bytes_(size_bytes) {}
  ~LinuxSegment() override { ::munmap(base_, size_bytes_); }

  std::span<char> bytes() override { return {static_cast<char*>(base_), size_bytes_}; }

  // For a maker, whose place leads to the file. Who has opened it needs no descriptor.
  void keep(Descriptor file) { file_ = std::move(file); }

 private:
  Descriptor file_;
  void* base_;
  std::size_t size_bytes_;
};

Status failure(int error, std::string_view doing) {
  const bool no_room = error == ENOSPC || error == ENOMEM || error == EMFILE || error == ENFILE;
  return {no_room ? ErrorCode::limit_exceeded : ErrorCode::io_error,
          fmt::format("cannot {}: {}", doing, std::strerror(error))};
}

Result<std::unique_ptr<LinuxSegment>> mapped(const Descriptor& file, std::size_t size_bytes) {
  void* base = ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
  if (base == MAP_FAILED) return failure(errno, "map shared memory");
  return std::make_unique<LinuxSegment>(base, size_bytes);
}

struct Place {
  int process = 0;
  int descriptor = 0;
  std::string name;
};

// "<process>:<descriptor>:<name>"
std::optional<Place> parse(std::string_view text) {
  Place place;
  const auto number = [&](int& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || value < 0 || end == text.data() + text.size() || *end != ':') {
      return false;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
    return true;
  };
  if (!number(place.process) || !number(place.descriptor)) return std::nullopt;
  if (!text.starts_with(name_begin)) return std::nullopt;
  place.name = text;
  return place;
}

}  // namespace

Result<MadeSegment> LinuxSharedMemory::create(std::size_t size_bytes) {
  std::uint64_t random = 0;
  if (::getrandom(&random, sizeof(random), 0) != sizeof(random)) {
    return failure(errno, "name shared memory");
  }
  const std::string name = fmt::format("{}{:016x}", name_begin, random);
  Descriptor file(::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.valid()) return failure(errno, "make shared memory");
  // Pages come when they are touched, as those of any memory do: a memory file has no file system
  // that could be full.
  if (::ftruncate(file.number(), static_cast<off_t>(size_bytes)) != 0) {
    return failure(errno, fmt::format("make {} bytes of shared memory", size_bytes));
  }
  if (::fcntl(file.number(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return failure(errno, "seal shared memory");
  }
  auto segment = mapped(file, size_bytes);
  if (!segment.ok()) return segment.status();
  std::string place = fmt::format("{}:{}:{}", ::getpid(), file.number(), name);
  (*segment)->keep(std::move(file));
  return MadeSegment{std::move(*segment), std::move(place)};
}

Result<std::unique_ptr<SharedSegment>> LinuxSharedMemory::open(std::string_view place,
                                                               std::size_t size_bytes) {
  const std::optional<Place> wanted = parse(place);
  if (!wanted) {
    return Status(ErrorCode::not_found, fmt::format("\"{}\" names no shared memory", place));
  }
  const std::string path = fmt::format("/proc/{}/fd/{}", wanted->process, wanted->descriptor);
  // Looked at before it is opened: opening something else of the process could have an effect.
  const std::string expected = fmt::format("/memfd:{} (deleted)", wanted->name);
  char target[SharedMemory::max_place_bytes + 32];
  const ssize_t length = ::readlink(path.c_str(), target, sizeof(target));
  if (length < 0) return failure(errno, fmt::format("see the shared memory {}", place));
  if (std::string_view(target, static_cast<std::size_t>(length)) != expected) {
    return Status(ErrorCode::not_found,
                  fmt::format("the shared memory {} is not there: another process or another view "
                              "of processes has that number",
                              place));
  }
  Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file.valid()) return failure(errno, fmt::format("open the shared memory {}", place));
  struct stat found{};
  constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW;
  if (::fstat(file.number(), &found) != 0 ||
      static_cast<std::uint64_t>(found.st_size) != size_bytes ||
      (::fcntl(file.number(), F_GET_SEALS) & seals) != seals) {
    return Status(ErrorCode::not_found,
                  fmt::format("the shared memory {} is not one of {} bytes whose size is fixed",
                              place, size_bytes));
  }
  auto segment = mapped(file, size_bytes);
  if (!segment.ok()) return segment.status();
  return std::unique_ptr<SharedSegment>(std::move(*segment));
}

}  // namespace hummer
