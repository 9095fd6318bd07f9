// EpochRecords: the records of an epoch, encoded, in the order in which they came.
//
//   EpochRecords records(spill_directory, held_bytes);
//   records.add(record);
//   for (const EpochChunk& chunk : records.chunks()) … chunk.bytes(space) …
//
// They lie in chunks, a record in one of them whole. The first `held_bytes` stay in memory; what
// comes behind goes, chunk by chunk, to a file without a name in the spill directory, which is gone
// with the last chunk of it.
//
// Thread: one; a chunk that is complete may be copied, and read by any. Errors: those of the file.
// Cost: a copy per record; a write per chunk beyond.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/status.hpp>

#include "producer.hpp"

namespace hummer::kafka {

class SpillFile;

// A chunk's place. It does not change once it is complete; copies share it.
class EpochChunk {
 public:
  std::size_t size_bytes() const { return held_ ? held_->size() : size_bytes_; }
  // `space` holds them where they come from the file.
  Result<std::string_view> bytes(std::string& space) const;
  // Null: in the file.
  std::shared_ptr<const std::string> held() const { return held_; }

 private:
  friend class EpochRecords;
  std::shared_ptr<std::string> held_;
  std::shared_ptr<const SpillFile> file_;
  std::uint64_t offset_ = 0;
  std::size_t size_bytes_ = 0;  // in the file
};

class EpochRecords {
 public:
  EpochRecords(std::string spill_directory, std::size_t held_bytes)
      : spill_directory_(std::move(spill_directory)), held_bytes_(held_bytes) {}

  Status add(const Outgoing& record);
  bool empty() const { return chunks_.empty(); }
  std::size_t size_bytes() const { return size_bytes_; }
  // All of them; the last may not be complete.
  const std::vector<EpochChunk>& chunks() const { return chunks_; }
  std::size_t complete_chunks() const { return complete_; }
  // Whether the next record opens a chunk.
  bool is_at_chunk() const { return complete_ == chunks_.size(); }
  // As one of chunks() has given it.
  Status add_chunk(std::string_view bytes);

 private:
  Status complete();

  const std::string spill_directory_;
  const std::size_t held_bytes_;
  std::vector<EpochChunk> chunks_;
  std::size_t complete_ = 0;    // of them
  std::size_t held_ = 0;        // bytes of complete ones that are in memory
  std::size_t size_bytes_ = 0;  // of all
  std::shared_ptr<SpillFile> file_;
};

// One record, behind the others in `bytes`.
void encode(const Outgoing& record, std::string& bytes);
// The next of `bytes`, which are cut by it; false: they make no sense. Its text points into them.
bool decode(std::string_view& bytes, Outgoing& record);

}  // namespace hummer::kafka
