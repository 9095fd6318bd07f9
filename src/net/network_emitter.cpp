#include "net/network_emitter.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

namespace hummer {
namespace {

// Less room than this is not worth a block of its own.
constexpr std::size_t minimum_room = 1024;
// Below it a copy costs less than what is saved, and small batches had better share a buffer.
constexpr std::size_t least_in_place_bytes = std::size_t{16} << 10;

// Blocks of the values of one batch of a bitwise type.
struct BitwiseBlocks {
  BitwiseBlocks(const TypeDescriptor& type_, const Batch& batch_)
      : type(type_),
        batch(batch_),
        timed(batch.has_timestamps()),
        record_bytes(type.size_bytes + (timed ? sizeof(Timestamp) : 0)),
        overhead(block_header_bytes + (timed ? sizeof(Timestamp) - 1 : 0)) {}

  std::size_t bytes(std::size_t records) const {
    return align_up(overhead + records * record_bytes);
  }
  std::size_t records_in(std::size_t room) const {
    return std::min<std::size_t>((room - overhead) / record_bytes, max_block_records);
  }
  BlockHeader header(std::size_t records) const {
    BlockHeader header;
    header.flags = BlockHeader::bitwise | (timed ? BlockHeader::timestamps : 0);
    header.records = static_cast<std::uint32_t>(records);
    header.values_bytes = static_cast<std::uint32_t>(records * type.size_bytes);
    return header;
  }
  const char* values(std::size_t first) const {
    return static_cast<const char*>(batch.raw_values()) + first * type.size_bytes;
  }

