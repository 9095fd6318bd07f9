// TextGrep: how often each text is found that a pattern matches, the most frequent first, as
// Hadoop's example of that name has it.
//
// Two jobs: GrepMapper emits each match with a count of 1, which sums up as words do; the second
// sorts by the counts. Parameters: `pattern`, a regular expression of RE2, and `group`, the number
// of the group that counts (0: all of the match).
#pragma once

#include <memory>
#include <string>

#include <hummer/batch/mapper.hpp>
#include <hummer/batch/reducer.hpp>

namespace hummer::batch {

// Null where the program is built without RE2.
std::unique_ptr<Mapper> make_grep_mapper();
bool has_grep();
// What is wrong with a pattern, and with the number of a group.
Status check_pattern(const std::string& pattern, std::uint64_t group);

// Of lines that the first job has written, the match, a TAB and the count: a key that sorts by the
// count, the greatest first, then by the match.
class CountFirstMapper final : public RecordMapper<CountFirstMapper> {
 public:
  Status map_record(const RecordView& line, MapOutput& output);
};

// Count, TAB, match.
class CountFirstReducer final : public GroupedReducer<CountFirstReducer> {
 public:
  void reduce_group(GroupReader& group, RecordOutput& output);
};

}  // namespace hummer::batch
