#include "operators/external_sorter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace hummer {
namespace {

using batch::RecordArena;
using batch::RecordStream;
using batch::RecordView;

// Of the memory, for the buffers of the runs that are read.
constexpr std::size_t memory_per_buffers = 8;
constexpr std::size_t most_buffers_bytes = std::size_t{16} << 20;
constexpr std::size_t least_stream_buffer = std::size_t{16} << 10;
constexpr std::size_t most_stream_buffer = std::size_t{1} << 20;
constexpr std::size_t most_runs = 100;
// What a file is written through.
constexpr std::size_t writer_bytes = std::size_t{256} << 10;
constexpr std::size_t bucket_records = batch::DividedRecords::most_block_records;
// An arena has so many buckets or more, where its records are small.
constexpr std::size_t bucket_bytes_per_arena = 256;
constexpr std::size_t index_bytes = batch::DividedRecords::bytes_per_record;
constexpr int spans_per_step = 16;

std::size_t buffers_of(std::size_t memory_bytes) {
  return std::min(memory_bytes / memory_per_buffers, most_buffers_bytes);
}

}  // namespace

ExternalSorter::ExternalSorter(Platform& platform, const SorterOptions& options)
    : platform_(platform),
      spill_directory_(options.spill_directory),
      buffer_bytes_(buffers_of(options.memory_bytes)),
      arena_bytes_(options.memory_bytes - buffer_bytes_ - writer_bytes),
      most_bucket_records_(static_cast<std::uint32_t>(
          std::clamp(arena_bytes_ / bucket_bytes_per_arena, std::size_t{1024}, bucket_records))),
      arena_(arena_bytes_, 1) {
  HUMMER_ASSERT(options.memory_bytes >= least_memory_bytes);
}

std::size_t ExternalSorter::memory_bytes() const {
  if (arena_.empty()) return 0;
  return arena_.used_bytes() + (records_ + bucket_.records) * index_bytes;
}

void ExternalSorter::end_bucket() {
  if (bucket_.records == 0) return;
  records_ += bucket_.records;
  buckets_.push_back(bucket_);
  bucket_ = {};
}

Result<bool> ExternalSorter::add_slowly(std::string_view key, std::string_view value) {
  HUMMER_ASSERT(!finished_ && state_ == State::taking);
  const std::size_t stored = RecordArena::stored_bytes(key.size(), value.size());
  if (std::max(key.size(), value.size()) > arena_bytes_ || !arena_.could_hold(stored)) {
    return Status(ErrorCode::limit_exceeded,
                  fmt::format("a record has {} bytes with its key, and there is room for {} bytes: "
                              "--bounded-memory-bytes gives more",
                              key.size() + value.size(), arena_bytes_));
  }
  if (bucket_.records >= most_bucket_records_) end_bucket();
  const std::size_t indexes = (records_ + bucket_.records) * index_bytes;
  const bool is_full = arena_.used_bytes() + arena_.piece_bytes() + indexes > arena_bytes_;
  if ((is_full && !arena_.empty()) || !arena_.extend(bucket_, stored)) {
    end_bucket();
    state_ = State::sorting;
    return false;
  }
  HUMMER_ASSERT(arena_.add(bucket_, batch::KeyOrder().prefix(key), key, value));
  return true;
}

Result<bool> ExternalSorter::step() {
  switch (state_) {
    case State::taking: {
      if (has_too_many_runs()) {
        const std::size_t most = runs_at_once();
        begin_merging(finished_ ? std::min(runs_.size() + 2 - most, most) : most);
        HUMMER_TRY(begin_writing(open_runs(merged_first_, merged_count_)));
        return true;
      }
      if (!finished_) return false;
      end_bucket();
      state_ = State::sorting;
      return true;
    }
    case State::sorting: {
      if (divided_ == nullptr) {
        divided_ = std::make_unique<batch::DividedRecords>(batch::KeyOrder(), arena_,
                                                           std::exchange(buckets_, {}));
      }
      if (divided_->step()) return true;
      if (finished_) {
        open_sorted();
        return true;
      }
      std::vector<std::unique_ptr<RecordStream>> streams;
      streams.push_back(std::move(divided_));
      HUMMER_TRY(begin_writing(std::move(streams)));
      return true;
    }
    case State::writing:
    case State::merging: {
      auto more = write_some();
      if (!more.ok()) return more.status();
      if (!*more) HUMMER_TRY(run_is_written());
      return true;
    }
    case State::sorted: break;
  }
  return false;
}

