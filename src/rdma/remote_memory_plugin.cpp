// libhummer_rdma.so: the memory of others by RDMA, for the engine.
#include "platform/remote_memory_plugin.hpp"

#include "rdma/fabric_memory.hpp"

extern "C" {
extern const hummer::RemoteMemoryPlugin hummer_remote_memory;
const hummer::RemoteMemoryPlugin hummer_remote_memory = {
    .abi = HUMMER_ABI,
    .make_remote_memory_device = &hummer::make_fabric_memory_device,
};
}
