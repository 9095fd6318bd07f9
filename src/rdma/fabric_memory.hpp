// make_fabric_memory_device: RemoteMemory over libfabric 1.17 or later, and so over InfiniBand,
// RoCE and EFA.
//
//   auto device = make_fabric_memory_device({.provider = "tcp"});   // {}: verbs, else efa
//   auto made = (*device)->create(bytes, "10.0.0.1");
//
// Two kinds of endpoints, which the provider decides:
//
//   message    verbs, tcp. The receiver listens on `local_address`; its place has the port, and 16
//              random bytes, the cookie. The sender connects and shows the cookie, with where its
//              memory lies; the receiver refuses who shows another one, and answers by accepting.
//              RemoteMemory::answer() is empty.
//   datagram   efa, shm (FI_EP_RDM: reliable, without connections). Place and answer() have the
//              endpoint's name, and where the memory lies. `local_address` plays no part.
//
// Order: in_order where message endpoints grant it (FI_ORDER_RMA_WAW) for writes of
// RemoteMemoryOptions::largest_write_bytes; bytes where the options say so besides. Datagram
// endpoints give none: they split large writes. `tcp` writes what it receives: a word that lies
// across two reads of its socket shows its lower bytes first, so words are compared for equality or
// only grow.
//
// `tcp` and `shm` move nothing between two calls of progress(), whatever libfabric says of them.
// Datagram endpoints find each other by their first writes, which may have to be asked for again;
// that the peer is gone none of them says. Nor does a connection come to an end by itself while the
// receiver neither accepts nor refuses it: who waits for ready() has a limit of his own.
//
// Writes of a few bytes are copied by the device as they begin, and never under way.
//
// create() and open() ask the system for addresses and routes, which may block for a second or two
// where the peer's machine is silent; nothing else blocks, destroying neither.
//
// Memory is locked by real devices: `ulimit -l`, or LimitMEMLOCK of a service, must be as large. It
// is registered once, so FI_MR_CACHE_MONITOR=disabled in the environment spares the process the
// hooks with which libfabric follows the system's calls for memory.
//
// Thread: the device any; an end one at a time, and it may be destroyed on another one. Ends may
// outlive the device. Errors: those of remote_memory.hpp, with libfabric's own words.
#pragma once

#include <memory>

#include <hummer/status.hpp>

#include "platform/remote_memory.hpp"
#include "platform/remote_memory_plugin.hpp"

namespace hummer {

Result<std::unique_ptr<RemoteMemoryDevice>> make_fabric_memory_device(
    const RemoteMemoryOptions& options);

}  // namespace hummer
