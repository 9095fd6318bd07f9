// RingLayout: how a ring channel lies in memory that two processes share.
//
//   head      a cache line per writer: who is parked; what was released; what was shown
//   entries   one per message under way, in a circle: what was published, in order
//   returns   one word per slot, in a circle: slots that may be written again, in the order in
//             which they became free
//   slots     the bytes, each with read slack behind it
//   counts    only of a ring that is mirrored (ring_mirror.hpp): one word per entry
//
// A message in position p (0, 1, 2, ...) lies in entry p % entries, and is there when the entry's
// lap says p + 1. So nothing is cleared, and a reader that is a lap behind or ahead of the writer
// finds it out. Several messages may lie in one slot, one behind the other, until one of them or
// one of its own closes it; a slot comes back as a whole, in any order. (Ring, credits, and a flag
// that the last write sets: Slash, SIGMOD 2022, section 4; slots come back out of order here
// because batches point into them.)
//
// Bytes from outside: each word is read once, and checked before it is used. What lies in a slot is
// checked by who reads it, as what comes over a connection is.
//
// Thread: one writer of each part, one reader; laps, returns and the head's words are atomic.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <hummer/status.hpp>

#include "net/transport.hpp"

namespace hummer {

// What both ends must have in common.
struct RingShape {
  std::uint32_t slots = 0;
  std::uint32_t slot_bytes = 0;  // of messages; without the slack
  std::uint32_t controls = 0;

  // As large as a segment may be; what needs more is no ring.
  static constexpr std::size_t max_segment_bytes = std::size_t{1} << 30;

  std::uint64_t entries() const;
  std::size_t segment_bytes() const;
  // With the counts of a ring that is mirrored.
  std::size_t mirrored_bytes() const;
  // Of a ring that is mirrored: what goes by one write at most, so that small slots go together.
  std::size_t largest_write_bytes() const;
};

struct RingMessage {
  // close: nothing more comes into the slot; who reads hands nothing on.
  enum class Kind : std::uint8_t { data = 1, control, close };

  Kind kind = Kind::data;
  bool closes = false;  // data: nothing more comes into its slot
  bool last = false;    // control: nothing more comes at all
  // Barriers that come before it, over the connection beside the ring.
  std::uint32_t barriers = 0;
  std::uint32_t slot = 0;
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
  std::array<char, max_control_bytes> control{};  // of a control
};

// That an end's executor is about to park, so that the other end must wake it. Whoever sets it
// looks at the ring once more behind that, and whoever takes it has written to the ring before: one
// of the two sees what the other did.
class ParkMark {
 public:
  void set() {
    set_.store(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
  void clear() { set_.store(0, std::memory_order_relaxed); }
  bool is_set() const {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return set_.load(std::memory_order_relaxed) != 0;
  }
  // Whether it was set; that end is to be woken then, and by nobody else.
  bool take() { return is_set() && set_.exchange(0, std::memory_order_acq_rel) != 0; }

 private:
  std::atomic<std::uint32_t> set_;
};

// The segment's memory, by its parts.
class RingMemory {
 public:
  // REQUIRES: bytes.size() == shape.segment_bytes() or shape.mirrored_bytes(), from the beginning
  // of a page, all zero before the first of the two ends looks at it.
  RingMemory(std::span<char> bytes, const RingShape& shape);

  // By the sender. Nobody sees it until show().
  void write(std::uint64_t position, const RingMessage& message);
  void show(std::uint64_t position);
  // By the receiver. Empty: it is not there yet. protocol_error when no sender writes such an
  // entry.
  Result<std::optional<RingMessage>> read(std::uint64_t position) const;
  bool shown(std::uint64_t position) const;

  // By the receiver: the slot's number in position 0, 1, ... of all that came back.
  void give_back(std::uint64_t position, std::uint32_t slot);
  // By the sender. Empty: nothing came back in that position yet.
  Result<std::optional<std::uint32_t>> taken_back(std::uint64_t position) const;
  bool came_back(std::uint64_t position) const;

  // REQUIRES: slot < shape.slots.
  char* slot(std::uint32_t slot) const { return slots_ + slot * slot_stride_; }

  ParkMark& receiver_parked() const;
  ParkMark& sender_parked() const;
  // Messages whose credit has come back, in order.
  std::atomic<std::uint64_t>& released() const;

  // For a mirror. What the sender wrote as that message; by the sender.
  RingMessage written(std::uint64_t position) const;
  // Messages that are all there, as the sender counts them where laps don't say so.
  std::atomic<std::uint64_t>& all_shown() const;
  // Where the parts lie in the segment. An entry's fields and lap are its second half, its control
  // is the first.
  static constexpr std::size_t entry_bytes = 128;
  std::size_t place_of_entry(std::uint64_t position) const;
  std::size_t place_of_return(std::uint64_t position) const;
  std::size_t place_of_slot(std::uint32_t slot) const;
  std::size_t place_of_released() const;
  std::size_t place_of_all_shown() const;
  // REQUIRES: a segment of mirrored_bytes().
  std::size_t place_of_count(std::uint64_t count) const;

 private:
  friend struct RingShape;
  struct Head;
  struct Entry;
  Entry& entry(std::uint64_t position) const;
  bool is_written_by_senders(const RingMessage& message) const;
  std::uint64_t lap_of_return(std::uint64_t position) const;

  RingMessage message_in(const Entry& entry) const;
  std::size_t place_of(const void* part) const {
    return static_cast<std::size_t>(static_cast<const char*>(part) - base_);
  }

  const RingShape shape_;
  const std::uint64_t entries_mask_;
  const std::size_t slot_stride_;
  char* base_;
  Head* head_;
  Entry* entries_;
  std::atomic<std::uint64_t>* returns_;
  char* slots_;
};

}  // namespace hummer
