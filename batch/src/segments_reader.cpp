#include "segments_reader.hpp"

#include <utility>

#include <fmt/format.h>

namespace hummer::batch {
namespace {

constexpr std::size_t segment_buffer_bytes = std::size_t{1} << 20;

// A split that is all of a file, as that file.
class FileOfSplit final : public ReadableFile {
 public:
  explicit FileOfSplit(std::unique_ptr<SplitInput> input) : input_(std::move(input)) {}

  const std::string& path() const override { return input_->path(); }
  std::uint64_t size_bytes() const override { return input_->end(); }
  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) override {
    return input_->read_at(offset, into);
  }
  Result<std::unique_ptr<Mapping>> map(std::uint64_t, std::size_t) override {
    return Status(ErrorCode::limit_exceeded, fmt::format("'{}' is not mapped", path()));
  }
  void advise_sequential() override {}

 private:
  const std::unique_ptr<SplitInput> input_;
};

}  // namespace

Status SegmentsReader::open(std::unique_ptr<SplitInput> input) {
  auto index_input = input->open_beside(index_suffix);
  if (!index_input.ok()) return index_input.status();
  FileOfSplit index_file(std::move(*index_input));
  auto index = read_segment_index(index_file);
  if (!index.ok()) return index.status();
  index_ = std::move(*index);
  file_ = std::make_unique<FileOfSplit>(std::move(input));
  return Status();
}

Result<std::span<const RecordView>> SegmentsReader::next() {
  for (;;) {
    if (segment_ != nullptr) {
      auto records = segment_->next();
      if (!records.ok() || !records->empty()) return records;
      segment_.reset();
    }
    if (next_segment_ == index_.places.size()) return std::span<const RecordView>();
    const SegmentPlace& place = index_.places[next_segment_++];
    if (place.stored_bytes == 0) continue;
    bytes_read_ += place.stored_bytes;
    segment_ = std::make_unique<SegmentReader>(*file_, place, codec_, segment_buffer_bytes);
  }
}

std::string SegmentsReader::place_of(const RecordView&) const {
  return fmt::format("'{}', segment {}", file_->path(), next_segment_ - 1);
}

}  // namespace hummer::batch
