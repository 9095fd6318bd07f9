#include "batch/sorted_records.hpp"

#include <algorithm>
#include <utility>

namespace hummer::batch {
namespace {

// In a span: their records, which are fetched here, still lie in a core's first cache when they are
// read.
constexpr std::size_t most_views = 16;
constexpr std::size_t fetched_ahead = 8;  // records
// Of each at least its first two cache lines, and that of its last byte if it is as long as the one
// before, and this long at most.
constexpr std::size_t most_fetched_bytes = 192;

}  // namespace

SortedRecords::SortedRecords(const char* arena, std::span<const IndexEntry> index)
    : arena_(arena), rest_(index), views_(std::min(most_views, index.size())) {}

SortedRecords::SortedRecords(const char* arena, std::unique_ptr<IndexEntry[]> index,
                             std::size_t records)
    : arena_(arena),
      owned_index_(std::move(index)),
      rest_(owned_index_.get(), records),
      views_(std::min(most_views, records)) {}

Result<std::span<const RecordView>> SortedRecords::next() {
  const std::size_t count = std::min(views_.size(), rest_.size());
  const std::size_t fetched = std::min(count, rest_.size() - std::min(fetched_ahead, rest_.size()));
  const IndexEntry* const index = rest_.data();
  for (std::size_t i = 0; i < fetched; ++i) {
    const char* const ahead = RecordArena::prefetch(arena_, index[i + fetched_ahead].place);
    views_[i] = RecordArena::record(arena_, index[i].place);
    __builtin_prefetch(
        ahead +
        std::min(most_fetched_bytes,
                 RecordArena::stored_bytes(views_[i].key_bytes, views_[i].value_bytes)) -
        1);
  }
  for (std::size_t i = fetched; i < count; ++i) {
    views_[i] = RecordArena::record(arena_, index[i].place);
  }
  rest_ = rest_.subspan(count);
  return std::span<const RecordView>(views_.data(), count);
}

}  // namespace hummer::batch
