#include "operators/hybrid_hash_join.hpp"

#include <algorithm>
#include <utility>

namespace hummer {
namespace {

// Passes over one record, before its partition is sorted.
constexpr std::uint32_t most_levels = 4;
constexpr std::size_t partition_buffer = std::size_t{128} << 10;

}  // namespace

HybridHashJoin::HybridHashJoin(Platform& platform, const JoinOptions& options)
    : platform_(platform), options_(options) {
  pass_.emplace(platform_, options_, 0);
}

Result<bool> HybridHashJoin::add(int side, const EncodedRecords& records, std::size_t& next,
                                 JoinPairs& pairs) {
  if (!pass_->is_built()) {
    for (; next < records.size(); ++next) {
      HUMMER_TRY(pass_->keep(side, records.key(next), records.value(next)));
    }
    return true;
  }
  if (!is_offered_) {
    // What was kept goes first, and is let go of.
    auto all = pass_->produce(pairs);
    if (!all.ok()) return all.status();
    if (!*all || !pairs.empty()) return false;
  }
  while (next < records.size()) {
    if (!is_offered_) HUMMER_TRY(pass_->offer(records.key(next), records.value(next)));
    is_offered_ = true;
    auto all = pass_->produce(pairs);
    if (!all.ok()) return all.status();
    if (!*all) return false;
    is_offered_ = false;
    ++next;
  }
  return true;
}

void HybridHashJoin::side_ended(int side) {
  if (!pass_->is_built()) pass_->build(side);
}

Result<bool> HybridHashJoin::finish(JoinPairs& pairs) {
  for (;;) {
    if (stage_ == Stage::done) return true;
    auto goes_on = advance(pairs);
    if (!goes_on.ok()) return goes_on.status();
    if (!*goes_on) return false;
  }
}

Result<bool> HybridHashJoin::advance(JoinPairs& pairs) {
  switch (stage_) {
    case Stage::coming: {
      if (!pass_->is_built()) pass_->build(pass_->bytes(0) < pass_->bytes(1) ? 0 : 1);
      auto all = pass_->produce(pairs);
      if (!all.ok()) return all.status();
      if (!*all) return false;
      pass_->finish();
      stage_ = Stage::unmatched;
      return true;
    }
    case Stage::building: return build();
    case Stage::probing: return probe(pairs);
    case Stage::unmatched: return finish_pass(pairs);
    case Stage::next_partition: begin_partition(); return true;
    case Stage::sorting: return sort();
    case Stage::merging: {
      auto all = sorts_->finish(pairs);
      if (!all.ok()) return all.status();
      if (!*all || !pairs.empty()) return false;
      sorts_.reset();
      stage_ = Stage::next_partition;
      return true;
    }
    case Stage::done: break;
  }
  return false;
}

Result<bool> HybridHashJoin::finish_pass(JoinPairs& pairs) {
  auto all = pass_->produce(pairs);
  if (!all.ok()) return all.status();
  if (!*all || !pairs.empty()) return false;  // they are in what is freed now
  auto spilled = pass_->take_spilled();
  if (!spilled.ok()) return spilled.status();
  std::move(spilled->begin(), spilled->end(), std::back_inserter(spilled_));
  pass_.reset();
  stage_ = Stage::next_partition;
  return true;
}

bool HybridHashJoin::is_sorted(const SpilledPartition& partition, int build_side) const {
  if (partition.level + 1 >= most_levels) return true;
  const std::uint64_t bytes = partition.bytes[build_side];
  return bytes > options_.memory_bytes / 2 && bytes > partition.part_of[build_side] / 4 * 3;
}

void HybridHashJoin::begin_partition() {
  partition_ = {};
  if (spilled_.empty()) {
    stage_ = Stage::done;
    return;
  }
  partition_ = std::move(spilled_.back());
  spilled_.pop_back();
  for (int side = 0; side < 2; ++side) {
    const bool keeps_other = side == 0 ? keeps_second(options_.kind) : keeps_first(options_.kind);
    if (partition_.segments[side].empty() && !keeps_other) return;  // it has no results
  }
  const int build_side = partition_.bytes[0] < partition_.bytes[1] ? 0 : 1;
  if (is_sorted(partition_, build_side)) {
    sorts_.emplace(platform_, options_);
    begin_reading(0);
    stage_ = Stage::sorting;
    return;
  }
  pass_.emplace(platform_, options_, partition_.level + 1);
  begin_reading(build_side);
  stage_ = Stage::building;
}

void HybridHashJoin::begin_reading(int side) {
  reading_ = side;
  next_segment_ = 0;
  stream_.reset();
  rest_ = {};
}

Result<bool> HybridHashJoin::fetch() {
  while (rest_.empty()) {
    if (stream_ == nullptr) {
      const auto& segments = partition_.segments[reading_];
      if (next_segment_ == segments.size()) return false;
      stream_ = partition_.file->open(segments[next_segment_++], partition_buffer);
    }
    auto records = stream_->next();
    if (!records.ok()) return records.status();
    rest_ = *records;
    if (rest_.empty()) stream_.reset();
  }
  return true;
}

Result<bool> HybridHashJoin::build() {
  auto has_more = fetch();
  if (!has_more.ok()) return has_more.status();
  for (const batch::RecordView& record : rest_) {
    HUMMER_TRY(pass_->keep(reading_, record.key(), record.value()));
  }
  rest_ = {};
  if (*has_more) return false;
  pass_->build(reading_);
  begin_reading(1 - reading_);
  is_offered_ = true;  // nothing was kept of the other side: produce() says so
  stage_ = Stage::probing;
  return true;
}

Result<bool> HybridHashJoin::probe(JoinPairs& pairs) {
  for (;;) {
    if (is_offered_) {
      auto all = pass_->produce(pairs);
      if (!all.ok()) return all.status();
      if (!*all) return false;
      is_offered_ = false;
      if (!rest_.empty()) rest_ = rest_.subspan(1);
    }
    if (rest_.empty() && !pairs.empty()) return false;  // they are in the span that goes
    auto has_more = fetch();
    if (!has_more.ok()) return has_more.status();
    if (!*has_more) break;
    HUMMER_TRY(pass_->offer(rest_.front().key(), rest_.front().value()));
    is_offered_ = true;
  }
  pass_->finish();
  stage_ = Stage::unmatched;
  return true;
}

Result<bool> HybridHashJoin::sort() {
  auto steps = sorts_->step(reading_);
  if (!steps.ok()) return steps.status();
  if (*steps) return false;
  auto has_more = fetch();
  if (!has_more.ok()) return has_more.status();
  while (!rest_.empty()) {
    auto added = sorts_->add(reading_, rest_.front().key(), rest_.front().value());
    if (!added.ok()) return added.status();
    if (!*added) return false;
    rest_ = rest_.subspan(1);
  }
  if (*has_more) return false;
  if (reading_ == 0) {
    begin_reading(1);
  } else {
    stage_ = Stage::merging;
  }
  return true;
}

std::size_t HybridHashJoin::memory_bytes() const {
  return (pass_ ? pass_->memory_bytes() : 0) + (sorts_ ? sorts_->memory_bytes() : 0);
}

std::size_t HybridHashJoin::disk_bytes() const {
  std::size_t bytes = (pass_ ? pass_->disk_bytes() : 0) + (sorts_ ? sorts_->disk_bytes() : 0) +
                      partition_.bytes[0] + partition_.bytes[1];
  for (const SpilledPartition& partition : spilled_) {
    bytes += partition.bytes[0] + partition.bytes[1];
  }
  return bytes;
}

}  // namespace hummer
