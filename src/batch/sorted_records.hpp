// SortedRecords: a sorted bucket of an arena as a stream.
//
// Its views are into the arena, which outlives it and is not cleared meanwhile. Records are fetched
// into the cache before they are handed out, as they lie in the order in which they came.
//
// Thread: one; several streams of one arena at once.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include <hummer/batch/record_stream.hpp>
#include "batch/record_arena.hpp"

namespace hummer::batch {

class SortedRecords final : public RecordStream {
 public:
  // `index` outlives it.
  SortedRecords(const char* arena, std::span<const IndexEntry> index);
  // With an index of its own, the first `records` entries of it.
  SortedRecords(const char* arena, std::unique_ptr<IndexEntry[]> index, std::size_t records);

  Result<std::span<const RecordView>> next() override;

 private:
  const char* const arena_;
  const std::unique_ptr<IndexEntry[]> owned_index_;
  std::span<const IndexEntry> rest_;
  std::vector<RecordView> views_;
};

}  // namespace hummer::batch
