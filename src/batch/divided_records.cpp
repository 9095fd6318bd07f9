#include "batch/divided_records.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "batch/bucket_sort.hpp"
#include "batch/merger.hpp"
#include "batch/sorted_records.hpp"

namespace hummer::batch {
namespace {

// A part of so many entries lies in a core's first cache; and no more parts than there are places
// that a core writes to at once without a miss for each.
constexpr std::size_t entries_per_part = 2048;
constexpr std::size_t most_parts = 2048;
constexpr std::size_t entries_per_step = std::size_t{512} << 10;

// In blocks of the most records that a step sorts.
template <typename Function>
void for_each_block(std::span<IndexEntry> part, Function&& function) {
  constexpr std::size_t most = DividedRecords::most_block_records;
  for (std::size_t at = 0; at < part.size(); at += most) {
    function(part.subspan(at, std::min(most, part.size() - at)));
  }
}

}  // namespace

DividedRecords::DividedRecords(KeyOrder order, const RecordArena& arena,
                               std::vector<Bucket> buckets)
    : order_(order), arena_(arena), buckets_(std::move(buckets)) {
  for (const Bucket& bucket : buckets_) records_ += bucket.records;
}

template <typename Function>
bool DividedRecords::go_through_some(Function&& function) {
  for (std::size_t entries = 0; entries < entries_per_step; ++at_) {
    if (at_ == buckets_.size()) {
      at_ = 0;
      return false;
    }
    arena_.for_each_entry(buckets_[at_], function);
    entries += buckets_[at_].records;
  }
  return true;
}

bool DividedRecords::step() {
  switch (state_) {
    case State::ranging: {
      std::uint32_t lowest = lowest_;
      std::uint32_t highest = highest_;
      const bool more = go_through_some([&](const IndexEntry& entry) {
        lowest = std::min(lowest, entry.prefix);
        highest = std::max(highest, entry.prefix);
      });
      lowest_ = lowest;
      highest_ = highest;
      if (!more) begin_parts();
      return true;
    }
    case State::counting:
      if (!go_through_some([this](const IndexEntry& entry) { ++ends_[part_of(entry.prefix)]; })) {
        begin_dealing();
      }
      return true;
    case State::dealing:
      // What is dealt moves the begin of its part on, until that is the end.
      if (!go_through_some([this](const IndexEntry& entry) {
            dealt_[ends_[part_of(entry.prefix)]++] = entry;
          })) {
        find_long_parts();
        state_ = State::sorting;
      }
      return true;
    case State::sorting:
      if (at_ < long_blocks_.size()) {
        sort_block();
        return true;
      }
      state_ = State::divided;
      return false;
    case State::divided: break;
  }
  return false;
}

void DividedRecords::begin_parts() {
  if (records_ == 0) {
    state_ = State::sorting;
    return;
  }
  const std::size_t wanted = std::clamp(records_ / entries_per_part, std::size_t{1}, most_parts);
  const auto part_bits = static_cast<unsigned>(std::bit_width(wanted) - 1);
  const auto key_bits = static_cast<unsigned>(std::bit_width(highest_ - lowest_));
  shift_ = key_bits - std::min(key_bits, part_bits);
  ends_.assign(part_of(highest_) + 1, 0);
  state_ = State::counting;
}

void DividedRecords::begin_dealing() {
  std::size_t begin = 0;
  for (std::size_t& end : ends_) begin += std::exchange(end, begin);
  HUMMER_ASSERT(begin == records_);
  dealt_pages_ = ZeroedPages(records_ * sizeof(IndexEntry));
  dealt_ = {static_cast<IndexEntry*>(dealt_pages_.data()), records_};
  state_ = State::dealing;
}

void DividedRecords::find_long_parts() {
  std::size_t longest = 0;
  for (std::size_t part = 0; part < ends_.size(); ++part) {
    const std::size_t begin = begin_of(part);
    const std::size_t count = ends_[part] - begin;
    longest = std::max(longest, count);
    if (count <= most_block_records) continue;
    for_each_block(dealt_.subspan(begin, count),
                   [this](std::span<IndexEntry> block) { long_blocks_.push_back(block); });
  }
  scratch_.resize(std::min<std::size_t>(longest, most_block_records));
}

void DividedRecords::sort_block() {
  sort_index(order_, arena_.data(), long_blocks_[at_++], scratch_);
}

void DividedRecords::open_part() {
  const std::size_t begin = begin_of(part_);
  const std::span<IndexEntry> part = dealt_.subspan(begin, ends_[part_] - begin);
  ++part_;
  if (part.size() <= most_block_records) {
    sort_index(order_, arena_.data(), part, scratch_);
    stream_ = std::make_unique<SortedRecords>(arena_.data(), part);
    return;
  }
  std::vector<std::unique_ptr<RecordStream>> blocks;
  for_each_block(part, [&](std::span<IndexEntry> block) {
    blocks.push_back(std::make_unique<SortedRecords>(arena_.data(), block));
  });
  stream_ = std::make_unique<Merger>(order_, std::move(blocks));
}

Result<std::span<const RecordView>> DividedRecords::next() {
  HUMMER_ASSERT(state_ == State::divided);
  for (;;) {
    if (stream_ != nullptr) {
      auto records = stream_->next();
      if (!records.ok() || !records->empty()) return records;
      stream_.reset();
    }
    if (part_ == ends_.size()) return std::span<const RecordView>();
    open_part();
  }
}

}  // namespace hummer::batch
