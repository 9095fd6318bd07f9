#include "input_splits.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "connectors/file/byte_input.hpp"
#include "connectors/file/file_listing.hpp"

namespace hummer::batch {
namespace {

constexpr std::uint64_t least_split_bytes = std::uint64_t{1} << 20;
constexpr std::uint64_t most_split_bytes = std::uint64_t{128} << 20;
constexpr std::uint64_t splits_per_thread = 4;

// A file, or nothing at all where the split is a range of rows.
class PlainSplit final : public SplitInput {
 public:
  PlainSplit(Files& files, InputSplit split, std::unique_ptr<ReadableFile> file)
      : files_(files), split_(std::move(split)), file_(std::move(file)) {}

  const std::string& path() const override { return split_.path; }
  std::uint64_t begin() const override { return split_.begin; }
  std::uint64_t end() const override { return split_.end; }
  std::uint64_t bytes_read() const override { return bytes_read_; }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) override {
    if (file_ == nullptr || offset >= split_.file_bytes) return std::size_t{0};
    into = into.first(
        static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), split_.file_bytes - offset)));
    auto got = file_->read_at(offset, into);
    if (!got.ok()) return got;
    bytes_read_ += *got;
    if (*got < into.size()) {
      return Status(ErrorCode::file_changed,
                    fmt::format("'{}' was truncated while it was read: it ended at byte {} of {}",
                                split_.path, offset + *got, split_.file_bytes));
    }
    return got;
  }

  Result<std::unique_ptr<SplitInput>> open_beside(std::string_view suffix) override {
    const std::string path = split_.path + std::string(suffix);
    auto file = files_.open_for_reading(path);
    if (!file.ok()) return file.status();
    const std::uint64_t bytes = (*file)->size_bytes();
    return std::unique_ptr<SplitInput>(std::make_unique<PlainSplit>(
        files_, InputSplit{split_.input, path, 0, bytes, bytes, CompressionFormat::none},
        std::move(*file)));
  }

 private:
  Files& files_;
  const InputSplit split_;
  const std::unique_ptr<ReadableFile> file_;
  std::uint64_t bytes_read_ = 0;
};

class CompressedSplit final : public SplitInput {
 public:
  CompressedSplit(std::string path, std::unique_ptr<ByteInput> bytes)
      : path_(std::move(path)), bytes_(std::move(bytes)) {}

  const std::string& path() const override { return path_; }
  std::uint64_t begin() const override { return 0; }
  std::uint64_t end() const override { return std::numeric_limits<std::uint64_t>::max(); }
  std::uint64_t bytes_read() const override { return bytes_->file_bytes(); }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) override {
    if (offset != offset_) {
      return Status(ErrorCode::invalid_argument,
                    fmt::format("'{}' is compressed, and is read from front to back: from byte {} "
                                "now, not {}",
                                path_, offset_, offset));
    }
    auto got = bytes_->read(into);
    if (got.ok()) offset_ += *got;
    return got;
  }

 private:
  const std::string path_;
  const std::unique_ptr<ByteInput> bytes_;
  std::uint64_t offset_ = 0;
};

std::vector<InputSplit> splits_of_rows(const InputFormat& format, std::uint32_t threads) {
  const std::uint64_t count = std::min(format.rows, threads * splits_per_thread);
  std::vector<InputSplit> splits(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < splits.size(); ++i) {
    splits[i].begin = format.rows / count * i + std::min<std::uint64_t>(i, format.rows % count);
    if (i > 0) splits[i - 1].end = splits[i].begin;
  }
  if (count > 0) splits.back().end = format.rows;
  return splits;
}

Result<CompressionFormat> find_compression(Files& files, const InputFile& file) {
  auto opened = files.open_for_reading(file.path);
  if (!opened.ok()) return opened.status();
  return compression_of(**opened, {});
}

}  // namespace

Result<std::unique_ptr<SplitInput>> SplitInput::open_beside(std::string_view suffix) {
  return Status(ErrorCode::not_found, fmt::format("there is nothing beside '{}' that is called so, "
                                                  "with {} at its end",
                                                  path(), suffix));
}

Result<std::vector<InputSplit>> plan_splits(Files& files, const std::vector<std::string>& paths,
                                            const InputFormat& format, std::uint64_t split_bytes,
                                            std::uint32_t threads) {
  if (!format.has_files) return splits_of_rows(format, threads);
  std::vector<InputSplit> whole;
  std::uint64_t all_bytes = 0;
  for (std::uint32_t input = 0; input < paths.size(); ++input) {
    const auto listed = list_input_files(files, paths[input]);
    if (!listed.ok()) return listed.status();
    for (const InputFile& file : *listed) {
      if (file.size_bytes == 0) continue;
      if (!format.passed_over.empty() && file.path.ends_with(format.passed_over)) continue;
      const auto compression = find_compression(files, file);
      if (!compression.ok()) return compression.status();
      all_bytes += file.size_bytes;
      whole.push_back({input, file.path, 0, file.size_bytes, file.size_bytes, *compression});
    }
  }
  if (split_bytes == 0) {
    split_bytes =
        std::clamp(all_bytes / (threads * splits_per_thread), least_split_bytes, most_split_bytes);
  }
  split_bytes = std::max(split_bytes / format.record_bytes, std::uint64_t{1}) * format.record_bytes;
  std::vector<InputSplit> splits;
  for (const InputSplit& file : whole) {
    if (!format.has_splits || file.compression != CompressionFormat::none) {
      splits.push_back(file);
      continue;
    }
    for (std::uint64_t begin = 0; begin < file.file_bytes; begin += split_bytes) {
      InputSplit split = file;
      split.begin = begin;
      split.end = std::min(begin + split_bytes, file.file_bytes);
      splits.push_back(std::move(split));
    }
  }
  return splits;
}

Result<std::unique_ptr<SplitInput>> open_split(Files& files, const InputSplit& split) {
  if (split.path.empty()) {
    return std::unique_ptr<SplitInput>(std::make_unique<PlainSplit>(files, split, nullptr));
  }
  auto file = files.open_for_reading(split.path);
  if (!file.ok()) return file.status();
  if ((*file)->size_bytes() < split.file_bytes) {
    return Status(ErrorCode::file_changed,
                  fmt::format("'{}' became shorter since the job began: it has {} bytes, not {}",
                              split.path, (*file)->size_bytes(), split.file_bytes));
  }
  if (split.compression == CompressionFormat::none) {
    return std::unique_ptr<SplitInput>(
        std::make_unique<PlainSplit>(files, split, std::move(*file)));
  }
  return std::unique_ptr<SplitInput>(std::make_unique<CompressedSplit>(
      split.path, make_decompressed_input(std::move(*file), split.compression, split.file_bytes)));
}

}  // namespace hummer::batch
