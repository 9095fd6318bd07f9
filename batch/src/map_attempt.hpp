// MapAttempt: a mapper, and the reader that feeds it; one attempt of a map task, wherever its
// records go.
//
//   MapAttempt attempt(context);
//   HUMMER_TRY(attempt.open(std::move(reader), job.mapper));   // the reader is open
//   for (;;) {
//     auto more = attempt.map_span(output);
//     if (!more.ok()) return more.status();
//     if (!*more) break;                                       // the reader's end
//   }
//   HUMMER_TRY(attempt.close(output));                         // and the output is flushed
//
// Failures of the mapper name the record at which it was. A task that is told to stop ends with
// `cancelled` between two spans.
//
// Thread: one. The context outlives it.
#pragma once

#include <cstdint>
#include <memory>

#include <hummer/batch/job.hpp>

namespace hummer::batch {

class MapAttempt {
 public:
  explicit MapAttempt(TaskContext& context) : context_(context) {}

  Status open(std::unique_ptr<RecordReader> reader, const Factory<Mapper>& make_mapper);
  // False: the reader had nothing.
  Result<bool> map_span(MapOutput& output);
  Status close(MapOutput& output);

  std::uint64_t records() const { return records_; }
  const RecordReader& reader() const { return *reader_; }

 private:
  TaskContext& context_;
  std::unique_ptr<RecordReader> reader_;
  std::unique_ptr<Mapper> mapper_;
  std::uint64_t records_ = 0;
};

// A reader of the format on a split that is open.
Result<std::unique_ptr<RecordReader>> open_reader(const InputFormat& format,
                                                  std::unique_ptr<SplitInput> input);

// What a task that is told to stop ends with.
Status job_stopped();

}  // namespace hummer::batch
