// BlockReader: makes batches and controls of received blocks.
//
//   reader.start(received);
//   while (!reader.finished()) {
//     Result<BlockReader::Item> item = reader.next(batch, control);
//   }
//
// Copies as little as it can: a large batch of a bitwise type is the received
// buffer itself (Batch::adopt), text of a large batch points into it and the batch
// keeps it. Small ones are copied, so that a few bytes do not hold a whole buffer.
//
// Ownership: holds the received buffer from start() until finished(), and a record
// that has arrived in part. Thread: one. Errors: protocol_error, corrupt_record
// (bytes that are no record), limit_exceeded (a record beyond `max_record_bytes`);
// after one the channel is of no use any more.
#pragma once

#include <cstdint>

#include <hummer/batch.hpp>
#include <hummer/status.hpp>

#include "net/block.hpp"
#include "net/transport.hpp"

namespace hummer {

inline constexpr std::size_t default_max_record_bytes = std::size_t{256} << 20;

class BlockReader {
 public:
  enum class Item { batch, control, nothing /* a fragment: the record is not whole yet */ };

  explicit BlockReader(const TypeDescriptor& type,
                       std::size_t max_record_bytes = default_max_record_bytes)
      : type_(type), max_record_bytes_(max_record_bytes) {}

  void start(Received received);
  bool finished() const { return rest_.empty(); }
  // Whether a control is what comes next, to go with the batch before it.
  bool control_follows() const;

  // Takes one block. Item::batch: `batch` holds its records (its storage is used when it has one
  // of the type). Item::control: `control` is set. REQUIRES: !finished().
  Result<Item> next(Batch& batch, Control& control);

 private:
  Result<Item> read_batch(const BlockHeader& header, const char* values, Batch& batch);
  Result<Item> read_fragment(const BlockHeader& header, const char* values, Batch& batch);
  Status decode(std::string_view bytes, std::uint32_t records, Batch& batch);
  void prepare(Batch& batch, std::uint32_t records);

  const TypeDescriptor& type_;
  const std::size_t max_record_bytes_;
  Received received_;
  std::string_view rest_;
  std::uint64_t next_sequence_ = 0;
  BufferRef record_;  // fragments so far
  std::size_t record_bytes_ = 0;
};

}  // namespace hummer
