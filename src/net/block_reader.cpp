#include "net/block_reader.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace hummer {
namespace {

// A batch below this share of its buffer is copied out of it.
constexpr std::size_t small_share = 8;

Status corrupt(const TypeDescriptor& type) {
  return {ErrorCode::corrupt_record, "received bytes are no record of type " + type.name};
}

Control to_control(const BlockHeader& header) {
  return {header.control_kind, header.time, header.epoch};
}

}  // namespace

void BlockReader::start(Received received) {
  HUMMER_ASSERT(finished());
  received_ = std::move(received);
  rest_ = received_.bytes;
}

bool BlockReader::control_follows() const {
  if (rest_.empty()) return false;
  const Result<BlockHeader> header = read_block_header(rest_);
  return header.ok() && header->kind == BlockKind::control;
}

Result<BlockReader::Item> BlockReader::next(Batch& batch, Control& control) {
  const Result<BlockHeader> read = read_block_header(rest_);
  if (!read.ok()) return read.status();
  const BlockHeader& header = *read;
  if (header.sequence != next_sequence_) {
    return Status(ErrorCode::protocol_error, "block " + std::to_string(header.sequence) +
                                                 " came where " + std::to_string(next_sequence_) +
                                                 " was expected");
  }
  ++next_sequence_;
  const char* values = rest_.data() + block_header_bytes;
  rest_.remove_prefix(header.block_bytes());
  const bool inside_record = static_cast<bool>(record_);
  if (inside_record != (header.kind == BlockKind::fragment && !header.has(BlockHeader::first))) {
    return Status(ErrorCode::protocol_error, "fragments of a record are out of order");
  }
  Result<Item> item = Item::control;
  switch (header.kind) {
    case BlockKind::control: control = to_control(header); break;
    case BlockKind::fragment: item = read_fragment(header, values, batch); break;
    case BlockKind::batch: item = read_batch(header, values, batch); break;
  }
  // So that the transport may fill the buffer again unless a batch keeps it.
  if (rest_.empty()) received_.buffer = {};
  return item;
}

void BlockReader::prepare(Batch& batch, std::uint32_t records) {
  if (!batch.has_storage() || !(batch.type() == type_)) {
    batch = Batch(type_, records);
    return;
  }
  batch.clear();
  batch.reserve(records);
}

Status BlockReader::decode(std::string_view bytes, std::uint32_t records, Batch& batch) {
  ByteReader in(bytes);
  const std::size_t decoded = type_.decode_values(in, batch.raw_mutable_values(), records);
  batch.set_size(decoded);
  if (decoded != records || in.left() != 0) return corrupt(type_);
  return {};
}

Result<BlockReader::Item> BlockReader::read_batch(const BlockHeader& header, const char* values,
                                                  Batch& batch) {
  const bool is_bitwise = header.has(BlockHeader::bitwise);
  if (is_bitwise != type_.bitwise) return corrupt(type_);
  const bool is_small =
      !received_.buffer || header.payload_bytes() < received_.buffer->size() / small_share;
  if (is_bitwise) {
    if (header.values_bytes != std::size_t{header.records} * type_.size_bytes) {
      return corrupt(type_);
    }
    const bool aligned = reinterpret_cast<std::uintptr_t>(values) % type_.alignment == 0;
    if (is_small || !aligned) {
      prepare(batch, header.records);
      std::memcpy(batch.raw_mutable_values(), values, header.values_bytes);
      batch.set_size(header.records);
    } else {
      batch = Batch::adopt(type_, received_.buffer, const_cast<char*>(values), header.records);
    }
  } else {
    // Only a type that encodes to nothing has more records than bytes.
    if (header.values_bytes != 0 && header.records > header.values_bytes) return corrupt(type_);
    prepare(batch, header.records);
    std::string_view bytes(values, header.values_bytes);
    if (type_.holds_views) {
      if (is_small) {
        bytes = batch.copy_text(bytes);
      } else {
        batch.keep(received_.buffer);
      }
    }
    HUMMER_TRY(decode(bytes, header.records, batch));
  }
  if (header.has(BlockHeader::timestamps)) {
    const char* from = values + align_up(header.values_bytes, sizeof(Timestamp));
    batch.timestamps().resize(header.records);
    std::memcpy(batch.timestamps().data(), from, header.records * sizeof(Timestamp));
  }
  return Item::batch;
}

Result<BlockReader::Item> BlockReader::read_fragment(const BlockHeader& header, const char* values,
                                                     Batch& batch) {
  if (header.has(BlockHeader::first)) {
    if (header.total_bytes > max_record_bytes_) {
      return Status(ErrorCode::limit_exceeded, "a record of " + std::to_string(header.total_bytes) +
                                                   " bytes exceeds the limit of " +
                                                   std::to_string(max_record_bytes_));
    }
    // Pages that no fragment reaches are never touched.
    record_ = BufferRef::allocate(header.total_bytes);
    record_bytes_ = 0;
  }
  const std::size_t left = record_->size() - record_bytes_;
  if (header.total_bytes != record_->size() || header.values_bytes > left ||
      header.has(BlockHeader::last) != (header.values_bytes == left)) {
    return Status(ErrorCode::protocol_error, "fragments do not add up to their record");
  }
  std::memcpy(record_->data() + record_bytes_, values, header.values_bytes);
  record_bytes_ += header.values_bytes;
  if (!header.has(BlockHeader::last)) return Item::nothing;

  const BufferRef record = std::move(record_);
  prepare(batch, 1);
  if (type_.bitwise) {
    if (record->size() != type_.size_bytes) return corrupt(type_);
    std::memcpy(batch.raw_mutable_values(), record->data(), record->size());
    batch.set_size(1);
  } else {
    if (type_.holds_views) batch.keep(record);
    HUMMER_TRY(decode({record->data(), record->size()}, 1, batch));
  }
  if (header.has(BlockHeader::timestamps)) batch.timestamps().assign(1, header.time);
  return Item::batch;
}

}  // namespace hummer
