// What a receiver offers a sender that has said hello: a ring in shared memory, one of one-sided
// writes, or none and why.
//
// Thread: any; may take a second or two where a device is asked.
#pragma once

#include <cstddef>

#include <hummer/network_settings.hpp>

#include "net/frame.hpp"
#include "net/ring_layout.hpp"
#include "net/ring_storage.hpp"
#include "platform/network.hpp"
#include "platform/remote_memory.hpp"
#include "platform/shared_memory.hpp"

namespace hummer {

// Of the memory that a hello names, for trying who shares memory.
inline constexpr std::size_t probe_segment_bytes = 4096;

// What an edge's settings permit and ask for.
struct RingsWanted {
  bool may_share_memory = false;
  bool may_write_remotely = false;
  Transport transport = Transport::automatic;
  RingShape shape;

  bool needs_one() const { return transport == Transport::shm || transport == Transport::rdma; }
};

// `encrypted`: the connection is. What is written remotely is not, so then it is only done where it
// is asked for.
RingsWanted rings_wanted(const NetworkSettings& settings, const RingShape& shape, bool encrypted);

// `device`: of this process, or null. `local`: where the sender has connected to. What is offered
// stays in `storage`.
Accept offer_ring(SharedMemory& memory, RemoteMemoryDevice* device, const Hello& hello,
                  const RingsWanted& wanted, const SocketAddress& local, RingStorage& storage);

}  // namespace hummer
