// Connecting transport: the ends of a channel whose connection is still to come. Until then they
// behave like ends without credit or without bytes, and fail if it does not come about; then they
// are what the two sides have agreed on, a TCP channel or a ring in memory.
//
// See transport.hpp for thread, ownership and errors.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "net/ring_storage.hpp"
#include "net/transport.hpp"
#include "net/transport_options.hpp"
#include "platform/network.hpp"
#include "platform/task.hpp"

namespace hummer {

// Two processes that have met.
struct Connected {
  std::unique_ptr<ByteStream> stream;
  RingStorage ring;  // empty: all goes over the stream
};

// Where a sender's connection comes from: connected, greeted and accepted.
class Connector {
 public:
  virtual ~Connector() = default;
  // Called once, on the task's executor. `event` is for its waits; it is also notified when
  // `given_up` becomes true, and then it ends soon.
  virtual Task<Result<Connected>> connect(WakeEvent& event, const std::atomic<bool>& given_up) = 0;
};

// Where a receiver's connection arrives, or the reason why none will. Thread: any.
class ConnectionMailbox {
 public:
  // The first call counts; a connection that comes too late is refused (false).
  bool deliver(Connected connected);
  bool fail(const Status& status);
  // The receiver does not want one any more.
  void abandon();
  bool abandoned() const;

  // By the receiver. `wake_event` must live until abandon().
  void attach(WakeEvent* wake_event);
  // No stream and ok: nothing yet.
  Result<Connected> take();

 private:
  mutable std::mutex mutex_;
  Connected connected_;
  Status failure_;
  WakeEvent* wake_event_ = nullptr;
  bool answered_ = false;
  bool abandoned_ = false;
};

std::unique_ptr<TransportSender> make_connecting_sender(std::unique_ptr<Connector> connector,
                                                        TransportOptions options);
std::unique_ptr<TransportReceiver> make_connecting_receiver(
    std::shared_ptr<ConnectionMailbox> mailbox, TransportOptions options);

}  // namespace hummer
