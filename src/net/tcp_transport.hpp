// TCP transport: one connection per channel; frames as in frame.hpp.
//
// Sender: buffers are encoded in place, header in front, and written with one
// system call each as soon as what is published together (a batch and its control) is
// whole; so few buffers stay in the processor's cache while the connection keeps up, and
// packets are full but for the last. What is published in place leaves with one call for several
// buffers, and only what the connection does not take of it is copied. When the connection is busy
// (or has no credit) at most `max_unsent_buffers` wait. A coroutine of its own on
// the task's executor (the pump) writes what waits and reads credits,
// also while the task has nothing to do; it ends by itself after the end is
// destroyed, at the latest after `linger_ns`.
//
// Receiver: reads as much as one buffer holds with one system call, straight into
// pooled buffers that batches then point into; no more is read than one buffer
// ahead, so memory is bounded even against a peer that ignores its credits.
// Credits are returned half of the ring at a time, so that few packets go against the data.
//
// See transport.hpp for thread, ownership and errors.
#pragma once

#include <memory>

#include "net/transport.hpp"
#include "net/transport_options.hpp"
#include "platform/network.hpp"

namespace hummer {

// Over connected streams, without a handshake.
std::unique_ptr<TransportSender> make_tcp_sender(std::unique_ptr<ByteStream> stream,
                                                 TransportOptions options);
std::unique_ptr<TransportReceiver> make_tcp_receiver(std::unique_ptr<ByteStream> stream,
                                                     TransportOptions options);

}  // namespace hummer
