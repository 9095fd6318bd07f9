// Ring transport: a channel through memory that both processes see, or whose halves they write to
// each other (ring_layout.hpp, ring_mirror.hpp), beside the connection over which they met.
//
// Sender: records are encoded straight into a slot; publishing is a few stores, no system call. A
// slot that is not full takes what is published next, too. Of the slots that came back it takes the
// last one first, which is still in the processor's cache.
//
// Receiver: batches point into the slot itself, which goes back when the last of them is gone, in
// any order. Once half of the slots are held that way what comes is copied out, so that an operator
// that keeps what it was given never stops the channel.
//
// The connection stays: its end is the peer's death; a barrier that passes what is published, and
// why an end gave up, go over it; and while the executor of an end is parked, the other end writes
// a wake-up there. An end whose executor runs looks at the ring itself and costs no system call.
//
// Over one-sided writes (RDMA) all of this is the same but two things. The mark of a parked end
// can't be looked at behind a write, so an end that is about to park says over the connection how
// far it has seen, and is woken when there is more. And an end whose writes are under way does not
// park: some devices move nothing unless they are asked.
//
// What is in memory is not encrypted where the connection is. Shared memory never leaves the
// machine, and only processes of the same user can open it; an RDMA network is to be trusted.
//
// See transport.hpp for thread, ownership and errors. A peer that writes into the ring what no peer
// of ours writes is a protocol_error and ends the channel.
#pragma once

#include <memory>

#include "net/ring_layout.hpp"
#include "net/ring_storage.hpp"
#include "net/transport.hpp"
#include "net/transport_options.hpp"
#include "platform/network.hpp"

namespace hummer {

RingShape ring_shape(const TransportOptions& options);

// Over connected streams and the same segment or two halves, without a handshake.
// REQUIRES: a segment of ring_shape(options).segment_bytes(), a half of mirrored_bytes().
std::unique_ptr<TransportSender> make_ring_sender(std::unique_ptr<ByteStream> stream,
                                                  RingStorage storage, TransportOptions options);
std::unique_ptr<TransportReceiver> make_ring_receiver(std::unique_ptr<ByteStream> stream,
                                                      RingStorage storage,
                                                      TransportOptions options);

}  // namespace hummer
