// TCP transport: one connection per channel; frames as in frame.hpp.
//
// Sender: buffers are encoded in place, header in front, and written with one
// system call each as soon as what is published together (a batch and its control) is
// whole; so few buffers stay in the processor's cache while the connection keeps up, and
// packets are full but for the last. What is published in place leaves with one call for several
// buffers, and only what the connection does not take of it is copied. When the connection is busy
// (or has no credit) at most `max_unsent_buffers` wait. A coroutine of its own on
// the task's executor (the pump) connects, writes what waits and reads credits,
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

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include <hummer/network_settings.hpp>

#include "net/buffer_pool.hpp"
#include "net/transport.hpp"
#include "platform/network.hpp"

namespace hummer {

inline constexpr std::uint32_t default_control_credits = 16;

struct TcpOptions {
  std::size_t buffer_size_bytes = NetworkSettings{}.buffer_size_bytes;  // with the header
  int credits = NetworkSettings{}.credits;
  std::uint32_t control_credits = default_control_credits;
  std::size_t max_unsent_buffers = 4;
  Nanoseconds linger_ns = seconds(2);
  std::string peer = "peer";               // for messages
  std::shared_ptr<BufferMetrics> buffers;  // where a receiver's count too; may be null
};
TcpOptions tcp_options(const NetworkSettings& settings, std::string peer);

// Where a sender's connection comes from: connected, greeted and accepted.
class Connector {
 public:
  virtual ~Connector() = default;
  // Called once, on the task's executor. `event` is for its waits; it is also notified when
  // `given_up` becomes true, and then it ends soon.
  virtual Task<Result<std::unique_ptr<ByteStream>>> connect(WakeEvent& event,
                                                            const std::atomic<bool>& given_up) = 0;
};

// Where a receiver's connection arrives, or the reason why none will. Thread: any.
class StreamMailbox {
 public:
  // The first call counts; a stream that comes too late is refused (false).
  bool deliver(std::unique_ptr<ByteStream> stream);
  bool fail(const Status& status);
  // The receiver does not want one any more.
  void abandon();
  bool abandoned() const;

 private:
  friend class TcpReceiver;
  void attach(WakeEvent* wake_event);
  // Null and ok: nothing yet.
  Result<std::unique_ptr<ByteStream>> take();

  mutable std::mutex mutex_;
  std::unique_ptr<ByteStream> stream_;
  Status failure_;
  WakeEvent* wake_event_ = nullptr;
  bool answered_ = false;
  bool abandoned_ = false;
};

std::unique_ptr<TransportSender> make_tcp_sender(std::unique_ptr<Connector> connector,
                                                 TcpOptions options);
std::unique_ptr<TransportReceiver> make_tcp_receiver(std::shared_ptr<StreamMailbox> mailbox,
                                                     TcpOptions options);
// Over connected streams, without a handshake.
std::unique_ptr<TransportSender> make_tcp_sender(std::unique_ptr<ByteStream> stream,
                                                 TcpOptions options);
std::unique_ptr<TransportReceiver> make_tcp_receiver(std::unique_ptr<ByteStream> stream,
                                                     TcpOptions options);

}  // namespace hummer
