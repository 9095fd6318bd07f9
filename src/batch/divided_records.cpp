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

std::span<IndexEntry> entries_in(const ZeroedPages& pages, std::size_t count) {
  return {static_cast<IndexEntry*>(pages.data()), count};
}

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

bool DividedRecords::step() {
  switch (state_) {
    case State::noting:
      if (at_ < buckets_.size()) {
        note_bucket();
      } else {
        begin_parts();
      }
      return true;
    case State::counting: count_some(); return true;
    case State::dealing: deal_some(); return true;
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

void DividedRecords::note_bucket() {
  if (at_ == 0) {
    noted_pages_ = ZeroedPages(records_ * sizeof(IndexEntry));
    dealt_pages_ = ZeroedPages(records_ * sizeof(IndexEntry));
    noted_ = entries_in(noted_pages_, 0);
    dealt_ = entries_in(dealt_pages_, records_);
  }
  const Bucket& bucket = buckets_[at_++];
  IndexEntry* to = noted_.data() + noted_.size();
  order_.visit([&](auto form) {
    arena_.for_each_record(bucket, [&](std::uint32_t place, std::string_view key) {
      const auto prefix = static_cast<std::uint32_t>(form.long_prefix(key) >> 32);
      lowest_ = std::min(lowest_, prefix);
      highest_ = std::max(highest_, prefix);
      *to++ = {prefix, place};
    });
  });
  noted_ = entries_in(noted_pages_, noted_.size() + bucket.records);
  HUMMER_ASSERT(to == noted_.data() + noted_.size());
}

void DividedRecords::begin_parts() {
  at_ = 0;
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

void DividedRecords::count_some() {
  const auto some = noted_.subspan(at_, std::min(entries_per_step, records_ - at_));
  for (const IndexEntry& entry : some) ++ends_[part_of(entry.prefix)];
  at_ += some.size();
  if (at_ < records_) return;
  std::size_t begin = 0;
  for (std::size_t& end : ends_) begin += std::exchange(end, begin);
  at_ = 0;
  state_ = State::dealing;
}

// What is dealt moves the begin of its part on, until that is the end.
void DividedRecords::deal_some() {
  const auto some = noted_.subspan(at_, std::min(entries_per_step, records_ - at_));
  for (const IndexEntry& entry : some) dealt_[ends_[part_of(entry.prefix)]++] = entry;
  at_ += some.size();
  if (at_ < records_) return;
  noted_pages_ = ZeroedPages();
  noted_ = {};
  find_long_parts();
  at_ = 0;
  state_ = State::sorting;
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
