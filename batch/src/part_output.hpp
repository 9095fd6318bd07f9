// PartOutput: the part of the output that one attempt of a task writes.
//
// Lifecycle: open, records into output(), close; then the attempt may count
// (OutputDirectory::keep_part). Thread: one.
#pragma once

#include <memory>
#include <optional>

#include <hummer/batch/record_writer.hpp>

#include "job_run.hpp"
#include "task_outputs.hpp"

namespace hummer::batch {

class PartOutput final : public ByteOutput {
 public:
  explicit PartOutput(JobRun& run) : run_(run) {}

  Status open(const TaskContext& context);
  WrittenOutput& output() { return *output_; }
  // Counts what was written, too.
  Status close(TaskContext& context);

  Status append(std::string_view bytes) override {
    return file_ == nullptr ? Status() : file_->append(bytes);
  }

 private:
  JobRun& run_;
  std::unique_ptr<WritableFile> file_;  // null: the format has none
  std::unique_ptr<RecordWriter> writer_;
  std::optional<WrittenOutput> output_;
};

}  // namespace hummer::batch
