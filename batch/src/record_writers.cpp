#include "record_writers.hpp"

namespace hummer::batch {
namespace {

constexpr std::size_t written_bytes = std::size_t{256} << 10;

}  // namespace

Status BufferedWriter::open(ByteOutput& output) {
  output_ = &output;
  buffer_.reserve(written_bytes);
  return Status();
}

Status BufferedWriter::write_when_full() {
  if (buffer_.size() < written_bytes) return Status();
  const Status status = output_->append(buffer_);
  buffer_.clear();
  return status;
}

Status BufferedWriter::close() {
  if (buffer_.empty()) return Status();
  const Status status = output_->append(buffer_);
  buffer_.clear();
  return status;
}

Status TextWriter::write(std::span<const RecordView> records) {
  for (const RecordView& record : records) {
    buffer_.append(record.key());
    if (record.key_bytes > 0 && record.value_bytes > 0) buffer_.push_back('\t');
    buffer_.append(record.value());
    buffer_.push_back('\n');
    HUMMER_TRY(write_when_full());
  }
  return Status();
}

Status RawWriter::write(std::span<const RecordView> records) {
  for (const RecordView& record : records) {
    buffer_.append(record.key());
    buffer_.append(record.value());
    HUMMER_TRY(write_when_full());
  }
  return Status();
}

}  // namespace hummer::batch
