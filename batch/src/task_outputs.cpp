#include "task_outputs.hpp"

#include "guarded_call.hpp"

namespace hummer::batch {
namespace {

std::uint64_t bytes_in(std::span<const RecordView> records) {
  std::uint64_t bytes = 0;
  for (const RecordView& record : records) {
    bytes += std::uint64_t{record.key_bytes} + record.value_bytes;
  }
  return bytes;
}

}  // namespace

Status CollectedOutput::take(std::span<const RecordView> records) {
  if (partitions_.size() < records.size()) partitions_.resize(records.size());
  const auto partitions = std::span(partitions_).first(records.size());
  HUMMER_TRY(call_guarded("the partitioner", [&] {
    return partitioner_.partition(records, collector_.partitions(), partitions);
  }));
  for (std::size_t i = 0; i < records.size(); ++i) {
    HUMMER_TRY(collector_.collect(partitions[i], records[i].key(), records[i].value()));
  }
  return Status();
}

Status WrittenOutput::take(std::span<const RecordView> records) {
  records_ += records.size();
  bytes_ += bytes_in(records);
  return call_guarded("the writer", [&] { return writer_.write(records); });
}

Status SortedOutput::take(std::span<const RecordView> records) {
  if (collector_ == nullptr) {
    auto collector = OutputCollector::create(platform_, options_);
    if (!collector.ok()) return collector.status();
    collector_ = std::move(*collector);
  }
  for (const RecordView& record : records) {
    HUMMER_TRY(collector_->collect(0, record.key(), record.value()));
  }
  return Status();
}

Result<std::vector<std::unique_ptr<RecordStream>>> SortedOutput::streams() {
  flush();
  if (!status().ok()) return status();
  if (collector_ == nullptr) return std::vector<std::unique_ptr<RecordStream>>();
  HUMMER_TRY(collector_->finish());
  return collector_->take(0);
}

Status CountedOutput::take(std::span<const RecordView> records) {
  records_ += records.size();
  bytes_ += bytes_in(records);
  output_.emit_all(records);
  return output_.status();
}

Status CountedOutput::take_keys(std::span<const std::string_view> keys, std::string_view value) {
  records_ += keys.size();
  bytes_ += keys.size() * value.size();
  for (const std::string_view key : keys) bytes_ += key.size();
  output_.emit_keys(keys, value);
  return output_.status();
}

}  // namespace hummer::batch
