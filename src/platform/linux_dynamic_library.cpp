#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "platform/descriptor.hpp"
#include "platform/dynamic_library.hpp"
#include "platform/system_error.hpp"

namespace hummer {
namespace {

class LinuxDynamicLibrary final : public DynamicLibrary {
 public:
  LinuxDynamicLibrary(void* handle, Descriptor file) : file_(std::move(file)), handle_(handle) {}
  ~LinuxDynamicLibrary() override { ::dlclose(handle_); }
  void* symbol(const std::string& name) const override { return ::dlsym(handle_, name.c_str()); }

 private:
  // Stays open: the linker knows a loaded library by its path, /proc/self/fd/N, and would take
  // the next one with that number for the same.
  Descriptor file_;
  void* handle_;
};

Status write_all(int file, std::string_view bytes, const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return file_failure(errno, "keep the library", name);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

// A file in memory, or where the kernel has none, one without a name in the directory for
// temporary files.
Result<Descriptor> make_file(const std::string& name) {
  Descriptor memory(::memfd_create(name.substr(0, 200).c_str(), MFD_CLOEXEC));
  if (memory.valid()) return memory;
  const char* directory = std::getenv("TMPDIR");
  std::string path = std::string(directory == nullptr ? "/tmp" : directory) + "/hummer-XXXXXX";
  Descriptor file(::mkostemp(path.data(), O_CLOEXEC));
  if (!file.valid()) return file_failure(errno, "make a file for the library", path);
  ::unlink(path.c_str());
  return file;
}

}  // namespace

Status show_symbols_of(const void* place) {
  Dl_info library{};
  if (::dladdr(place, &library) == 0 ||
      ::dlopen(library.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL) == nullptr) {
    return {ErrorCode::internal, "the symbols of a library can't be shown to others"};
  }
  return {};
}

Result<std::unique_ptr<DynamicLibrary>> load_dynamic_library(std::string_view bytes,
                                                             const std::string& name) {
  Result<Descriptor> file = make_file(name);
  if (!file.ok()) return file.status();
  HUMMER_TRY(write_all(file->number(), bytes, name));
  const std::string path = "/proc/self/fd/" + std::to_string(file->number());
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    std::string message = ::dlerror();
    if (message.starts_with(path)) message.replace(0, path.size(), name);
    return Status(ErrorCode::invalid_argument, "cannot load the library: " + message);
  }
  return std::unique_ptr<DynamicLibrary>(
      std::make_unique<LinuxDynamicLibrary>(handle, std::move(*file)));
}

}  // namespace hummer
