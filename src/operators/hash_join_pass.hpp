// HashJoinPass: one pass of a hybrid hash join over both sides, or over a partition that an earlier
// pass has spilled.
//
//   pass.keep(side, key, value) …            while both sides come
//   pass.build(side);                        all of one side has come
//   pass.offer(key, value);                  of the other one; then
//   while (!pass.produce(pairs)) …           its pairs, until pairs are full
//   pass.finish(); while (!pass.produce(pairs)) …
//   pass.take_spilled()                      what is left to do: partitions on disk
//
// What is kept is spread over partitions by a hash of the keys. When it is more than the memory,
// the largest partition goes to disk with all that it has and gets, of both sides. build() makes
// tables of the others; what has come of the other side already is looked up by the next calls of
// produce() (which answers false until that is done; offer() comes after it).
//
// Pairs hold until the next call but offer() and produce(); those of what was kept are taken before
// the first offer(), and all of them before take_spilled().
//
// Thread: one. Errors: those of the disk; limit_exceeded, a record larger than the memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/detail/operators/bounded_operators.hpp>
#include <hummer/status.hpp>

#include "batch/spill_file.hpp"
#include "operators/join_algorithm.hpp"
#include "operators/join_pairs.hpp"
#include "operators/join_partition.hpp"
#include "platform/platform.hpp"

namespace hummer {

// A partition on disk. The file is that of its pass.
struct SpilledPartition {
  std::shared_ptr<const batch::SpillFile> file;
  std::vector<std::uint32_t> segments[2];  // by side
  std::uint64_t bytes[2] = {0, 0};
  std::uint64_t part_of[2] = {0, 0};  // bytes of all that the pass had
  std::uint32_t level = 0;            // of the pass
};

class HashJoinPass {
 public:
  // `level`: 0, or one more than that of the pass which has spilled the partition: hashes of
  // different levels are independent.
  HashJoinPass(Platform& platform, const JoinOptions& options, std::uint32_t level);

  Status keep(int side, std::string_view key, std::string_view value);
  void build(int side);
  bool is_built() const { return build_side_ >= 0; }
  int build_side() const { return build_side_; }
  // REQUIRES: is_built(), produce() has answered true since.
  Status offer(std::string_view key, std::string_view value);
  // True: nothing is left of what was asked for; false: the pairs are full, or some work is done.
  Result<bool> produce(JoinPairs& pairs);
  void finish();
  // REQUIRES: finish(), produce() has answered true. The memory is free then.
  Result<std::vector<SpilledPartition>> take_spilled();

  std::uint64_t bytes(int side) const { return bytes_[side]; }
  std::size_t memory_bytes() const { return used_bytes_; }
  std::size_t disk_bytes() const { return disk_bytes_; }
  std::uint64_t spills() const { return spills_; }

 private:
  enum class Stage : std::uint8_t { keeping, kept, probing, unmatched };

  std::uint32_t hash_of(std::string_view key) const;
  JoinPartition& partition_of(std::uint32_t hash) { return partitions_[hash >> partition_shift_]; }
  Status make_room(std::size_t bytes);
  void let_go_of_kept();
  Status spill(JoinPartition& partition);
  Status write(JoinPartition& partition, int side);
  // Pairs of the record at hand; false: the pairs are full.
  bool look_up(JoinPairs& pairs);
  void begin_probe(std::string_view key, std::string_view value, std::uint32_t hash);
  bool produce_kept(JoinPairs& pairs);
  bool produce_unmatched(JoinPairs& pairs);
  bool keeps_side(int side) const {
    return side == 0 ? keeps_first(options_.kind) : keeps_second(options_.kind);
  }

  Platform& platform_;
  const JoinOptions options_;
  const std::uint32_t level_;
  std::size_t block_bytes_;
  std::size_t flush_bytes_;   // of a spilled partition's side, which is then written
  std::size_t budget_bytes_;  // for all partitions
  unsigned partition_shift_;
  std::vector<JoinPartition> partitions_;
  std::size_t used_bytes_ = 0;
  std::uint64_t bytes_[2] = {0, 0};
  std::optional<batch::SpillWriter> writer_;
  std::size_t disk_bytes_ = 0;
  std::uint64_t spills_ = 0;
  int build_side_ = -1;
  Stage stage_ = Stage::keeping;
  // The record that is looked up.
  bool is_probing_ = false;
  bool has_matched_ = false;
  bool has_kept_ = true;  // of the probe side, in partitions in memory
  std::string_view probe_key_;
  std::string_view probe_value_;
  std::uint32_t probe_hash_ = 0;
  JoinRecord* candidate_ = nullptr;
  // What is gone through: kept records of the probe side, or the build side's.
  std::size_t partition_at_ = 0;
  JoinBlocks::Place place_;
};

}  // namespace hummer