  const TypeDescriptor& type;
  const Batch& batch;
  const bool timed;
  const std::size_t record_bytes;
  const std::size_t overhead;  // up to 7 bytes may stand between values and timestamps
};

}  // namespace

NetworkEmitter::NetworkEmitter(std::unique_ptr<TransportSender> transport,
                               const TypeDescriptor& type, std::string peer,
                               std::size_t max_record_bytes)
    : transport_(std::move(transport)),
      type_(type),
      peer_(std::move(peer)),
      max_record_bytes_(max_record_bytes) {}

void NetworkEmitter::attach(Executor& executor, WakeEvent& wake_event) {
  transport_->attach(executor, wake_event);
}

Status NetworkEmitter::failure() const { return failure_.ok() ? transport_->failure() : failure_; }

void NetworkEmitter::send_out_of_band(std::uint64_t epoch, std::string in_flight) {
  if (!end_sent_) transport_->send_out_of_band(epoch, std::move(in_flight));
}

void NetworkEmitter::abandon() {
  transport_->abandon({ErrorCode::peer_gone, "the sending task ended before its stream"});
}

OperatorResult NetworkEmitter::offer(Element& element) {
  if (!failure_.ok() || !transport_->failure().ok()) return OperatorResult::failed;
  if (element.control.kind == Control::Kind::idle) element.control = {};
  while (!element.batch.finished()) {
    const OperatorResult answer = send_batch(element);
    if (answer != OperatorResult::done) return answer;
  }
  if (element.batch.has_storage()) element.batch.clear();
  if (!element.control) return OperatorResult::done;
  const OperatorResult answer = send_control(element.control);
  if (answer == OperatorResult::done) element.control = {};
  return answer;
}

OperatorResult NetworkEmitter::send_batch(Element& element) {
  const bool follows = static_cast<bool>(element.control);
  if (record_bytes_ != 0) return send_fragments(element.batch, follows);
  return type_.bitwise ? send_bitwise(element) : send_encoded(element.batch, follows);
}

void NetworkEmitter::publish(BlockHeader& header, char* at, bool more) {
  header.sequence = next_sequence_++;
  seal_block(header, at);
  bytes_sent_.add(header.block_bytes());
  transport_->publish(header.block_bytes(), more);
}

OperatorResult NetworkEmitter::send_bitwise(Element& element) {
  Batch& batch = element.batch;
  const BitwiseBlocks blocks(type_, batch);
  const std::size_t first = batch.position();
  const std::size_t left = batch.size() - first;
  const bool follows = static_cast<bool>(element.control);
  if (blocks.bytes(1) > transport_->capacity()) return start_record(batch, follows);
  if (send_in_place(element)) return OperatorResult::done;
  const std::size_t enough = std::max(blocks.bytes(1), align_up(minimum_room));
  const std::span<char> room =
      transport_->acquire(std::min({blocks.bytes(left), enough, transport_->capacity()}));
  if (room.empty()) return no_room();

  const std::size_t count = std::min(blocks.records_in(room.size()), left);
  BlockHeader header = blocks.header(count);
  char* values = room.data() + block_header_bytes;
  std::memcpy(values, blocks.values(first), header.values_bytes);
  if (blocks.timed) {
    const std::size_t offset = align_up(header.values_bytes, sizeof(Timestamp));
    std::memset(values + header.values_bytes, 0, offset - header.values_bytes);
    std::memcpy(values + offset, batch.timestamps().data() + first, count * sizeof(Timestamp));
  }
  publish(header, room.data(), follows || count < left);
  records_sent_ += count;
  batch.advance_to(first + count);
  return OperatorResult::done;
}

bool NetworkEmitter::send_in_place(Element& element) {
  static constexpr std::array<char, transport_alignment> zeros{};
  Batch& batch = element.batch;
  Control& control = element.control;
  const BitwiseBlocks blocks(type_, batch);
  const std::size_t capacity = transport_->capacity();
  const std::size_t most = blocks.records_in(capacity);
  std::size_t left = batch.size() - batch.position();
  // A full buffer, and what is behind it.
  if (std::min(left, most) * blocks.record_bytes < least_in_place_bytes) return false;

  std::array<Pieces, max_buffers_in_place> buffers;
  std::array<BlockHeader, max_buffers_in_place> headers;
  BlockHeader behind;
  bool with_control = false;
  std::size_t used = 0;
  for (std::size_t at = batch.position(); used < buffers.size() && left > 0; ++used) {
    const std::size_t count = std::min(most, left);
    BlockHeader& header = headers[used];
    header = blocks.header(count);
    header.sequence = next_sequence_ + used;
    Pieces& pieces = buffers[used];
    pieces.add(&header, sizeof header);
    pieces.add(blocks.values(at), header.values_bytes);
    if (blocks.timed) {
      pieces.add(zeros.data(),
                 align_up(header.values_bytes, sizeof(Timestamp)) - header.values_bytes);
      pieces.add(batch.timestamps().data() + at, count * sizeof(Timestamp));
    }
    pieces.add(zeros.data(), align_up(header.payload_bytes()) - header.payload_bytes());
    at += count;
    left -= count;
    // The end is told apart by its frame.
    with_control = left == 0 && control && control.kind != Control::Kind::end &&
                   pieces.bytes() + block_header_bytes <= capacity;
    if (!with_control) continue;
    behind = control_block(control, next_sequence_ + used + 1);
    pieces.add(&behind, sizeof behind);
  }
  const std::size_t taken = transport_->publish_in_place(std::span(buffers).first(used));
  for (std::size_t i = 0; i < taken; ++i) {
    bytes_sent_.add(buffers[i].bytes());
    records_sent_ += headers[i].records;
    batch.advance_to(batch.position() + headers[i].records);
  }
  next_sequence_ += taken;
  if (with_control && taken == used) {
    ++next_sequence_;
    control = {};
  }
  return taken > 0;
}

OperatorResult NetworkEmitter::send_encoded(Batch& batch, bool follows) {
  const bool timed = batch.has_timestamps();
  const std::size_t first = batch.position();
  const std::size_t typical_bytes = typical_record_bytes_ + (timed ? sizeof(Timestamp) : 0);
  // First into what is left of a buffer, then into a whole one, then in pieces.
  std::size_t minimum =
      std::min(align_up(std::max(block_header_bytes + 2 * typical_bytes, minimum_room)),
               transport_->capacity());
  while (true) {
    const std::span<char> room = transport_->acquire(minimum);
    if (room.empty()) return no_room();
    const std::size_t payload = room.size() - block_header_bytes;
    std::size_t count = std::min<std::size_t>(batch.size() - first, max_block_records);
    std::size_t reserved = 0;
    if (timed) {
      count = std::min(count, std::max<std::size_t>(payload / typical_bytes, 1));
      reserved = (count + 1) * sizeof(Timestamp);
    }
    char* values = room.data() + block_header_bytes;
    ByteWriter out(std::span(values, payload - std::min(payload, reserved)));
    const std::size_t encoded =
        type_.encode_values(batch.raw_values(), first, first + count, out) - first;
    if (encoded == 0) {
      if (room.size() >= transport_->capacity()) return start_record(batch, follows);
      minimum = transport_->capacity();
      continue;
    }
    BlockHeader header;
    header.flags = timed ? BlockHeader::timestamps : 0;
    header.records = static_cast<std::uint32_t>(encoded);
    header.values_bytes = static_cast<std::uint32_t>(out.size());
    typical_record_bytes_ = (typical_record_bytes_ + out.size() / encoded) / 2 + 1;
    if (timed) {
      const std::size_t offset = align_up(out.size(), sizeof(Timestamp));
      std::memset(values + out.size(), 0, offset - out.size());
      std::memcpy(values + offset, batch.timestamps().data() + first, encoded * sizeof(Timestamp));
    }
    publish(header, room.data(), follows || first + encoded < batch.size());
    records_sent_ += encoded;
    batch.advance_to(first + encoded);
    return OperatorResult::done;
  }
}

OperatorResult NetworkEmitter::start_record(Batch& batch, bool follows) {
  record_.clear();
  ByteWriter out(record_);
  const std::size_t first = batch.position();
  type_.encode_values(batch.raw_values(), first, first + 1, out);
  record_bytes_ = out.size();
  record_sent_ = 0;
  if (record_bytes_ > max_record_bytes_) {
    failure_ = {ErrorCode::limit_exceeded, "a record of " + std::to_string(record_bytes_) +
                                               " bytes for " + peer_ + " exceeds the limit of " +
                                               std::to_string(max_record_bytes_)};
    return OperatorResult::failed;
  }
  return send_fragments(batch, follows);
}

OperatorResult NetworkEmitter::send_fragments(Batch& batch, bool follows) {
  while (record_sent_ < record_bytes_) {
    const std::size_t left = record_bytes_ - record_sent_;
    const std::span<char> room = transport_->acquire(
        std::min({align_up(block_header_bytes + left), minimum_room, transport_->capacity()}));
    if (room.empty()) return no_room();
    const std::size_t length = std::min(left, room.size() - block_header_bytes);
    BlockHeader header;
    header.kind = BlockKind::fragment;
    header.values_bytes = static_cast<std::uint32_t>(length);
    header.total_bytes = record_bytes_;
    if (record_sent_ == 0) header.flags |= BlockHeader::first;
    if (length == left) header.flags |= BlockHeader::last;
    if (batch.has_timestamps()) {
      header.flags |= BlockHeader::timestamps;
      header.time = batch.timestamps()[batch.position()];
    }
    std::memcpy(room.data() + block_header_bytes, record_.data() + record_sent_, length);
    const bool last_of_batch = length == left && batch.position() + 1 == batch.size();
    publish(header, room.data(), follows || !last_of_batch);
    record_sent_ += length;
  }
  record_bytes_ = 0;
  record_ = std::string();
  ++records_sent_;
  batch.advance_to(batch.position() + 1);
  return OperatorResult::done;
}

OperatorResult NetworkEmitter::send_control(const Control& control) {
  const bool is_end = control.kind == Control::Kind::end;
  if (!end_sent_) {
    const BlockHeader header = control_block(control, next_sequence_);
    char bytes[block_header_bytes];
    seal_block(header, bytes);
    if (!transport_->publish_control(bytes, is_end)) return no_room();
    ++next_sequence_;
    bytes_sent_.add(block_header_bytes);
    end_sent_ = is_end;
  }
  if (is_end && !transport_->finished()) return no_room();
  return OperatorResult::done;
}

}  // namespace hummer
