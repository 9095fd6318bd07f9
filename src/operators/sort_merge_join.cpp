#include "operators/sort_merge_join.hpp"

namespace hummer {
namespace {

SorterOptions sorter_options(const JoinOptions& options) {
  return {.memory_bytes = options.memory_bytes / 8 * 3, .spill_directory = options.spill_directory};
}

}  // namespace

SortMergeJoin::SortMergeJoin(Platform& platform, const JoinOptions& options)
    : platform_(platform),
      options_(options),
      sorters_{{platform, sorter_options(options)}, {platform, sorter_options(options)}} {}

Result<bool> SortMergeJoin::add(int side, const EncodedRecords& records, std::size_t& next,
                                JoinPairs&) {
  ExternalSorter& sorter = sorters_[side];
  if (auto more = sorter.step(); !more.ok() || *more) {
    return more.ok() ? Result<bool>(false) : Result<bool>(more.status());
  }
  for (; next < records.size(); ++next) {
    auto added = sorter.add(records.key(next), records.value(next));
    if (!added.ok()) return added.status();
    if (!*added) return false;
  }
  return true;
}

Result<bool> SortMergeJoin::finish(JoinPairs& pairs) {
  if (!merge_) {
    for (ExternalSorter& sorter : sorters_) {
      sorter.finish();
      auto more = sorter.step();
      if (!more.ok()) return more.status();
      if (*more) return false;
    }
    merge_.emplace(platform_,
                   MergeJoinOptions{.kind = options_.kind,
                                    .memory_bytes = options_.memory_bytes / 8,
                                    .spill_directory = options_.spill_directory},
                   sorters_[0], sorters_[1]);
  }
  auto more = merge_->produce(pairs);
  if (!more.ok()) return more.status();
  return !*more;
}

}  // namespace hummer
