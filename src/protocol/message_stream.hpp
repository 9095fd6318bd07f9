// MessageStream: Envelopes over a byte stream, with limits.
//
//   frame := magic u32 "HUMC" · payload_bytes u32 · check u32 (low half of XXH3-64 of the payload)
//            · payload (a serialised wire.Envelope)            (numbers little-endian)
//
// A payload above the limit, a wrong magic or check, or bytes that are no Envelope are a
// protocol_error, after which the connection must be closed. Reading allocates no more than what
// has arrived, so a stranger who announces much costs nothing; an idle stream keeps no buffer (ten
// thousand of them are held by one JobManager).
//
// Lifecycle: made around a connected stream; close() ends it, also under waiting calls. Thread: the
// executor that first awaits it. One receive() at a time; send() never waits for the peer: it
// queues (bounded by max_queued_bytes, then limit_exceeded: the peer does not read) and a write
// is under way while the queue is not empty.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <hummer/status.hpp>

#include "platform/network.hpp"
#include "platform/task.hpp"
#include "protocol/control.pb.h"
#include "protocol/message_limits.hpp"

namespace hummer {

// What becomes of a message that is about to be sent. Tests only: real streams lose nothing.
class MessageFaults {
 public:
  enum class Fate { send, lose, repeat, delay };
  struct Verdict {
    Fate fate = Fate::send;
    Nanoseconds delay_ns = 0;  // later messages overtake it
  };
  virtual ~MessageFaults() = default;
  virtual Verdict next(const wire::Envelope& message) = 0;
};

class MessageStream {
 public:
  struct Options {
    std::size_t limit_bytes = max_handshake_bytes;
    std::size_t max_queued_bytes = std::size_t{64} << 20;
    MessageFaults* faults = nullptr;
  };
  MessageStream(Executor& executor, std::unique_ptr<ByteStream> stream, Options options);
  ~MessageStream();
  MessageStream(const MessageStream&) = delete;
  MessageStream& operator=(const MessageStream&) = delete;

  // The next message; peer_gone when the peer closed in good order; timed_out at `deadline` (the
  // stream stays usable); cancelled after close(); protocol_error, connection_lost.
  Task<Result<wire::Envelope>> receive(Nanoseconds deadline = never);
  Status send(const wire::Envelope& message);
  // Until all that was queued has been handed to the network, or `deadline`.
  Task<Status> flush(Nanoseconds deadline);

  void set_limit(std::size_t bytes);
  // That the network has not taken yet.
  std::size_t queued_bytes() const;
  void close();
  SocketAddress peer_address() const;

  // After receive() found another protocol: all bytes that came, as far as they were read.
  std::string_view foreign_bytes() const;
  // The stream below, for those who speak it; this one is over. REQUIRES: no call under way,
  // nothing sent.
  std::unique_ptr<ByteStream> release();

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace hummer
