#include "batch/spill_file.hpp"

#include <algorithm>
#include <utility>

namespace hummer::batch {
namespace {

class WrittenFile final : public ReadableFile {
 public:
  WrittenFile(std::unique_ptr<ReadableFile> file, std::uint64_t size_bytes)
      : file_(std::move(file)), size_bytes_(size_bytes) {}

  const std::string& path() const override { return file_->path(); }
  std::uint64_t size_bytes() const override { return size_bytes_; }
  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) override {
    return file_->read_at(offset, into);
  }
  Result<std::unique_ptr<Mapping>> map(std::uint64_t offset, std::size_t length) override {
    return file_->map(offset, length);
  }
  void advise_sequential() override { file_->advise_sequential(); }

 private:
  const std::unique_ptr<ReadableFile> file_;
  const std::uint64_t size_bytes_;
};

Status append_some(std::span<const RecordView> records, SegmentWriter& writer,
                   AppendedRecords& appended) {
  for (const RecordView& record : records) {
    HUMMER_TRY(writer.add(record.key(), record.value()));
    appended.largest_bytes = std::max(
        appended.largest_bytes, std::size_t{record.key_bytes} + std::size_t{record.value_bytes});
  }
  appended.records += records.size();
  return Status();
}

}  // namespace

std::unique_ptr<ReadableFile> written_file(std::unique_ptr<ReadableFile> file,
                                           std::uint64_t size_bytes) {
  return std::make_unique<WrittenFile>(std::move(file), size_bytes);
}

Result<AppendedRecords> append_all(RecordStream& stream, SegmentWriter& writer) {
  AppendedRecords appended;
  for (;;) {
    auto records = stream.next();
    if (!records.ok()) return records.status();
    if (records->empty()) return appended;
    HUMMER_TRY(append_some(*records, writer, appended));
  }
}

SpillFile::SpillFile(std::unique_ptr<ReadableFile> file, Codec codec,
                     std::vector<SegmentPlace> segments, std::size_t largest_record_bytes)
    : file_(std::move(file)),
      codec_(codec),
      segments_(std::move(segments)),
      largest_record_bytes_(largest_record_bytes) {
  for (const SegmentPlace& segment : segments_) size_bytes_ += segment.stored_bytes;
}

std::unique_ptr<RecordStream> SpillFile::open(std::uint32_t partition,
                                              std::size_t buffer_bytes) const {
  const SegmentPlace& segment = segments_[partition];
  if (segment.stored_bytes == 0) return nullptr;
  const auto most = static_cast<std::size_t>(
      std::min<std::uint64_t>(std::max(segment.raw_bytes, segment.stored_bytes), buffer_bytes));
  return std::make_unique<SegmentReader>(*file_, segment, codec_, most);
}

std::size_t streams_in(std::size_t memory_bytes, std::size_t largest_record_bytes,
                       std::size_t least_buffer_bytes, std::size_t most) {
  return std::clamp(memory_bytes / std::max(largest_record_bytes, least_buffer_bytes),
                    std::size_t{2}, most);
}

std::size_t smallest_neighbours(const std::vector<SpillFile>& files, std::size_t count) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) bytes += files[i].size_bytes();
  std::uint64_t fewest = bytes;
  std::size_t first = 0;
  for (std::size_t i = count; i < files.size(); ++i) {
    bytes += files[i].size_bytes();
    bytes -= files[i - count].size_bytes();
    if (bytes < fewest) {
      fewest = bytes;
      first = i - count + 1;
    }
  }
  return first;
}

SpillWriter::SpillWriter(NamelessFile file, std::uint32_t partitions, Codec codec)
    : file_(std::move(file)),
      codec_(codec),
      writer_(std::make_unique<SegmentWriter>(*file_.writable, codec)) {
  segments_.reserve(partitions);
}

Result<SpillWriter> SpillWriter::create(Platform& platform, const std::string& directory,
                                        std::uint32_t partitions, Codec codec) {
  auto file = open_nameless(platform, directory);
  if (!file.ok()) return file.status();
  return SpillWriter(std::move(*file), partitions, codec);
}

Status SpillWriter::add(RecordStream* stream) {
  while (stream != nullptr) {
    auto records = stream->next();
    if (!records.ok()) return records.status();
    if (records->empty()) break;
    HUMMER_TRY(append(*records));
  }
  return end_partition();
}

Status SpillWriter::append(std::span<const RecordView> records) {
  HUMMER_TRY(append_some(records, *writer_, appended_));
  has_begun_ = has_begun_ || !records.empty();
  return Status();
}

Status SpillWriter::end_partition() {
  SegmentPlace segment;
  if (std::exchange(has_begun_, false)) {
    auto place = writer_->finish();
    if (!place.ok()) return place.status();
    segment = *place;
  }
  segments_.push_back(segment);
  return Status();
}

Result<SpillFile> SpillWriter::finish() {
  HUMMER_TRY(file_.writable->close());
  auto written = written_file(std::move(file_.readable), file_.writable->size_bytes());
  return SpillFile(std::move(written), codec_, std::move(segments_), appended_.largest_bytes);
}

}  // namespace hummer::batch
