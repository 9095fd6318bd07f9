#include "net/ring_layout.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <string>

#include <hummer/buffer.hpp>
#include <hummer/detail/key_hash.hpp>

namespace hummer {
namespace {

constexpr std::size_t page_bytes = 4096;
// Small batches share a slot: this many of them before the circle of entries is what runs out.
constexpr std::uint64_t messages_per_slot = 8;

constexpr std::uint8_t flag_closes = 1;
constexpr std::uint8_t flag_last = 2;

std::size_t stride(const RingShape& shape) {
  return align_up(shape.slot_bytes + read_slack_bytes, transport_alignment);
}

// Whether `seen` is what stands where `from` is being replaced by `to`, of which the lower bytes
// are there: a device may write a word in two pieces.
bool is_on_its_way(std::uint64_t from, std::uint64_t to, std::uint64_t seen) {
  for (std::uint64_t there = 0; there != UINT64_MAX; there = there << 8 | 0xff) {
    if (seen == ((to & there) | (from & ~there))) return true;
  }
  return false;
}

Status broken(std::string what) { return {ErrorCode::protocol_error, std::move(what)}; }

}  // namespace

struct RingMemory::Head {
  alignas(64) std::atomic<std::uint64_t> released;   // the receiver's
  alignas(64) ParkMark receiver_parked;              // both
  alignas(64) ParkMark sender_parked;                // both
  alignas(64) std::atomic<std::uint64_t> all_shown;  // the sender's
};

struct RingMemory::Entry {
  alignas(entry_bytes) std::array<char, max_control_bytes> control;
  std::uint32_t slot;
  std::uint32_t offset;
  std::uint32_t bytes;
  std::uint8_t kind;
  std::uint8_t flags;
  std::uint16_t reserved;
  std::uint32_t barriers;
  std::uint32_t reserved_too;
  std::uint64_t check;  // of the position, of what stands above and of the control
  std::uint64_t unused[3];
  // Last, for who copies an entry from front to back.
  std::atomic<std::uint64_t> lap;

