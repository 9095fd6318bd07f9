// SortMergeJoin: sorts both sides by the bytes of their keys, and merges them. See
// join_algorithm.hpp.
//
// Memory: three eighths of it sort either side; the rest is for the records of one key.
#pragma once

#include <optional>
#include <string_view>

#include "operators/external_sorter.hpp"
#include "operators/join_algorithm.hpp"
#include "operators/merge_join.hpp"

namespace hummer {

class SortMergeJoin final : public JoinAlgorithm {
 public:
  SortMergeJoin(Platform& platform, const JoinOptions& options);

  Result<bool> add(int side, const EncodedRecords& records, std::size_t& next,
                   JoinPairs& pairs) override;
  // The same of one record. False: step(), until it answers false too, and again.
  Result<bool> add(int side, std::string_view key, std::string_view value) {
    return sorters_[side].add(key, value);
  }
  Result<bool> step(int side) { return sorters_[side].step(); }
  Result<bool> finish(JoinPairs& pairs) override;

  std::size_t memory_bytes() const override {
    return sorters_[0].memory_bytes() + sorters_[1].memory_bytes();
  }
  std::size_t disk_bytes() const override {
    return sorters_[0].disk_bytes() + sorters_[1].disk_bytes() +
           (merge_ ? merge_->disk_bytes() : 0);
  }

 private:
  Platform& platform_;
  const JoinOptions options_;
  ExternalSorter sorters_[2];
  std::optional<MergeJoin> merge_;
};

}  // namespace hummer