// Of each a buffer holds its largest record.
std::size_t ExternalSorter::runs_at_once() const {
  std::size_t largest = 0;
  for (const batch::SpillFile& run : runs_) largest = std::max(largest, run.largest_record_bytes());
  return batch::streams_in(buffer_bytes_, largest, least_stream_buffer, most_runs);
}

// Each has descriptors of its own, so they do not become many more than are read at once; at the
// end one place is for what is in memory.
bool ExternalSorter::has_too_many_runs() const {
  const std::size_t most = runs_at_once();
  return finished_ ? runs_.size() >= most : runs_.size() >= 2 * most;
}

std::vector<std::unique_ptr<RecordStream>> ExternalSorter::open_runs(std::size_t first,
                                                                     std::size_t count) const {
  const std::size_t buffer = std::clamp(buffer_bytes_ / std::max<std::size_t>(count, 1),
                                        least_stream_buffer, most_stream_buffer);
  std::vector<std::unique_ptr<RecordStream>> streams;
  for (std::size_t i = first; i < first + count; ++i) {
    if (auto stream = runs_[i].open(0, buffer)) streams.push_back(std::move(stream));
  }
  return streams;
}

void ExternalSorter::begin_merging(std::size_t count) {
  merged_count_ = std::max<std::size_t>(count, 2);
  merged_first_ = batch::smallest_neighbours(runs_, merged_count_);
}

Status ExternalSorter::begin_writing(std::vector<std::unique_ptr<RecordStream>> streams) {
  state_ = state_ == State::sorting ? State::writing : State::merging;
  merger_ = std::make_unique<batch::Merger>(batch::KeyOrder(), std::move(streams));
  auto writer = batch::SpillWriter::create(platform_, spill_directory_, 1, batch::Codec::none);
  if (!writer.ok()) return writer.status();
  writer_.emplace(std::move(*writer));
  return Status();
}

Result<bool> ExternalSorter::write_some() {
  for (int i = 0; i < spans_per_step; ++i) {
    auto records = merger_->next();
    if (!records.ok()) return records.status();
    if (records->empty()) return false;
    HUMMER_TRY(writer_->append(*records));
  }
  return true;
}

Status ExternalSorter::run_is_written() {
  HUMMER_TRY(writer_->end_partition());
  auto run = writer_->finish();
  if (!run.ok()) return run.status();
  writer_.reset();
  merger_.reset();
  disk_bytes_ += run->size_bytes();
  if (state_ == State::writing) {
    ++spills_made_;
    runs_.push_back(std::move(*run));
    records_ = 0;
    arena_.clear();
  } else {
    const auto at = runs_.begin() + static_cast<std::ptrdiff_t>(merged_first_);
    for (std::size_t i = 0; i < merged_count_; ++i) {
      disk_bytes_ -= runs_[merged_first_ + i].size_bytes();
    }
    *at = std::move(*run);
    runs_.erase(at + 1, at + static_cast<std::ptrdiff_t>(merged_count_));
  }
  state_ = State::taking;
  return Status();
}

void ExternalSorter::open_sorted() {
  auto streams = open_runs(0, runs_.size());
  streams.push_back(std::move(divided_));
  merger_ = std::make_unique<batch::Merger>(batch::KeyOrder(), std::move(streams));
  state_ = State::sorted;
}

Result<std::span<const RecordView>> ExternalSorter::next() {
  HUMMER_ASSERT(state_ == State::sorted);
  return merger_->next();
}

}  // namespace hummer
