#include "platform/find_remote_memory.hpp"

#include <utility>

#include "platform/files.hpp"
#include "platform/plugins.hpp"
#include "platform/remote_memory_plugin.hpp"

namespace hummer {
namespace {

// Where the system lists RDMA devices: to load a library and ask it takes much longer.
constexpr const char* devices_directory = "/sys/class/infiniband";

bool has_devices(Platform& platform) {
  const auto names = platform.files().list_directory(devices_directory);
  return names.ok() && !names->empty();
}

Result<std::unique_ptr<RemoteMemoryDevice>> make(const std::string& provider) {
  const Result<const RemoteMemoryPlugin*> plugin =
      load_plugin<RemoteMemoryPlugin>("rdma", "the transport rdma");
  if (!plugin.ok()) return plugin.status();
  if (*plugin == nullptr) {
    return Status(ErrorCode::invalid_configuration, "libhummer_rdma.so brings no RDMA devices");
  }
  RemoteMemoryOptions options;
  options.provider = provider;
  return (*plugin)->make_remote_memory_device(options);
}

}  // namespace

Result<std::unique_ptr<RemoteMemoryDevice>> find_remote_memory(Platform& platform,
                                                               const std::string& provider) {
  std::unique_ptr<RemoteMemoryDevice> none;
  if (provider == "none") return none;
  if (provider != "automatic") return make(provider);
  if (!has_devices(platform)) return none;
  return make({});
}

}  // namespace hummer
