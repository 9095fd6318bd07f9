#include <hummer/detail/operators/rolling_sink.hpp>

#include <utility>

#include "connectors/file_store/rolling_files.hpp"

namespace hummer {

CapturedValues captured_options(const std::string& path, const RollOptions& options) {
  return encoded_values(path, options.roll_bytes, options.roll_records, options.roll_ms,
                        options.idle_ms, options.roll_at_checkpoints, options.max_open_partitions,
                        options.compression, options.compression_level, options.head,
                        options.suffix, options.success_markers, options.refuse_existing)
      .and_also(options.store == nullptr ? CapturedValues() : options.store->captured());
}

RollingSinkBase::RollingSinkBase(const std::string& path, const RollOptions& options,
                                 bool checkpoints)
    : most_records_(options.roll_records),
      files_(std::make_unique<RollingFiles>(path, options, checkpoints)) {}
RollingSinkBase::~RollingSinkBase() = default;

OperatorResult RollingSinkBase::answer(Status status) {
  part_ = nullptr;  // it may have been rolled
  return status.ok() ? OperatorResult::done : context().fail(std::move(status));
}

Status RollingSinkBase::restore(ByteReader& in) { return files_->restore(in); }
Status RollingSinkBase::open() { return files_->open(context()); }

Status RollingSinkBase::turn_to(std::string_view partition, Timestamp ends_at) {
  part_ = nullptr;
  Result<OpenPart*> part = files_->part_of(partition, ends_at);
  if (part.ok()) part_ = *part;
  return part.status();
}

Status RollingSinkBase::hand_over() {
  Result<OpenPart*> part = files_->hand_over(*std::exchange(part_, nullptr));
  if (part.ok()) part_ = *part;
  return part.status();
}

OperatorResult RollingSinkBase::watermark(Timestamp time, Output&) {
  return answer(files_->watermark(time));
}
OperatorResult RollingSinkBase::timer(std::int64_t, Output&) { return answer(files_->timer()); }
OperatorResult RollingSinkBase::flush(Output&) { return answer(files_->flush()); }
OperatorResult RollingSinkBase::end(Output&) { return answer(files_->end()); }

Status RollingSinkBase::snapshot(ByteWriter& out) {
  files_->snapshot(out);
  return {};
}
Status RollingSinkBase::commit(std::uint64_t epoch) { return files_->commit(epoch); }

Status RollingSinkBase::close() {
  part_ = nullptr;
  files_->close();
  return {};
}

}  // namespace hummer
