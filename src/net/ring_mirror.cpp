#include "net/ring_mirror.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <utility>

namespace hummer {
namespace {

// A number that is told has 32 bits.
//   to the receiver   position << 1 | part
//   to the sender     position of a return; or, with the highest bit, the total that is released
constexpr std::uint8_t payload_part = 0;
constexpr std::uint8_t entry_part = 1;
constexpr std::uint32_t told_bits = 0x7fffffff;
constexpr std::uint32_t is_total = 0x80000000;

// Of the number that begins at `from` or later and has these low 31 bits, how much later.
std::uint64_t ahead_of(std::uint64_t from, std::uint32_t low) {
  return (low - static_cast<std::uint32_t>(from)) & told_bits;
}

Status untold(const char* what) {
  return {ErrorCode::protocol_error, std::string("the ring was told of ") + what};
}

}  // namespace

RingMirror::RingMirror(End end, RemoteMemory& memory, RingMemory& ring, const RingShape& shape)
    : end_(end),
      memory_(memory),
      ring_(ring),
      shape_(shape),
      order_(memory.order()),
      arrived_(is_told() ? shape.entries() : 0),
      returned_(is_told() ? shape.slots : 0) {
  HUMMER_ASSERT(memory.bytes().size() == shape.mirrored_bytes() && memory.ready());
}

void RingMirror::write(const RemoteMemory::Range& range, std::optional<std::uint32_t> told) {
  if (!waiting_.empty() || !memory_.write(range, told)) waiting_.push_back({range, told});
}

void RingMirror::show(std::uint64_t first, std::uint64_t last) {
  if (!failure_.ok() || first == last) return;
  if (is_told()) {
    for (; first < last; ++first) write_told(first);
    return;
  }
  write_payload(first, last);
  write_entries(first, last);
  if (order_ != WriteOrder::in_order) return;
  write({put_count(last), ring_.place_of_all_shown(), sizeof last}, std::nullopt);
}

std::size_t RingMirror::put_count(std::uint64_t count) {
  const std::size_t place = ring_.place_of_count(count);
  std::memcpy(memory_.bytes().data() + place, &count, sizeof count);
  return place;
}

void RingMirror::write_payload(std::uint64_t first, std::uint64_t last) {
  std::size_t begin = 0, end = 0;
  const auto write_gathered = [&] {
    if (begin < end) write({begin, begin, end - begin}, std::nullopt);
  };
  for (; first < last; ++first) {
    const RingMessage message = ring_.written(first);
    if (message.kind != RingMessage::Kind::data) continue;
    const std::size_t place = ring_.place_of_slot(message.slot) + message.offset;
    const bool adjoins = place >= end && place - end <= least_open_room + read_slack_bytes &&
                         place + message.bytes - begin <= shape_.largest_write_bytes();
    if (begin == end || !adjoins) {
      write_gathered();
      begin = place;
    }
    end = place + message.bytes;
  }
  write_gathered();
}

void RingMirror::write_entries(std::uint64_t first, std::uint64_t last) {
  constexpr std::size_t half = RingMemory::entry_bytes / 2;
  while (first < last) {
    const std::uint64_t to_the_end = shape_.entries() - first % shape_.entries();
    const std::uint64_t at_once = std::max<std::uint64_t>(shape_.slot_bytes / (2 * half), 1);
    const std::uint64_t count = std::min({last - first, to_the_end, at_once});
    std::size_t from = ring_.place_of_entry(first);
    std::size_t size = count * RingMemory::entry_bytes;
    // The first one's control is none of its own where it is no control.
    if (ring_.written(first).kind != RingMessage::Kind::control) {
      from += half;
      size -= half;
    }
    write({from, from, size}, std::nullopt);
    first += count;
  }
}

void RingMirror::write_told(std::uint64_t position) {
  const RingMessage message = ring_.written(position);
  const std::uint32_t number = static_cast<std::uint32_t>(position) << 1;
  if (message.kind == RingMessage::Kind::data) {
    const std::size_t place = ring_.place_of_slot(message.slot) + message.offset;
    write({place, place, message.bytes}, number | payload_part);
  }
  const std::size_t entry = ring_.place_of_entry(position);
  write({entry, entry, RingMemory::entry_bytes}, number | entry_part);
}

bool RingMirror::is_shown(std::uint64_t position) const {
  switch (order_) {
    case WriteOrder::in_order: return position < ring_.all_shown().load(std::memory_order_acquire);
    case WriteOrder::bytes: return ring_.shown(position);
    case WriteOrder::none: break;
  }
  const std::uint8_t arrived = arrived_[position % shape_.entries()];
  if ((arrived & 1u << entry_part) == 0) return false;
  return (arrived & 1u << payload_part) != 0 ||
         ring_.written(position).kind != RingMessage::Kind::data;
}

void RingMirror::took(std::uint64_t position) {
  taken_ = position + 1;
  if (is_told()) arrived_[position % shape_.entries()] = 0;
}

void RingMirror::give_back(std::uint64_t returned) {
  if (!failure_.ok()) return;
  while (given_back_ < returned) {
    const std::uint64_t to_the_end = shape_.slots - given_back_ % shape_.slots;
    const std::uint64_t at_once = shape_.slot_bytes / sizeof(std::uint64_t);
    const std::uint64_t count =
        is_told() ? 1 : std::min({returned - given_back_, to_the_end, at_once});
    const std::size_t place = ring_.place_of_return(given_back_);
    std::optional<std::uint32_t> told;
    if (is_told()) told = static_cast<std::uint32_t>(given_back_) & told_bits;
    write({place, place, count * sizeof(std::uint64_t)}, told);
    given_back_ += count;
  }
}

void RingMirror::release(std::uint64_t total) {
  if (!failure_.ok() || total == told_released_) return;
  told_released_ = total;
  std::optional<std::uint32_t> told;
  if (is_told()) told = is_total | (static_cast<std::uint32_t>(total) & told_bits);
  write({put_count(total), ring_.place_of_released(), sizeof total}, told);
}

bool RingMirror::came_back(std::uint64_t position) const {
  return is_told() ? returned_[position % shape_.slots] : ring_.came_back(position);
}

void RingMirror::took_back(std::uint64_t position) {
  taken_back_ = position + 1;
  if (is_told()) returned_[position % shape_.slots] = false;
}

std::uint64_t RingMirror::released() const {
  return is_told() ? highest_released_ : ring_.released().load(std::memory_order_acquire);
}

Status RingMirror::progress() {
  if (!failure_.ok()) return failure_;
  while (!waiting_.empty() && memory_.write(waiting_.front().range, waiting_.front().told)) {
    waiting_.pop_front();
  }
  numbers_.clear();
  const Status moved = memory_.progress(numbers_);
  for (const std::uint32_t number : numbers_) {
    if (failure_.ok()) failure_ = take(number);
  }
  if (failure_.ok()) failure_ = moved;
  return failure_;
}

Status RingMirror::take(std::uint32_t number) {
  if (!is_told()) return untold("a write, which no peer numbers in this order of writes");
  return end_ == End::receiver ? take_arrival(number) : take_return(number);
}

Status RingMirror::take_arrival(std::uint32_t number) {
  const std::uint64_t ahead = ahead_of(taken_, number >> 1);
  if (ahead >= shape_.entries()) return untold("a message that can't be under way");
  std::uint8_t& arrived = arrived_[(taken_ + ahead) % shape_.entries()];
  const auto part = static_cast<std::uint8_t>(1u << (number & 1));
  if ((arrived & part) != 0) return untold("a message that has come before");
  arrived |= part;
  return {};
}

Status RingMirror::take_return(std::uint32_t number) {
  if ((number & is_total) != 0) {
    // A total may arrive behind a later one.
    const std::uint64_t ahead = ahead_of(highest_released_, number & told_bits);
    if (ahead <= told_bits / 2) highest_released_ += ahead;
    return {};
  }
  const std::uint64_t ahead = ahead_of(taken_back_, number);
  if (ahead >= shape_.slots) return untold("a slot that can't be under way");
  const std::uint64_t slot = (taken_back_ + ahead) % shape_.slots;
  if (returned_[slot]) return untold("a slot that has come back before");
  returned_[slot] = true;
  return {};
}

}  // namespace hummer
