// RingMirror: keeps the two halves of a ring alike that lie in the memories of two processes
// (platform/remote_memory.hpp). Each end works on its own half as if it were shared; what it has
// written there and the other must see, the mirror writes to the same place over there.
//
//   sender                                       receiver
//   mirror.show(first, last)                     mirror.give_back(returned), mirror.release(total)
//   mirror.came_back(p), mirror.released()       mirror.is_shown(p), mirror.took(p)
//
//   mirror.progress()     both, whenever they look: moves what waits and takes what has arrived
//
// When a message is there (WriteOrder of the memory; the modes of Slash and what came after it):
//   in_order   payload, entries, and behind them the count of messages that are all there, which is
//              a write of its own
//   bytes      payload, then entries; an entry's last word is its lap
//   none       each write has a number. A message is there when its entry and, of data, its payload
//              have come. What comes back is numbered, too; of totals the largest counts
// A word per slot says that it came back, in each of them: it stands for itself. Counts are taken
// from a circle of words, as a device may read the bytes of a write long after it was asked for,
// and piece by piece.
//
// Writes of one show() that lie side by side go as one, up to the shape's largest, but in mode
// `none`, where each is told; what lies between the messages of two slots goes with them.
//
// Thread: the end's. Errors are those of the memory, and protocol_error for numbers that no end of
// ours tells; they are kept.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include <hummer/status.hpp>

#include "net/ring_layout.hpp"
#include "platform/remote_memory.hpp"

namespace hummer {

class RingMirror {
 public:
  enum class End : std::uint8_t { sender, receiver };

  // REQUIRES: memory.bytes().size() == shape.mirrored_bytes(); memory.ready(). Both must outlive
  // it.
  RingMirror(End end, RemoteMemory& memory, RingMemory& ring, const RingShape& shape);

  // By the sender. Messages first to last - 1 have been written and have their laps.
  void show(std::uint64_t first, std::uint64_t last);
  bool came_back(std::uint64_t position) const;
  void took_back(std::uint64_t position);
  std::uint64_t released() const;

  // By the receiver. `returned` slots have come back, in all; `total` messages' credits.
  void give_back(std::uint64_t returned);
  void release(std::uint64_t total);
  bool is_shown(std::uint64_t position) const;
  // REQUIRES: is_shown(position), the positions in order.
  void took(std::uint64_t position);
  std::uint64_t given_back() const { return given_back_; }
  std::uint64_t told_released() const { return told_released_; }

  // Whether what stands in the ring's memory says by itself whether it is there: of messages, and
  // of what came back.
  bool laps_tell() const { return order_ == WriteOrder::bytes; }
  bool returns_tell() const { return order_ != WriteOrder::none; }

  Status progress();
  // Writes that the device had no room for.
  bool has_waiting() const { return !waiting_.empty(); }
  // Nothing waits and nothing is under way.
  bool all_written() const { return waiting_.empty() && memory_.under_way() == 0; }

 private:
  struct Write {
    RemoteMemory::Range range;
    std::optional<std::uint32_t> told;
  };

  void write(const RemoteMemory::Range& range, std::optional<std::uint32_t> told);
  // Where the device may take it from for as long as it likes; so far totals don't come again.
  std::size_t put_count(std::uint64_t count);
  void write_payload(std::uint64_t first, std::uint64_t last);
  void write_entries(std::uint64_t first, std::uint64_t last);
  void write_told(std::uint64_t position);
  Status take(std::uint32_t number);
  Status take_arrival(std::uint32_t number);
  Status take_return(std::uint32_t number);
  bool is_told() const { return order_ == WriteOrder::none; }

  const End end_;
  RemoteMemory& memory_;
  RingMemory& ring_;
  const RingShape shape_;
  const WriteOrder order_;
  std::deque<Write> waiting_;  // for room in the device's queue
  std::vector<std::uint32_t> numbers_;
  Status failure_;

  // What this end has taken or given, for the numbers that are relative to it.
  std::uint64_t taken_ = 0;
  std::uint64_t taken_back_ = 0;
  std::uint64_t given_back_ = 0;
  std::uint64_t told_released_ = 0;
  std::uint64_t highest_released_ = 0;
  // Mode `none`: what has arrived of each message under way, and of each slot's word.
  std::vector<std::uint8_t> arrived_;
  std::vector<bool> returned_;
};

}  // namespace hummer
