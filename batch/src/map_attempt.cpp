#include "map_attempt.hpp"

#include <utility>

#include "guarded_call.hpp"

namespace hummer::batch {

Status job_stopped() { return Status(ErrorCode::cancelled, "the job was stopped"); }

Result<std::unique_ptr<RecordReader>> open_reader(const InputFormat& format,
                                                  std::unique_ptr<SplitInput> input) {
  std::unique_ptr<RecordReader> reader;
  HUMMER_TRY(call_guarded("the reader", [&] {
    reader = format.make_reader();
    return reader->open(std::move(input));
  }));
  return reader;
}

Status MapAttempt::open(std::unique_ptr<RecordReader> reader, const Factory<Mapper>& make_mapper) {
  reader_ = std::move(reader);
  return call_guarded("the mapper", [&] {
    mapper_ = make_mapper();
    return mapper_->open(context_);
  });
}

Result<bool> MapAttempt::map_span(MapOutput& output) {
  if (context_.is_stopping()) return job_stopped();
  std::span<const RecordView> records;
  HUMMER_TRY(call_guarded("the reader", [&] {
    auto read = reader_->next();
    if (read.ok()) records = *read;
    return read.status();
  }));
  if (records.empty()) return false;
  records_ += records.size();
  const Status status = call_guarded("the mapper", [&] { return mapper_->map(records, output); });
  if (!status.ok()) {
    const std::size_t at = mapper_->position();
    return status.with_context(reader_->place_of(records[at < records.size() ? at : 0]));
  }
  HUMMER_TRY(Status(output.status()));
  return true;
}

Status MapAttempt::close(MapOutput& output) {
  HUMMER_TRY(call_guarded("the mapper", [&] { return mapper_->close(output); }));
  output.flush();
  return output.status();
}

}  // namespace hummer::batch
