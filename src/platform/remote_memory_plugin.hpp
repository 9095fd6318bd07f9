// RemoteMemoryPlugin: what the library of RDMA devices brings (plugins.hpp).
//
// The engine has no client of any device inside: it comes from libhummer_rdma.so, with the symbol
// `hummer_remote_memory`, which has libfabric behind it (rdma/fabric_memory.hpp).
//
//   const auto plugin = load_plugin<RemoteMemoryPlugin>("rdma", "the transport rdma");
//   auto device = (*plugin)->make_remote_memory_device({.provider = "verbs"});
//
// Errors of make_remote_memory_device: `not_found` where the machine has no such device, which says
// what it lacks. Thread: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <hummer/status.hpp>

#include "platform/remote_memory.hpp"

namespace hummer {

struct RemoteMemoryOptions {
  // Of libfabric: "verbs", "efa"; "tcp" and "shm" for tests and measurements. Empty: the best
  // device that the machine has.
  std::string provider = {};
  // The device writes lower addresses first: WriteOrder::bytes, where it keeps writes in order. No
  // device can be asked whether it does so.
  bool last_byte = false;
};

struct RemoteMemoryPlugin {
  static constexpr const char* symbol = "hummer_remote_memory";
  static constexpr std::uint32_t newest_version = 1;  // of this header and remote_memory.hpp
  std::uint32_t version = newest_version;
  const char* abi = nullptr;  // HUMMER_ABI, of the public headers
  Result<std::unique_ptr<RemoteMemoryDevice>> (*make_remote_memory_device)(
      const RemoteMemoryOptions& options) = nullptr;
};

}  // namespace hummer
