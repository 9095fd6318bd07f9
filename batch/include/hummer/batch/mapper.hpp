// Mapper: makes records of the records of an input.
//
//   class WordMapper final : public RecordMapper<WordMapper> {
//    public:
//     void map_record(const RecordView& line, MapOutput& output) {
//       for_each_word(line.value(), [&](std::string_view word) { output.emit(word, one); });
//     }
//   };
//
// Order of calls: open, map as often as there are spans of records, close. Each task has a mapper
// of its own. A mapper gets records by the span, so that no call is virtual per record;
// RecordMapper is for those who want one at a time, and has the loop.
//
// Views hold until the call ends. What a record's key and value are says the input format: of text
// the key is where the line begins (8 bytes, big-endian), the value the line without what ends it.
//
// Errors: a failed Status, or an exception of any kind, fails the task, which says at which record
// of which input that was.
//
// Thread: one at a time.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

#include <hummer/batch/record_output.hpp>
#include <hummer/batch/record_stream.hpp>
#include <hummer/batch/task_context.hpp>
#include <hummer/status.hpp>

namespace hummer::batch {

class Mapper {
 public:
  virtual ~Mapper() = default;
  virtual Status open(TaskContext& /*context*/) { return Status(); }
  virtual Status map(std::span<const RecordView> records, MapOutput& output) = 0;
  // There are no more records; what was kept goes out now.
  virtual Status close(MapOutput& /*output*/) { return Status(); }

  // Which of the span it is at, for what is said of a failure.
  std::size_t position() const { return position_; }

 protected:
  std::size_t position_ = 0;
};

// map_record returns nothing, or a Status.
template <typename Self>
class RecordMapper : public Mapper {
 public:
  Status map(std::span<const RecordView> records, MapOutput& output) final {
    Self& self = static_cast<Self&>(*this);
    for (position_ = 0; position_ < records.size(); ++position_) {
      using Returned = decltype(self.map_record(records[position_], output));
      if constexpr (std::is_void_v<Returned>) {
        self.map_record(records[position_], output);
      } else {
        HUMMER_TRY(self.map_record(records[position_], output));
      }
    }
    return Status();
  }
};

// Hands on what comes.
class IdentityMapper final : public Mapper {
 public:
  Status map(std::span<const RecordView> records, MapOutput& output) override {
    output.emit_all(records);
    return Status();
  }
};

}  // namespace hummer::batch
