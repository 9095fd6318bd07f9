// Block: a batch, a piece of a record, or a control inside a transport buffer.
//
//   block   := header (64 bytes) values (values_bytes) [zeros up to 8, timestamps]
//              zeros up to 64
//
//   header  offset  0  values_bytes   u32
//                   4  records        u32   batch only
//                   8  kind           u8    1 batch, 2 fragment, 3 control
//                   9  flags          u8    1 timestamps, 2 bitwise values,
//                                           4 first fragment, 8 last fragment
//                  10  control_kind   u8    Control::Kind
//                  11  reserved       u8 + u32, 0
//                  16  sequence       u64   0, 1, 2, ... per channel
//                  24  time           i64   control; a fragment's record: its timestamp
//                  32  epoch          u64   control
//                  40  total_bytes    u64   fragment: of the whole record
//                  48  reserved       2 × u64, 0
//
// Values of bitwise types are their memory: the receiver's batch is made on the
// received buffer itself. Others are encoded one after the other; views point into
// the received buffer. A record larger than a transport buffer travels as
// fragments, one block each.
//
// Blocks are what all transports carry; the frame around them belongs to TCP.
// Bytes from outside: see frame.hpp. Thread: values and pure functions.
#pragma once

#include <cstdint>
#include <span>

#include <hummer/batch.hpp>
#include <hummer/status.hpp>

#include "net/transport.hpp"

namespace hummer {

inline constexpr std::size_t block_header_bytes = 64;
// Also of a batch whose records take no bytes at all.
inline constexpr std::uint32_t max_block_records = 1 << 20;

enum class BlockKind : std::uint8_t { batch = 1, fragment, control };

struct BlockHeader {
  static constexpr std::uint8_t timestamps = 1;
  static constexpr std::uint8_t bitwise = 2;
  static constexpr std::uint8_t first = 4;
  static constexpr std::uint8_t last = 8;

  std::uint32_t values_bytes = 0;
  std::uint32_t records = 0;
  BlockKind kind = BlockKind::batch;
  std::uint8_t flags = 0;
  Control::Kind control_kind = Control::Kind::none;
  std::uint8_t reserved_byte = 0;
  std::uint32_t reserved = 0;
  std::uint64_t sequence = 0;
  std::int64_t time = 0;
  std::uint64_t epoch = 0;
  std::uint64_t total_bytes = 0;
  std::uint64_t reserved_words[2] = {};

  bool has(std::uint8_t flag) const { return (flags & flag) != 0; }
  // Values and timestamps.
  std::size_t payload_bytes() const;
  // All of it with padding: a multiple of 64.
  std::size_t block_bytes() const { return block_header_bytes + align_up(payload_bytes()); }
};
static_assert(sizeof(BlockHeader) == block_header_bytes && block_header_bytes == max_control_bytes);

// Writes the header and the zeros behind the payload that is already there.
void seal_block(const BlockHeader& header, char* to);

BlockHeader control_block(const Control& control, std::uint64_t sequence);

// The header at the start of `bytes`; protocol_error unless the whole block lies in them.
Result<BlockHeader> read_block_header(std::string_view bytes);

}  // namespace hummer
