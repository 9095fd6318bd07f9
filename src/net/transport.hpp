// Transport: one direction of one channel between two processes (or two slots
// that are told to behave as if), as two ends over bytes. It is the ring channel
// contract again: a fixed number of buffers, which are the credits; acquire,
// publish, poll, release. (Credits and ring: Slash, SIGMOD 2022, section 4.)
//
// Forms: memory_transport (one process; keeps the contract honest), tcp_transport,
// ring_transport (shared memory). One-sided RDMA fits because `acquire` hands out the memory
// that is sent, and a received BufferRef may be the slot itself.
//
//   sender                                  receiver
//   attach(executor, wake_event)            attach(executor, wake_event)
//   std::span<char> room = acquire(n)       while (poll(received) == Poll::bytes) {
//   write into it                             use received.bytes
//   publish(used, false)                      release()
//   publish_control(bytes, last)            }
//
// Credit: a data buffer is taken out of `credits` by acquire and comes back when
// the receiver releases it, so at most `credits` buffers are under way. Controls
// have a small credit of their own: data never stops a watermark, barrier or end.
// What arrives keeps the order of publishing, controls included.
//
// Barriers that overtake (runtime/in_flight.hpp) come behind what was published, and need no
// credit: a receiver that keeps the credits of what it has polled can read on until it meets one,
// and holds no more than the channel's credits then.
//
// Waiting: an end that got nothing (empty span, false, Poll::nothing) is notified
// through its task's WakeEvent when asking again may help.
//
// Death: a peer that closes early, a lost connection and a broken protocol are
// results: failure() at the sender, Poll::failed at the receiver, for good. An end
// that is destroyed before the channel has finished tells its peer (abandon). Its
// words may get lost, the death not: a closed socket resets a connection with bytes
// unread, and then the peer's failure is connection_lost.
// A peer that is alive but silent is not noticed here; heartbeats are for that.
//
// Thread: both calls of an end on its executor, except attach, from any thread
// before the first other call. Destroy an end on its executor, or after that has
// stopped and before it is destroyed; its WakeEvent must live as long.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <hummer/buffer.hpp>
#include <hummer/status.hpp>

namespace hummer {

class Executor;
class WakeEvent;

// Every span from acquire, and every run of data from poll, starts at such a border.
inline constexpr std::size_t transport_alignment = 64;
// Upper limit of one control.
inline constexpr std::size_t max_control_bytes = 64;

constexpr std::size_t align_up(std::size_t size, std::size_t alignment = transport_alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

// What lies in several places and is to be one run of bytes. Whoever adds keeps it alive.
class Pieces {
 public:
  static constexpr std::size_t most = 7;

  void add(const void* bytes, std::size_t length) {
    if (length == 0) return;
    HUMMER_ASSERT(count_ < most);
    pieces_[count_++] = {static_cast<const char*>(bytes), length};
    bytes_ += length;
  }
  std::span<const std::string_view> all() const { return std::span(pieces_).first(count_); }
  std::size_t bytes() const { return bytes_; }

 private:
  std::array<std::string_view, most> pieces_;
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
};
// A buffer that has less room left is handed over.
inline constexpr std::size_t least_open_room = 4 * transport_alignment;
// Of what a barrier passes: far above what a channel and the tasks at its ends can hold.
inline constexpr std::size_t max_in_flight_bytes = std::size_t{1} << 30;
// Of what is published in place at once.
inline constexpr std::size_t max_buffers_in_place = 4;

class TransportSender {
 public:
  virtual ~TransportSender() = default;

  virtual void attach(Executor& executor, WakeEvent& wake_event) = 0;

  // What a fresh buffer holds.
  virtual std::size_t capacity() const = 0;
  // Memory to write, at least `minimum` bytes of it: the rest of a buffer that has not left
  // yet, or a fresh one. Empty: no credit now, or failed. Asking again without publishing gives
  // the same. REQUIRES: minimum <= capacity().
  virtual std::span<char> acquire(std::size_t minimum) = 0;
  // Hands over the first `used` bytes of what acquire gave. It leaves at once when the way is
  // free; while it is busy further ones share the buffer. `more`: something is published next in
  // the same call of the task, and may leave together with it; until then it may stay.
  // REQUIRES: used % transport_alignment == 0.
  virtual void publish(std::size_t used, bool more) = 0;
  // The same of several buffers at once, the pieces of each one behind the other, without a copy
  // of what leaves at once. How many were taken, the first ones: none when the way is busy, there
  // is no credit, or this form always copies; acquire room then.
  // REQUIRES: each is as publish of a fresh buffer.
  virtual std::size_t publish_in_place(std::span<const Pieces> /*buffers*/) { return 0; }
  // False: no control credit now, or failed. Nothing may follow the `last` one.
  // REQUIRES: bytes.size() == max_control_bytes.
  virtual bool publish_control(std::span<const char> bytes, bool last) = 0;
  // A barrier behind what was published; not after the last control. `in_flight`: records that come
  // before it, for whom it passes.
  virtual void send_out_of_band(std::uint64_t epoch, std::string in_flight) = 0;
  // After the last control: true once the receiver has released everything.
  virtual bool finished() = 0;

  // ok() while the channel lives.
  virtual const Status& failure() const = 0;
  // Ends the channel before its time; the receiver fails with `why`.
  virtual void abandon(const Status& why) = 0;
};

enum class Poll {
  nothing,  // now
  bytes,
  barrier,  // nothing to release
  closed,   // the last control has been released
  failed,   // failure() says why
};

struct Received {
  // Keeps `bytes` alive beyond release(); empty for controls, whose bytes live until then.
  BufferRef buffer;
  std::string_view bytes;
  // Of a barrier.
  std::uint64_t epoch = 0;
  std::string in_flight = {};
};

class TransportReceiver {
 public:
  virtual ~TransportReceiver() = default;

  virtual void attach(Executor& executor, WakeEvent& wake_event) = 0;

  // REQUIRES: what came before has been released.
  virtual Poll poll(Received& received) = 0;
  // The bytes of the last poll have been taken: their credit goes back. A form whose buffers
  // are the ring itself gives it back when the last BufferRef is dropped.
  void release() {
    keep_credit();
    give_back();
  }
  // The two halves of it: their credit stays here, and the oldest one that did goes back.
  virtual void keep_credit() = 0;
  virtual void give_back() = 0;
  // True when nothing is left to tell the peer; an end that is destroyed earlier may leave a
  // sender waiting for its last credit.
  virtual bool flush() = 0;

  virtual const Status& failure() const = 0;
  virtual void abandon(const Status& why) = 0;
};

struct TransportPair {
  std::unique_ptr<TransportSender> sender;
  std::unique_ptr<TransportReceiver> receiver;
};

}  // namespace hummer
