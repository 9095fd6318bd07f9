// A class library for `hummer batch run`: how many words of each length a text has.
//
//   hummer batch run --library word_lengths.so --mapper lengths.LengthMapper
//       --combiner lengths.TotalCombiner --reducer lengths.TotalReducer
//       --input texts --output lengths
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include <hummer/batch/class_library.hpp>

using hummer::Status;
using hummer::batch::Combiner;
using hummer::batch::GroupedReducer;
using hummer::batch::GroupReader;
using hummer::batch::MapOutput;
using hummer::batch::RecordBuffer;
using hummer::batch::RecordMapper;
using hummer::batch::RecordOutput;
using hummer::batch::RecordView;

class LengthMapper final : public RecordMapper<LengthMapper> {
 public:
  void map_record(const RecordView& line, MapOutput& output) {
    std::string_view text = line.value();
    while (!text.empty()) {
      const std::size_t end = std::min(text.find(' '), text.size());
      if (end > 0) output.emit(std::to_string(end), "1");
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }
};

std::string total_of(GroupReader& group) {
  std::uint64_t total = 0;
  while (group.next_value()) {
    std::uint64_t count = 0;
    std::from_chars(group.value().data(), group.value().data() + group.value().size(), count);
    total += count;
  }
  return std::to_string(total);
}

class TotalCombiner final : public Combiner {
 public:
  Status combine(GroupReader& group, RecordBuffer& out) override {
    out.add(group.key(), total_of(group));
    return Status();
  }
};

class TotalReducer final : public GroupedReducer<TotalReducer> {
 public:
  void reduce_group(GroupReader& group, RecordOutput& output) {
    output.emit(group.key(), total_of(group));
  }
};

HUMMER_BATCH_LIBRARY(lengths) {
  library.add<LengthMapper>("LengthMapper");
  library.add<TotalCombiner>("TotalCombiner");
  library.add<TotalReducer>("TotalReducer");
}
