// RemoteMemory: two processes, each with a memory of the same size into which the other one writes
// (one-sided writes, as RDMA has them). What is written at a place arrives at the same place, or
// where the writer says, in the other's.
//
//   receiver                                     sender
//   auto made = memory.create(bytes, largest_write, own_address);
//   tell it made.place, by a link that both trust
//                                                auto end = memory.open(place, ...);
//   made.end->connect() now and then             until (*end)->ready(): connect()
//                                                tell it (*end)->answer()
//   made.end->answered(answer)
//   until made.end->ready(): connect()
//
// Then each may write:
//   write into end->bytes(), and end->write({from, to, size}, told)   // false: progress, ask again
//   end->progress(numbers)     // moves what is under way; the `told` of what has arrived
//
// What a form promises (WriteOrder) is what its user builds on:
//   in_order    a write arrives as a whole before any byte of a later one; within one, its bytes
//               come in any order; of an aligned word of eight the lower bytes may come first
//   bytes       as in_order, and within one write lower addresses come first
//   none        writes arrive in any order and in pieces; that one is there is known by its number
//
// connect() and progress() don't wait. progress() must be called by both ends while anything is
// under way, also by one that only waits: some forms move nothing by themselves.
//
// What arrives comes from outside: whoever reads checks it, takes each word once, and orders what
// he reads by atomics.
//
// Linux: libfabric (fabric_memory.hpp), where the machine has it. Simulated: SimulatedRemoteMemory,
// which delays, splits and reorders as far as its WriteOrder allows.
//
// Thread: create and open any; an end one at a time. Destroying it gives its memory up, and the
// peer's next progress fails. Errors: `limit_exceeded` where there is no room or the system locks
// no more memory, `not_found` where the place can't be reached from here or is none, `peer_gone`
// and `connection_lost` when the other end is no more, `io_error` for what else the device says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/status.hpp>

namespace hummer {

enum class WriteOrder : std::uint8_t { none, in_order, bytes };

class RemoteMemory {
 public:
  struct Range {
    std::size_t from = 0;  // in bytes()
    std::size_t to = 0;    // in the peer's
    std::size_t size = 0;
  };
  static constexpr std::size_t max_place_bytes = 300;

  virtual ~RemoteMemory() = default;

  // Of this process, from the beginning of a page; all zero at first.
  virtual std::span<char> bytes() = 0;
  virtual WriteOrder order() const = 0;
  // What it runs on, for people: "libfabric tcp (eth0)".
  virtual std::string description() const = 0;

  // What the sender answers, and the receiver takes. May be empty.
  virtual std::string answer() const = 0;
  virtual Status answered(std::string_view answer) = 0;
  // Goes on with connecting; takes no numbers. An error is for good.
  virtual Status connect() = 0;
  // Whether it is connected: writes and progress may begin.
  virtual bool ready() const = 0;

  // The bytes must stay as they are until under_way() has been 0, or the peer is known to have
  // them. `told`: a number that the peer gets from progress() once these bytes are there. False:
  // the queue of the device is full, or it has failed, as progress() says. REQUIRES: ready(); both
  // ranges lie within bytes(); size <= the largest write.
  virtual bool write(const Range& range, std::optional<std::uint32_t> told) = 0;
  // Writes that have begun and are not known to be complete.
  virtual std::size_t under_way() const = 0;
  // Adds the numbers of writes of the peer that have arrived, in the order in which they did. An
  // error is for good. REQUIRES: ready().
  virtual Status progress(std::vector<std::uint32_t>& told) = 0;
};

struct MadeRemoteMemory {
  std::unique_ptr<RemoteMemory> end;
  std::string place;
};

// Makes such memories. One per process and device.
class RemoteMemoryDevice {
 public:
  static constexpr std::size_t max_provider_bytes = 64;

  virtual ~RemoteMemoryDevice() = default;

  // Two devices of one name can reach each other, where a network lets them.
  virtual std::string provider() const = 0;
  // For the end that waits until the other one has opened it. `largest_write_bytes`: some devices
  // keep writes in order up to a size alone; the same for both ends. `local_address`: a numeric one
  // of this process, as the peer sees it. May take a second or two.
  virtual Result<MadeRemoteMemory> create(std::size_t size_bytes, std::size_t largest_write_bytes,
                                          std::string_view local_address) = 0;
  // `place` may be any text. REQUIRES: size_bytes > 0.
  virtual Result<std::unique_ptr<RemoteMemory>> open(std::string_view place, std::size_t size_bytes,
                                                     std::size_t largest_write_bytes) = 0;
};

}  // namespace hummer
