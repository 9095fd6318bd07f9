// EpochRecords: the records of an epoch, encoded, in the order in which they came.
//
// They lie in chunks; those beyond `held_bytes` go to a file without a name in the spill directory,
// which is gone with this object. A record lies in one chunk whole.
//
// Thread: one. Errors: those of the file. Cost: a copy per record; a write per chunk beyond.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/status.hpp>

#include "producer.hpp"

namespace hummer::kafka {

class EpochRecords {
 public:
  EpochRecords(std::string spill_directory, std::size_t held_bytes)
      : spill_directory_(std::move(spill_directory)), held_bytes_(held_bytes) {}
  ~EpochRecords();
  EpochRecords(const EpochRecords&) = delete;
  EpochRecords& operator=(const EpochRecords&) = delete;

  Status add(const Outgoing& record);
  bool empty() const { return chunks_.empty(); }

  std::size_t chunks() const { return chunks_.size(); }
  // The bytes of one; `space` holds them where they came from the file.
  Result<std::string_view> chunk(std::size_t index, std::string& space) const;
  // As chunk() has given it.
  Status add_chunk(std::string_view bytes);

 private:
  struct Chunk {
    std::string bytes;             // empty: in the file
    std::uint32_t size_bytes = 0;  // there
    std::uint64_t offset = 0;
  };
  Status spill();

  const std::string spill_directory_;
  const std::size_t held_bytes_;
  std::vector<Chunk> chunks_;
  std::size_t first_held_ = 0;  // chunks ahead of it are in the file
  std::size_t held_ = 0;        // bytes of the others
  int file_ = -1;
  std::uint64_t file_bytes_ = 0;
};

// One record, behind the others in `bytes`.
void encode(const Outgoing& record, std::string& bytes);
// The next of `bytes`, which are cut by it; false: they make no sense. Its text points into them.
bool decode(std::string_view& bytes, Outgoing& record);

}  // namespace hummer::kafka
