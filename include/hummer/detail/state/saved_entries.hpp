// SavedEntries: entries that changed before the snapshot under way had written them, as they were.
//
// Encoded at once, in chunks of the size of a snapshot's step, so that handing one on copies no
// more than a step may. Thread: one. Cost: one copy of the entry's bytes.
#pragma once

#include <deque>
#include <string>

#include <hummer/bytes.hpp>
#include <hummer/operator.hpp>

namespace hummer {

class SavedEntries {
 public:
  bool empty() const { return chunks_.empty(); }
  void clear() { chunks_.clear(); }
  std::size_t memory_bytes() const { return chunks_.size() * chunk_bytes; }

  // encode(ByteWriter&) writes the entry.
  template <typename Encode>
  void add(Encode&& encode) {
    ByteWriter out(space_);
    encode(out);
    keep(out.view());
  }
  // REQUIRES: not empty. Moves a chunk to `out`.
  void write_chunk(ByteWriter& out);

 private:
  void keep(std::string_view entry);

  static constexpr std::size_t chunk_bytes = default_snapshot_step_bytes;
  std::deque<std::string> chunks_;
  std::string space_;
};

}  // namespace hummer
