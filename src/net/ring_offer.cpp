#include "net/ring_offer.hpp"

#include <string>
#include <utility>

namespace hummer {
namespace {

// "10.0.0.1" of "10.0.0.1:80", and "::1" of "[::1]:80".
std::string host_of(const std::string& address) {
  const std::string host = address.substr(0, address.rfind(':'));
  return host.starts_with('[') ? host.substr(1, host.size() - 2) : host;
}

std::string too_large(std::size_t bytes) {
  return "a ring of " + std::to_string(bytes) + " bytes is more than " +
         std::to_string(RingShape::max_segment_bytes) + "; take fewer credits or smaller buffers";
}

Accept no_offer(std::string why) { return {{}, {}, std::move(why)}; }

Accept offer_shared(SharedMemory& memory, const Hello& hello, const RingsWanted& wanted,
                    RingStorage& storage) {
  if (!wanted.may_share_memory) return no_offer("the receiver wants none");
  if (hello.shared_place.empty()) return no_offer("the sender has no memory to share");
  if (const auto probe = memory.open(hello.shared_place, probe_segment_bytes); !probe.ok()) {
    return no_offer(probe.status().message());
  }
  const std::size_t bytes = wanted.shape.segment_bytes();
  if (bytes > RingShape::max_segment_bytes) return no_offer(too_large(bytes));
  Result<MadeSegment> made = memory.create(bytes);
  if (!made.ok()) return no_offer(made.status().message());
  storage = RingStorage(std::move(made->segment));
  return {std::move(made->place), {}, {}};
}

Accept offer_remote(RemoteMemoryDevice* device, const Hello& hello, const RingsWanted& wanted,
                    const SocketAddress& local, RingStorage& storage) {
  if (device == nullptr) return no_offer("the receiver's process has no device");
  if (hello.remote_provider.empty()) return no_offer("the sender's process has no device");
  if (hello.remote_provider != device->provider()) {
    return no_offer("the sender has " + hello.remote_provider + ", the receiver " +
                    device->provider());
  }
  const std::size_t bytes = wanted.shape.mirrored_bytes();
  if (bytes > RingShape::max_segment_bytes) return no_offer(too_large(bytes));
  Result<MadeRemoteMemory> made =
      device->create(bytes, wanted.shape.largest_write_bytes(), host_of(local.to_string()));
  if (!made.ok()) return no_offer(made.status().message());
  const WriteOrder order = made->end->order();
  storage = RingStorage(std::shared_ptr<RemoteMemory>(std::move(made->end)));
  return {std::move(made->place), order, {}};
}

}  // namespace

RingsWanted rings_wanted(const NetworkSettings& settings, const RingShape& shape, bool encrypted) {
  const bool automatic = settings.transport == Transport::automatic;
  RingsWanted wanted;
  // An interface to bind means that a network is wanted.
  wanted.may_share_memory =
      settings.transport == Transport::shm || (automatic && settings.interface_or_address.empty());
  wanted.may_write_remotely = settings.transport == Transport::rdma || (automatic && !encrypted);
  wanted.transport = settings.transport;
  wanted.shape = shape;
  return wanted;
}

Accept offer_ring(SharedMemory& memory, RemoteMemoryDevice* device, const Hello& hello,
                  const RingsWanted& wanted, const SocketAddress& local, RingStorage& storage) {
  Accept accept = offer_shared(memory, hello, wanted, storage);
  if (!storage.empty() || !wanted.may_write_remotely) return accept;
  // A device that this process has not been given is no news to anybody but who asks for one.
  if (device == nullptr && wanted.transport != Transport::rdma) return accept;
  return offer_remote(device, hello, wanted, local, storage);
}

}  // namespace hummer
