// find_remote_memory: the device for one-sided writes that a process is to have.
//
//   auto device = find_remote_memory(platform, "automatic");
//
// `provider`
//   automatic   the best RDMA device of the machine; null where it has none
//   none        null
//   a name      of a provider of libfabric, such as verbs, efa or tcp; where it is not to be had,
//               the error says what is missing
//
// Thread: any; may load libraries, which takes its time. Errors: those of load_plugin (the library
// of RDMA devices is not installed), not_found.
#pragma once

#include <memory>
#include <string>

#include <hummer/status.hpp>

#include "platform/platform.hpp"
#include "platform/remote_memory.hpp"

namespace hummer {

inline constexpr const char* default_rdma_provider = "automatic";

Result<std::unique_ptr<RemoteMemoryDevice>> find_remote_memory(Platform& platform,
                                                               const std::string& provider);

}  // namespace hummer
