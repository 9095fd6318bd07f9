// TextJoin: the inner join of two texts by their first field, which ends at a TAB or with the line.
//
// A key on its way is the field and one byte more, the number of the input: that sorts the records
// of a field by input, while it counts neither for the partition nor for the group. So of each
// field only the lines of the first input are kept, and those of the second go by. A result is the
// field, a TAB, the rest of the first line, a TAB, the rest of the second; lines without a rest
// leave its TAB out.
#pragma once

#include <string>
#include <vector>

#include <hummer/batch/key_order.hpp>
#include <hummer/batch/mapper.hpp>
#include <hummer/batch/partitioner.hpp>
#include <hummer/batch/reducer.hpp>

namespace hummer::batch {

class JoinMapper final : public RecordMapper<JoinMapper> {
 public:
  Status open(TaskContext& context) override;
  void map_record(const RecordView& line, MapOutput& output);

 private:
  char input_ = 0;
  std::string key_;
};

class JoinPartitioner final : public Partitioner {
 public:
  Status partition(std::span<const RecordView> records, std::uint32_t partitions,
                   std::span<std::uint32_t> into) override;
};

class JoinReducer final : public GroupedReducer<JoinReducer> {
 public:
  void reduce_group(GroupReader& group, RecordOutput& output);

 private:
  std::vector<std::string> first_;
  std::string joined_;
};

// Of fields with an input, and of fields alone.
KeyOrder join_sort_order();
KeyOrder join_group_order();

}  // namespace hummer::batch
