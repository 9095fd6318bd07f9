#include "split_bytes.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "input_splits.hpp"
#include "java_calls.hpp"

namespace hummer::hadoop {
namespace {

using batch::SplitInput;

constexpr std::size_t stored_buffer_bytes = std::size_t{256} << 10;
constexpr std::uint64_t no_end = std::numeric_limits<std::uint64_t>::max();

struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Of a file that Java reads.
class JavaSplit final : public SplitInput {
 public:
  JavaSplit(JNIEnv* java, jobject stream, std::string path, Range range)
      : stream_(java, stream, "read", "(JLjava/nio/ByteBuffer;)I"),
        path_(std::move(path)),
        range_(range) {}

  const std::string& path() const override { return path_; }
  std::uint64_t begin() const override { return range_.begin; }
  std::uint64_t end() const override { return range_.end; }
  std::uint64_t bytes_read() const override { return bytes_read_; }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) override {
    std::size_t filled = 0;
    while (filled < into.size()) {
      const auto got = stream_.call_with_room(static_cast<jlong>(offset + filled),
                                              into.data() + filled, into.size() - filled);
      if (!got.ok()) return got.status();
      if (*got == 0) break;
      filled += static_cast<std::size_t>(*got);
    }
    bytes_read_ += filled;
    return filled;
  }

 private:
  JavaObject stream_;
  const std::string path_;
  const Range range_;
  std::uint64_t bytes_read_ = 0;
};

class DecodedSplit final : public SplitInput {
 public:
  DecodedSplit(std::unique_ptr<SplitInput> stored, batch::Codec codec)
      : stored_(std::move(stored)),
        decompressor_(batch::make_decompressor(codec)),
        buffer_(stored_buffer_bytes) {}

  const std::string& path() const override { return stored_->path(); }
  std::uint64_t begin() const override { return 0; }
  std::uint64_t end() const override { return no_end; }
  std::uint64_t bytes_read() const override { return stored_->bytes_read(); }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) override {
    if (offset != offset_) {
      return Status(ErrorCode::invalid_argument,
                    fmt::format("'{}' is compressed, and is read from front to back: from byte {} "
                                "now, not {}",
                                path(), offset_, offset));
    }
    std::size_t filled = 0;
    while (filled < into.size()) {
      if (rest_.empty() && !has_ended_) HUMMER_TRY(read_stored());
      const auto got = decompressor_->read(rest_, into.subspan(filled));
      if (!got.ok()) return failure(got.status());
      filled += *got;
      if (*got == 0 && rest_.empty() && has_ended_) break;
    }
    // An empty file is no stream of any codec, and has no records.
    if (filled < into.size() && stored_offset_ > 0 && !decompressor_->at_end()) {
      return failure(Status(ErrorCode::corrupt_file, "the compressed bytes end too early"));
    }
    offset_ += filled;
    return filled;
  }

 private:
  Status read_stored() {
    const auto got = stored_->read_at(stored_offset_, buffer_);
    if (!got.ok()) return got.status();
    stored_offset_ += *got;
    has_ended_ = *got < buffer_.size();
    rest_ = {buffer_.data(), *got};
    return Status();
  }
  Status failure(const Status& status) const {
    return status.with_context(
        fmt::format("'{}', before byte {} of the compressed file", path(), stored_offset_));
  }

  const std::unique_ptr<SplitInput> stored_;
  const std::unique_ptr<batch::Decompressor> decompressor_;
  std::vector<char> buffer_;
  std::string_view rest_;  // of the buffer
  std::uint64_t stored_offset_ = 0;
  std::uint64_t offset_ = 0;
  bool has_ended_ = false;
};

// Where the records of a split begin, by Hadoop's rules. A line belongs to the split in which the
// byte in front of it is, so that one that begins right behind a split is still that split's. A
// record of a fixed length belongs to the one in which it begins.
Range range_of(const Settings& settings) {
  const std::string& reader = settings.text("reader");
  const std::uint64_t begin = settings.number("begin");
  const std::uint64_t end = begin + settings.number("length");
  if (reader == "text") return {begin == 0 ? 0 : begin + 1, end + 1};
  const auto format = batch::input_format_of(reader);
  if (!format.ok()) return {begin, end};  // of a class library
  const std::uint64_t record_bytes = format->record_bytes;
  const auto rounded = [&](std::uint64_t at) {
    return (at + record_bytes - 1) / record_bytes * record_bytes;
  };
  return {rounded(begin), rounded(end)};
}

Result<std::unique_ptr<SplitInput>> open_local(Platform& platform, const std::string& path,
                                               Range range) {
  const auto found = platform.files().stat(path);
  if (!found.ok()) return found.status();
  return batch::open_split(
      platform.files(),
      {.path = path, .begin = range.begin, .end = range.end, .file_bytes = found->size_bytes});
}

}  // namespace

std::unique_ptr<SplitInput> decoded_split(std::unique_ptr<SplitInput> stored, batch::Codec codec) {
  return std::make_unique<DecodedSplit>(std::move(stored), codec);
}

Result<std::unique_ptr<SplitInput>> open_hadoop_split(Platform& platform, JNIEnv* java,
                                                      const Settings& settings, jobject stream) {
  const std::string& path = settings.text("path");
  const Range range = range_of(settings);
  std::unique_ptr<SplitInput> input;
  if (stream != nullptr) {
    input = std::make_unique<JavaSplit>(java, stream, path, range);
  } else {
    auto opened = open_local(platform, path, range);
    if (!opened.ok()) return opened.status();
    input = std::move(*opened);
  }
  const std::string& codec_name = settings.text("codec");
  if (codec_name.empty()) return input;
  const auto codec = batch::codec_of(codec_name);
  if (!codec.has_value()) {
    return Status(ErrorCode::invalid_argument, "the codec " + codec_name + " has no native form");
  }
  return decoded_split(std::move(input), *codec);
}

}  // namespace hummer::hadoop
