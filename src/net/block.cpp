#include "net/block.hpp"

#include <cstring>
#include <string>

namespace hummer {
namespace {

constexpr std::uint8_t all_flags =
    BlockHeader::timestamps | BlockHeader::bitwise | BlockHeader::first | BlockHeader::last;

Status broken(const char* what) {
  return {ErrorCode::protocol_error, std::string("block is not valid: ") + what};
}

}  // namespace

std::size_t BlockHeader::payload_bytes() const {
  if (kind != BlockKind::batch || !has(timestamps)) return values_bytes;
  return align_up(values_bytes, sizeof(Timestamp)) + std::size_t{records} * sizeof(Timestamp);
}

void seal_block(const BlockHeader& header, char* to) {
  std::memcpy(to, &header, sizeof header);
  const std::size_t used = block_header_bytes + header.payload_bytes();
  std::memset(to + used, 0, header.block_bytes() - used);
}

BlockHeader control_block(const Control& control, std::uint64_t sequence) {
  BlockHeader header;
  header.kind = BlockKind::control;
  header.control_kind = control.kind;
  header.sequence = sequence;
  header.time = control.time;
  header.epoch = control.epoch;
  return header;
}

Result<BlockHeader> read_block_header(std::string_view bytes) {
  if (bytes.size() < block_header_bytes) return broken("cut off");
  BlockHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.kind < BlockKind::batch || header.kind > BlockKind::control) return broken("kind");
  if ((header.flags & ~all_flags) != 0 || header.reserved_byte != 0 || header.reserved != 0 ||
      header.reserved_words[0] != 0 || header.reserved_words[1] != 0) {
    return broken("reserved bits");
  }
  switch (header.kind) {
    case BlockKind::batch:
      if (header.records == 0 || header.records > max_block_records) return broken("record count");
      if (header.control_kind != Control::Kind::none) return broken("control in a batch");
      break;
    case BlockKind::fragment:
      if (header.values_bytes == 0 || header.values_bytes > header.total_bytes) {
        return broken("fragment length");
      }
      break;
    case BlockKind::control:
      if (header.values_bytes != 0 || header.records != 0) return broken("values in a control");
      if (header.control_kind == Control::Kind::none ||
          header.control_kind > Control::Kind::active) {
        return broken("control kind");
      }
      break;
  }
  if (header.block_bytes() > bytes.size()) return broken("longer than its frame");
  return header;
}

}  // namespace hummer
