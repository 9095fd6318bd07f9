// HybridHashJoin: joins by hash, and what has no room in memory by passes over partitions on disk.
// See join_algorithm.hpp and hash_join_pass.hpp.
//
// The side that ends first, or at the end the one with fewer bytes, is built. A partition that was
// spilled is joined by a pass of its own, of which the smaller side is built; where that can't get
// smaller (one key has most of it) or has been tried often enough, by sorting.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "operators/hash_join_pass.hpp"
#include "operators/join_algorithm.hpp"
#include "operators/sort_merge_join.hpp"

namespace hummer {

class HybridHashJoin final : public JoinAlgorithm {
 public:
  HybridHashJoin(Platform& platform, const JoinOptions& options);

  Result<bool> add(int side, const EncodedRecords& records, std::size_t& next,
                   JoinPairs& pairs) override;
  void side_ended(int side) override;
  Result<bool> finish(JoinPairs& pairs) override;

  std::size_t memory_bytes() const override;
  std::size_t disk_bytes() const override;

 private:
  enum class Stage : std::uint8_t {
    coming,     // records, by add()
    probing,    // a partition on disk: what is looked up in a pass that was built
    unmatched,  // of the pass, the rest
    next_partition,
    building,
    sorting,
    merging,
    done,
  };

  // True: go on with the stage that is set now; false: the pairs have to be taken, or enough was
  // done.
  Result<bool> advance(JoinPairs& pairs);
  Result<bool> finish_pass(JoinPairs& pairs);
  void begin_partition();
  bool is_sorted(const SpilledPartition& partition, int build_side) const;
  Result<bool> build();
  Result<bool> probe(JoinPairs& pairs);
  Result<bool> sort();
  // Of the partition at hand: whether there is a record of the side that is read.
  Result<bool> fetch();
  void begin_reading(int side);

  Platform& platform_;
  const JoinOptions options_;
  Stage stage_ = Stage::coming;
  std::optional<HashJoinPass> pass_;
  std::optional<SortMergeJoin> sorts_;
  bool is_offered_ = false;  // the record at hand
  std::vector<SpilledPartition> spilled_;
  SpilledPartition partition_;
  int reading_ = 0;  // its side
  std::size_t next_segment_ = 0;
  std::unique_ptr<batch::RecordStream> stream_;
  std::span<const batch::RecordView> rest_;
};

}  // namespace hummer
