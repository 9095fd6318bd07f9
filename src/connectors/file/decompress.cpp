#include "connectors/file/decompress.hpp"

#include <algorithm>
#include <utility>

#include <zstd.h>
#include <zstd_errors.h>

#include "connectors/file/gzip_decompressor.hpp"

namespace hummer {
namespace {

class ZstdDecompressor final : public NamedDecompressor {
 public:
  explicit ZstdDecompressor(std::string name)
      : NamedDecompressor(std::move(name)), stream_(ZSTD_createDStream()) {
    if (stream_ == nullptr) failure_ = fail(ErrorCode::limit_exceeded, "no memory for zstd");
  }
  ~ZstdDecompressor() override { ZSTD_freeDStream(stream_); }

  Result<Step> run(std::span<const char> input, std::span<char> output) override {
    if (!failure_.ok()) return failure_;
    ZSTD_inBuffer in{input.data(), input.size(), 0};
    ZSTD_outBuffer out{output.data(), output.size(), 0};
    while (out.pos < out.size && (in.pos < in.size || in_frame_)) {
      if (!in_frame_) begin_frame();
      const std::size_t consumed_before = in.pos;
      const std::size_t produced_before = out.pos;
      // A frame's head goes byte by byte. Otherwise a frame that is whole takes another way through
      // the library, which refuses more, and bytes behind half a head may pass for the magic number
      // of a format from before zstd 0.8.
      const bool in_head = head_.size() < longest_head_bytes;
      in.size = in_head ? std::min(in.pos + 1, input.size()) : input.size();
      const std::size_t answer = ZSTD_decompressStream(stream_, &out, &in);
      in.size = input.size();
      const std::size_t consumed = in.pos - consumed_before;
      offset_ += consumed;
      if (ZSTD_isError(answer)) return failed(answer);
      keep_head(input.subspan(consumed_before, consumed));
      frame_bytes_ += out.pos - produced_before;
      in_frame_ = answer != 0;
      frames_ += in_frame_ ? 0 : 1;
      if (!in_frame_ && !frame_is_whole()) {
        return fail(ErrorCode::corrupt_file,
                    "damaged zstd data (its size is not the one announced)");
      }
      if (consumed == 0 && out.pos == produced_before) break;
    }
    return Step{in.pos, out.pos, in_frame_ && out.pos == out.size};
  }

  Status finish() override {
    if (!failure_.ok()) return failure_;
    if (in_frame_) {
      return fail(ErrorCode::corrupt_file, "the zstd data ends too early: the file is truncated");
    }
    return {};
  }

 private:
  void begin_frame() {
    head_.clear();
    frame_bytes_ = 0;
  }

  void keep_head(std::span<const char> bytes) {
    head_.append(bytes.data(), std::min(bytes.size(), longest_head_bytes - head_.size()));
  }

  // The library does not compare the sizes when the last block is empty.
  bool frame_is_whole() const {
    const unsigned long long announced = ZSTD_getFrameContentSize(head_.data(), head_.size());
    return announced == ZSTD_CONTENTSIZE_UNKNOWN || announced == ZSTD_CONTENTSIZE_ERROR ||
           announced == frame_bytes_;
  }

  Status failed(std::size_t answer) {
    switch (ZSTD_getErrorCode(answer)) {
      case ZSTD_error_frameParameter_windowTooLarge:
        return fail(ErrorCode::limit_exceeded,
                    "needs a window above 128 MiB: compress it without --long or --ultra");
      case ZSTD_error_memory_allocation:
        return fail(ErrorCode::limit_exceeded, "no memory for zstd");
      case ZSTD_error_prefix_unknown:
        return fail(ErrorCode::corrupt_file,
                    frames_ > 0 ? "garbage after the end of the zstd data"
                                : "no zstd data, or of a format from before zstd 0.8");
      default:
        return fail(ErrorCode::corrupt_file,
                    std::string("damaged zstd data (") + ZSTD_getErrorName(answer) + ")");
    }
  }

  static constexpr std::size_t longest_head_bytes = 18;

  ZSTD_DStream* stream_;
  std::uint64_t frames_ = 0;
  bool in_frame_ = false;
  std::string head_;               // the frame's first bytes
  std::uint64_t frame_bytes_ = 0;  // that it has given so far
};

}  // namespace

CompressionFormat detect_compression(std::string_view first_bytes) {
  if (first_bytes.starts_with("\x1f\x8b")) return CompressionFormat::gzip;
  if (first_bytes.starts_with("\x28\xb5\x2f\xfd")) return CompressionFormat::zstd;
  // A skippable frame, with which seekable and parallel zstd files may begin.
  const bool skippable = first_bytes.size() >= 4 && (first_bytes[0] & '\xf0') == '\x50' &&
                         first_bytes.substr(1, 3) == "\x2a\x4d\x18";
  return skippable ? CompressionFormat::zstd : CompressionFormat::none;
}

std::unique_ptr<Decompressor> make_decompressor(CompressionFormat format, std::string name) {
  HUMMER_ASSERT(format != CompressionFormat::none);
  if (format == CompressionFormat::gzip) return make_gzip_decompressor(std::move(name));
  return std::make_unique<ZstdDecompressor>(std::move(name));
}

}  // namespace hummer
