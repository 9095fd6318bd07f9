// reduce_groups: a reducer on a sorted stream; one attempt of a reduce task, wherever its records
// go.
//
//   auto groups = reduce_groups(job.reducer, context, merged, order, output);   // how many groups
//
// Failures of the reducer name the key at which it was. The output is flushed.
//
// Thread: one.
#pragma once

#include <cstdint>

#include <hummer/batch/job.hpp>

namespace hummer::batch {

Result<std::uint64_t> reduce_groups(const Factory<Reducer>& make_reducer, TaskContext& context,
                                    RecordStream& input, KeyOrder group_order,
                                    RecordOutput& output);

// What comes through, counted, and ended where the job is to stop.
class ReduceInput final : public RecordStream {
 public:
  ReduceInput(RecordStream& stream, const TaskContext& context)
      : stream_(stream), context_(context) {}

  Result<std::span<const RecordView>> next() override;
  std::uint64_t records() const { return records_; }

 private:
  RecordStream& stream_;
  const TaskContext& context_;
  std::uint64_t records_ = 0;
};

}  // namespace hummer::batch
