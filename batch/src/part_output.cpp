#include "part_output.hpp"

#include <utility>

#include "guarded_call.hpp"

namespace hummer::batch {

Status PartOutput::open(const TaskContext& context) {
  if (run_.writes_files()) {
    auto file = run_.output.open_part(context);
    if (!file.ok()) return file.status();
    file_ = std::move(*file);
  }
  HUMMER_TRY(call_guarded("the writer", [&] {
    writer_ = run_.job.output_format.make_writer();
    return writer_->open(*this);
  }));
  output_.emplace(*writer_);
  return Status();
}

Status PartOutput::close(TaskContext& context) {
  output_->flush();
  HUMMER_TRY(Status(output_->status()));
  HUMMER_TRY(call_guarded("the writer", [&] { return writer_->close(); }));
  if (file_ == nullptr) return Status();
  context.counters().counter(output_counters, "Bytes Written").add(file_->size_bytes());
  return file_->close();
}

}  // namespace hummer::batch
