// SavedEntries: entries that changed before the snapshot under way had written them, as they were.
//
// Encoded at once, in chunks smaller than a snapshot's step, so that handing one on copies no more
// than a step may, and each with the hash of its key. Thread: one. Cost: one copy of the entry's
// bytes.
#pragma once

#include <deque>
#include <string>

#include <hummer/bytes.hpp>
#include <hummer/detail/state/grouped_entries.hpp>
#include <hummer/operator.hpp>

namespace hummer {

class SavedEntries {
 public:
  bool empty() const { return chunks_.empty(); }
  void clear() { chunks_.clear(); }
  std::size_t memory_bytes() const { return chunks_.size() * chunk_bytes; }

  // encode(ByteWriter&) writes the entry of a key with this hash.
  template <typename Encode>
  void add(std::uint64_t hash, Encode&& encode) {
    ByteWriter out(space_);
    encode(out);
    keep(hash, out.view());
  }
  // REQUIRES: not empty. Moves a chunk to `entries`, and what these write to `out`.
  void write_chunk(GroupedEntries& entries, ByteWriter& out);

 private:
  void keep(std::uint64_t hash, std::string_view entry);

  static constexpr std::size_t chunk_bytes = 64 * 1024;
  std::deque<std::string> chunks_;
  std::string space_;
};

}  // namespace hummer
