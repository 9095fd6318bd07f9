#include "operators/hash_join_pass.hpp"

#include <fmt/format.h>

#include <hummer/detail/key_hash.hpp>

#include <algorithm>
#include <utility>

namespace hummer {
namespace {

constexpr unsigned partition_bits = 5;
constexpr std::size_t least_block = std::size_t{2} << 10;
constexpr std::size_t most_block = std::size_t{64} << 10;
// What the file of a pass is written through.
constexpr std::size_t pass_writer_bytes = std::size_t{256} << 10;
// Records that are gone through in one call, so that a cancellation is seen soon.
constexpr int records_per_call = 16 << 10;

}  // namespace

// While one side is looked up, spilled partitions have what they are written by, beside the budget.
HashJoinPass::HashJoinPass(Platform& platform, const JoinOptions& options, std::uint32_t level)
    : platform_(platform),
      options_(options),
      level_(level),
      block_bytes_(
          std::clamp(options.memory_bytes >> (partition_bits + 4), least_block, most_block)),
      flush_bytes_(2 * block_bytes_),
      budget_bytes_(options.memory_bytes - pass_writer_bytes - (flush_bytes_ << partition_bits)),
      partition_shift_(32 - partition_bits),
      partitions_(std::size_t{1} << partition_bits) {}

// Its upper bits say the partition, its lower ones the place in the table.
std::uint32_t HashJoinPass::hash_of(std::string_view key) const {
  const std::uint64_t hash = hash_bytes(key.data(), key.size());
  return static_cast<std::uint32_t>(hash_u64(hash + level_) >> 32);
}

Status HashJoinPass::keep(int side, std::string_view key, std::string_view value) {
  const std::size_t stored = JoinRecord::stored_bytes(key.size(), value.size());
  if (stored > budget_bytes_) {
    return {ErrorCode::limit_exceeded,
            fmt::format("a record has {} bytes with its key, and there is room for {} bytes: "
                        "--bounded-memory-bytes gives more",
                        key.size() + value.size(), budget_bytes_)};
  }
  const std::uint32_t hash = hash_of(key);
  JoinPartition& partition = partition_of(hash);
  bytes_[side] += key.size() + value.size();
  if (!is_built()) HUMMER_TRY(make_room(partition.sides[side].growth(stored, block_bytes_)));
  JoinBlocks& blocks = partition.sides[side];
  const std::size_t before = blocks.memory_bytes();
  blocks.add(key, value, hash, block_bytes_);
  used_bytes_ += blocks.memory_bytes() - before;
  if (partition.spilled && blocks.memory_bytes() >= flush_bytes_) {
    return write(partition, side);
  }
  return Status();
}

// Spills the largest partitions, until so much more has room.
Status HashJoinPass::make_room(std::size_t bytes) {
  while (used_bytes_ + bytes > budget_bytes_) {
    JoinPartition& largest = *std::max_element(
        partitions_.begin(), partitions_.end(),
        [](const auto& a, const auto& b) { return a.memory_bytes() < b.memory_bytes(); });
    if (largest.memory_bytes() == 0) break;
    HUMMER_TRY(spill(largest));
  }
  return Status();
}

Status HashJoinPass::spill(JoinPartition& partition) {
  spills_ += partition.spilled ? 0 : 1;
  partition.spilled = true;
  HUMMER_TRY(write(partition, 0));
  return write(partition, 1);
}

Status HashJoinPass::write(JoinPartition& partition, int side) {
  JoinBlocks& blocks = partition.sides[side];
  if (blocks.records() == 0) return Status();
  if (!writer_) {
    auto writer =
        batch::SpillWriter::create(platform_, options_.spill_directory, 0, batch::Codec::none);
    if (!writer.ok()) return writer.status();
    writer_.emplace(std::move(*writer));
  }
  std::uint64_t bytes = 0;
  JoinBlocks::Place place;
  while (const JoinRecord* record = blocks.at(place)) {
    const batch::RecordView view{.key_data = record->key().data(),
                                 .value_data = record->value().data(),
                                 .key_bytes = record->key_bytes,
                                 .value_bytes = record->value_bytes};
    HUMMER_TRY(writer_->append({&view, 1}));
    bytes += record->key_bytes + record->value_bytes;
    JoinBlocks::advance(place, *record);
  }
  partition.segments[side].push_back(writer_->partitions());
  HUMMER_TRY(writer_->end_partition());
  partition.spilled_bytes[side] += bytes;
  disk_bytes_ += bytes;
  used_bytes_ -= blocks.memory_bytes();
  blocks.clear();
  return Status();
}

void HashJoinPass::build(int side) {
  HUMMER_ASSERT(stage_ == Stage::keeping);
  build_side_ = side;
  stage_ = Stage::kept;
  partition_at_ = 0;
  place_ = {};
}

void HashJoinPass::begin_probe(std::string_view key, std::string_view value, std::uint32_t hash) {
  probe_key_ = key;
  probe_value_ = value;
  probe_hash_ = hash;
  candidate_ = partition_of(hash).find(hash);
  is_probing_ = true;
  has_matched_ = false;
}

Status HashJoinPass::offer(std::string_view key, std::string_view value) {
  HUMMER_ASSERT(stage_ == Stage::probing && !is_probing_);
  if (has_kept_) let_go_of_kept();
  const std::uint32_t hash = hash_of(key);
  if (partition_of(hash).spilled) return keep(1 - build_side_, key, value);
  bytes_[1 - build_side_] += key.size() + value.size();
  begin_probe(key, value, hash);
  return Status();
}

// It has been looked up, and only takes room.
void HashJoinPass::let_go_of_kept() {
  has_kept_ = false;
  for (JoinPartition& partition : partitions_) {
    if (partition.spilled) continue;
    JoinBlocks& kept = partition.sides[1 - build_side_];
    used_bytes_ -= kept.memory_bytes();
    kept.clear();
  }
}

void HashJoinPass::finish() {
  HUMMER_ASSERT(stage_ == Stage::probing);
  stage_ = Stage::unmatched;
  partition_at_ = 0;
  place_ = {};
}

bool HashJoinPass::look_up(JoinPairs& pairs) {
  for (; candidate_ != nullptr; candidate_ = candidate_->next) {
    if (candidate_->hash != probe_hash_ || candidate_->key() != probe_key_) continue;
    if (pairs.full()) return false;
    candidate_->matched = true;
    has_matched_ = true;
    if (build_side_ == 0) {
      pairs.add(candidate_->value(), probe_value_);
    } else {
      pairs.add(probe_value_, candidate_->value());
    }
  }
  if (!has_matched_ && keeps_side(1 - build_side_)) {
    if (pairs.full()) return false;
    pairs.add_alone(1 - build_side_, probe_value_);
  }
  is_probing_ = false;
  return true;
}

// What came of the probe side before the build side had ended; each partition gets its table first.
bool HashJoinPass::produce_kept(JoinPairs& pairs) {
  const int side = 1 - build_side_;
  for (int i = 0; i < records_per_call; ++i) {
    if (is_probing_ && !look_up(pairs)) return false;
    if (partition_at_ == partitions_.size()) return true;
    JoinPartition& partition = partitions_[partition_at_];
    if (!partition.spilled && partition.table.empty()) {
      partition.build(build_side_);
      return false;
    }
    JoinRecord* record = partition.spilled ? nullptr : partition.sides[side].at(place_);
    if (record == nullptr) {
      ++partition_at_;
      place_ = {};
      continue;
    }
    JoinBlocks::advance(place_, *record);
    begin_probe(record->key(), record->value(), record->hash);
  }
  return false;
}

// Records of the build side that none of the other side was looked up for.
bool HashJoinPass::produce_unmatched(JoinPairs& pairs) {
  if (!keeps_side(build_side_)) return true;
  for (int i = 0; i < records_per_call; ++i) {
    if (partition_at_ == partitions_.size()) return true;
    JoinPartition& partition = partitions_[partition_at_];
    JoinRecord* record = partition.spilled ? nullptr : partition.sides[build_side_].at(place_);
    if (record == nullptr) {
      ++partition_at_;
      place_ = {};
      continue;
    }
    if (!record->matched) {
      if (pairs.full()) return false;
      pairs.add_alone(build_side_, record->value());
    }
    JoinBlocks::advance(place_, *record);
  }
  return false;
}

Result<bool> HashJoinPass::produce(JoinPairs& pairs) {
  switch (stage_) {
    case Stage::keeping: return true;
    case Stage::kept:
      if (!produce_kept(pairs)) return false;
      stage_ = Stage::probing;
      return true;
    case Stage::probing: return !is_probing_ || look_up(pairs);
    case Stage::unmatched: return produce_unmatched(pairs);
  }
  return true;
}

Result<std::vector<SpilledPartition>> HashJoinPass::take_spilled() {
  std::vector<SpilledPartition> spilled;
  std::shared_ptr<const batch::SpillFile> file;
  for (JoinPartition& partition : partitions_) {
    if (!partition.spilled) continue;
    HUMMER_TRY(spill(partition));  // what is still in memory
  }
  if (writer_) {
    auto written = writer_->finish();
    if (!written.ok()) return written.status();
    writer_.reset();
    file = std::make_shared<const batch::SpillFile>(std::move(*written));
    disk_bytes_ = file->size_bytes();
  }
  for (JoinPartition& partition : partitions_) {
    if (!partition.spilled) continue;
    SpilledPartition& rest = spilled.emplace_back();
    rest.file = file;
    rest.level = level_;
    for (int side = 0; side < 2; ++side) {
      rest.segments[side] = std::move(partition.segments[side]);
      rest.bytes[side] = partition.spilled_bytes[side];
      rest.part_of[side] = bytes_[side];
    }
  }
  partitions_.clear();
  used_bytes_ = 0;
  return spilled;
}

}  // namespace hummer