  std::uint64_t expected_check(std::uint64_t position) const {
    std::uint64_t words[4] = {position, barriers | std::uint64_t{reserved_too} << 32,
                              slot | std::uint64_t{offset} << 32,
                              bytes | std::uint64_t{kind} << 32 | std::uint64_t{flags} << 40 |
                                  std::uint64_t{reserved} << 48};
    std::uint64_t sum = hash_bytes(words, sizeof words);
    if (kind == static_cast<std::uint8_t>(RingMessage::Kind::control)) {
      sum ^= hash_bytes(control.data(), control.size());
    }
    return sum;
  }
};

bool RingMemory::is_written_by_senders(const RingMessage& message) const {
  switch (message.kind) {
    case RingMessage::Kind::data:
      return message.bytes > 0 && message.slot < shape_.slots && !message.last &&
             message.offset % transport_alignment == 0 && message.offset < shape_.slot_bytes &&
             message.bytes <= shape_.slot_bytes - message.offset;
    case RingMessage::Kind::control: return !message.closes;
    case RingMessage::Kind::close: return message.slot < shape_.slots && !message.last;
  }
  return false;
}

std::uint64_t RingShape::entries() const {
  return std::bit_ceil(messages_per_slot * slots + controls);
}

std::size_t RingShape::segment_bytes() const {
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
  return page_bytes + align_up(entries() * sizeof(RingMemory::Entry), page_bytes) +
         align_up(slots * sizeof(std::uint64_t), page_bytes) +
         align_up(slots * stride(*this), page_bytes);
}

std::size_t RingShape::mirrored_bytes() const {
  return segment_bytes() + align_up(entries() * sizeof(std::uint64_t), page_bytes);
}

std::size_t RingShape::largest_write_bytes() const {
  constexpr std::size_t pays = std::size_t{64} << 10;
  return std::max<std::size_t>(slot_bytes, pays);
}

RingMemory::RingMemory(std::span<char> bytes, const RingShape& shape)
    : shape_(shape),
      entries_mask_(shape.entries() - 1),
      slot_stride_(stride(shape)),
      base_(bytes.data()) {
  HUMMER_ASSERT(bytes.size() == shape.segment_bytes() || bytes.size() == shape.mirrored_bytes());
  static_assert(sizeof(Head) <= page_bytes && sizeof(Entry) == entry_bytes);
  char* at = bytes.data();
  head_ = std::launder(reinterpret_cast<Head*>(at));
  at += page_bytes;
  entries_ = std::launder(reinterpret_cast<Entry*>(at));
  at += align_up(shape.entries() * sizeof(Entry), page_bytes);
  returns_ = std::launder(reinterpret_cast<std::atomic<std::uint64_t>*>(at));
  at += align_up(shape.slots * sizeof(std::uint64_t), page_bytes);
  slots_ = at;
}

RingMemory::Entry& RingMemory::entry(std::uint64_t position) const {
  return entries_[position & entries_mask_];
}

void RingMemory::write(std::uint64_t position, const RingMessage& message) {
  Entry& to = entry(position);
  to.slot = message.slot;
  to.offset = message.offset;
  to.bytes = message.bytes;
  to.kind = static_cast<std::uint8_t>(message.kind);
  to.flags = (message.closes ? flag_closes : 0) | (message.last ? flag_last : 0);
  to.reserved = 0;
  to.reserved_too = 0;
  to.barriers = message.barriers;
  if (message.kind == RingMessage::Kind::control) to.control = message.control;
  to.check = to.expected_check(position);
}

void RingMemory::show(std::uint64_t position) {
  entry(position).lap.store(position + 1, std::memory_order_release);
}

bool RingMemory::shown(std::uint64_t position) const {
  return entry(position).lap.load(std::memory_order_acquire) == position + 1;
}

RingMessage RingMemory::message_in(const Entry& entry) const {
  RingMessage message;
  message.kind = static_cast<RingMessage::Kind>(entry.kind);
  message.closes = (entry.flags & flag_closes) != 0;
  message.last = (entry.flags & flag_last) != 0;
  message.barriers = entry.barriers;
  message.slot = entry.slot;
  message.offset = entry.offset;
  message.bytes = entry.bytes;
  if (message.kind == RingMessage::Kind::control) message.control = entry.control;
  return message;
}

RingMessage RingMemory::written(std::uint64_t position) const {
  return message_in(entry(position));
}

Result<std::optional<RingMessage>> RingMemory::read(std::uint64_t position) const {
  const Entry& shared = entry(position);
  const std::uint64_t lap = shared.lap.load(std::memory_order_acquire);
  if (lap != position + 1) {
    const std::uint64_t before = position > entries_mask_ ? position - entries_mask_ : 0;
    if (is_on_its_way(before, position + 1, lap)) return std::optional<RingMessage>();
    return broken("an entry of the ring says lap " + std::to_string(lap) + " where " +
                  std::to_string(position + 1) + " was expected");
  }
  // Taken once, so that what was checked is what is used.
  Entry from;
  from.slot = shared.slot;
  from.offset = shared.offset;
  from.bytes = shared.bytes;
  from.kind = shared.kind;
  from.flags = shared.flags;
  from.reserved = shared.reserved;
  from.reserved_too = shared.reserved_too;
  from.barriers = shared.barriers;
  from.check = shared.check;
  const bool is_control = from.kind == static_cast<std::uint8_t>(RingMessage::Kind::control);
  if (is_control) from.control = shared.control;
  if (from.check != from.expected_check(position)) {
    return broken("an entry of the ring is damaged (bad check)");
  }
  const RingMessage message = message_in(from);
  if (!is_written_by_senders(message) || from.flags > (flag_closes | flag_last) ||
      (from.reserved | from.reserved_too) != 0) {
    return broken("an entry of the ring that no sender writes");
  }
  return std::optional<RingMessage>(message);
}

// Of 32 bits, the first is 1: so a word that is zero is none.
std::uint64_t RingMemory::lap_of_return(std::uint64_t position) const {
  return (position / shape_.slots + 1) & 0xffffffffu;
}

void RingMemory::give_back(std::uint64_t position, std::uint32_t slot) {
  returns_[position % shape_.slots].store(lap_of_return(position) << 32 | slot,
                                          std::memory_order_release);
}

bool RingMemory::came_back(std::uint64_t position) const {
  return returns_[position % shape_.slots].load(std::memory_order_acquire) >> 32 ==
         lap_of_return(position);
}

Result<std::optional<std::uint32_t>> RingMemory::taken_back(std::uint64_t position) const {
  const std::uint64_t word = returns_[position % shape_.slots].load(std::memory_order_acquire);
  const std::uint64_t lap = lap_of_return(position);
  if (word >> 32 == lap) return std::optional(static_cast<std::uint32_t>(word));
  if (is_on_its_way((lap - 1) & 0xffffffffu, lap, word >> 32)) {
    return std::optional<std::uint32_t>();
  }
  return broken("a slot came back to the ring in lap " + std::to_string(word >> 32) + " where " +
                std::to_string(lap) + " was expected");
}

ParkMark& RingMemory::receiver_parked() const { return head_->receiver_parked; }
ParkMark& RingMemory::sender_parked() const { return head_->sender_parked; }
std::atomic<std::uint64_t>& RingMemory::released() const { return head_->released; }
std::atomic<std::uint64_t>& RingMemory::all_shown() const { return head_->all_shown; }

std::size_t RingMemory::place_of_entry(std::uint64_t position) const {
  return place_of(&entry(position));
}
std::size_t RingMemory::place_of_return(std::uint64_t position) const {
  return place_of(&returns_[position % shape_.slots]);
}
std::size_t RingMemory::place_of_slot(std::uint32_t slot) const {
  return place_of(this->slot(slot));
}
std::size_t RingMemory::place_of_released() const { return place_of(&head_->released); }
std::size_t RingMemory::place_of_all_shown() const { return place_of(&head_->all_shown); }
std::size_t RingMemory::place_of_count(std::uint64_t count) const {
  return shape_.segment_bytes() + (count & entries_mask_) * sizeof(std::uint64_t);
}

}  // namespace hummer
