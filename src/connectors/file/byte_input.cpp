#include "connectors/file/byte_input.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace hummer {
namespace {

class PlainInput final : public ByteInput {
 public:
  PlainInput(std::shared_ptr<ReadableFile> file, std::uint64_t offset, std::uint64_t expected_bytes)
      : file_(std::move(file)), begin_(offset), next_(offset), expected_bytes_(expected_bytes) {}

  Result<std::size_t> read(std::span<char> into) override {
    const std::uint64_t left = expected_bytes_ - std::min(expected_bytes_, next_);
    into = into.first(static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), left)));
    if (into.empty()) return std::size_t{0};
    Result<std::size_t> got = file_->read_at(next_, into);
    if (!got.ok()) return got;
    next_ += *got;
    if (*got < into.size()) {
      return Status(ErrorCode::file_changed,
                    "'" + file_->path() + "' was truncated while it was read: it ended at byte " +
                        std::to_string(next_) + " of " + std::to_string(expected_bytes_));
    }
    return got;
  }
  std::uint64_t file_bytes() const override { return next_ - begin_; }

 private:
  std::shared_ptr<ReadableFile> file_;
  std::uint64_t begin_;
  std::uint64_t next_;
  std::uint64_t expected_bytes_;
};

class DecompressedInput final : public ByteInput {
 public:
  DecompressedInput(std::unique_ptr<ByteInput> packed, std::unique_ptr<Decompressor> decompressor)
      : packed_(std::move(packed)), decompressor_(std::move(decompressor)), space_(packed_bytes) {}

  Result<std::size_t> read(std::span<char> into) override {
    std::size_t filled = 0;
    while (filled < into.size()) {
      if (unread_.empty() && !packed_ended_ && !more_) {
        Result<std::size_t> got = packed_->read(space_);
        if (!got.ok()) return got;
        unread_ = std::span<const char>(space_).first(*got);
        packed_ended_ = *got < space_.size();
      }
      Result<Decompressor::Step> step = decompressor_->run(unread_, into.subspan(filled));
      if (!step.ok()) return step.status();
      unread_ = unread_.subspan(step->consumed);
      filled += step->produced;
      more_ = step->more;
      if (packed_ended_ && unread_.empty() && step->consumed == 0 && step->produced == 0) {
        HUMMER_TRY(decompressor_->finish());
        break;
      }
    }
    return filled;
  }
  std::uint64_t file_bytes() const override { return packed_->file_bytes() - unread_.size(); }

 private:
  static constexpr std::size_t packed_bytes = 64 << 10;

  std::unique_ptr<ByteInput> packed_;
  std::unique_ptr<Decompressor> decompressor_;
  std::vector<char> space_;
  std::span<const char> unread_;  // of space_
  bool packed_ended_ = false;
  bool more_ = false;
};

}  // namespace

std::unique_ptr<ByteInput> make_plain_input(std::shared_ptr<ReadableFile> file,
                                            std::uint64_t offset, std::uint64_t expected_bytes) {
  return std::make_unique<PlainInput>(std::move(file), offset, expected_bytes);
}

std::unique_ptr<ByteInput> make_decompressed_input(std::shared_ptr<ReadableFile> file,
                                                   CompressionFormat format,
                                                   std::uint64_t expected_bytes) {
  auto decompressor = make_decompressor(format, file->path());
  return std::make_unique<DecompressedInput>(make_plain_input(std::move(file), 0, expected_bytes),
                                             std::move(decompressor));
}

}  // namespace hummer
