#include "connectors/file_store/part_compressor.hpp"

#define ZLIB_CONST
#include <zlib.h>
#include <zstd.h>

namespace hummer {
namespace {

constexpr std::size_t packed_step_bytes = 64 << 10;
constexpr int gzip_window_bits = 16 + MAX_WBITS;
constexpr std::size_t gzip_memory_bytes = 268 << 10;  // by zlib's documentation

Status no_memory(const char* library) {
  return {ErrorCode::limit_exceeded, std::string(library) + " has no memory to compress with"};
}

class GzipCompressor final : public PartCompressor {
 public:
  ~GzipCompressor() override {
    if (ready_) deflateEnd(&stream_);
  }
  Status begin(int level) {
    const int made = deflateInit2(&stream_, level == 0 ? Z_DEFAULT_COMPRESSION : level, Z_DEFLATED,
                                  gzip_window_bits, 8, Z_DEFAULT_STRATEGY);
    ready_ = made == Z_OK;
    return ready_ ? Status() : no_memory("zlib");
  }
  Status add(std::string_view text, std::string& out) override {
    // deflate takes 32 bits of length.
    while (!text.empty()) {
      const std::string_view step = text.substr(0, std::size_t{1} << 30);
      run(step, Z_NO_FLUSH, out);
      text.remove_prefix(step.size());
      inside_ = true;
    }
    return {};
  }
  Status end(std::string& out) override {
    if (!inside_) return {};
    run({}, Z_FINISH, out);
    deflateReset(&stream_);
    inside_ = false;
    return {};
  }
  std::size_t memory_bytes() const override { return gzip_memory_bytes; }

 private:
  // With output to spare deflate can't fail.
  void run(std::string_view text, int flush, std::string& out) {
    stream_.next_in = reinterpret_cast<const Bytef*>(text.data());
    stream_.avail_in = static_cast<uInt>(text.size());
    do {
      const std::size_t before = out.size();
      out.resize(before + packed_step_bytes);
      stream_.next_out = reinterpret_cast<Bytef*>(out.data() + before);
      stream_.avail_out = static_cast<uInt>(packed_step_bytes);
      (void)deflate(&stream_, flush);
      out.resize(out.size() - stream_.avail_out);
    } while (stream_.avail_out == 0);
  }

  z_stream stream_{};
  bool ready_ = false;
  bool inside_ = false;  // a member has begun
};

class ZstdCompressor final : public PartCompressor {
 public:
  ~ZstdCompressor() override { ZSTD_freeCCtx(context_); }
  Status begin(int level) {
    context_ = ZSTD_createCCtx();
    if (context_ == nullptr) return no_memory("zstd");
    level_ = level == 0 ? ZSTD_CLEVEL_DEFAULT : level;
    (void)ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, level_);
    (void)ZSTD_CCtx_setParameter(context_, ZSTD_c_checksumFlag, 1);
    return {};
  }
  Status add(std::string_view text, std::string& out) override {
    inside_ |= !text.empty();
    return run(text, ZSTD_e_continue, out);
  }
  Status end(std::string& out) override {
    if (!inside_) return {};
    inside_ = false;
    return run({}, ZSTD_e_end, out);
  }
  std::size_t memory_bytes() const override { return ZSTD_sizeof_CCtx(context_); }

 private:
  Status run(std::string_view text, ZSTD_EndDirective directive, std::string& out) {
    ZSTD_inBuffer input{text.data(), text.size(), 0};
    for (;;) {
      const std::size_t before = out.size();
      out.resize(before + packed_step_bytes);
      ZSTD_outBuffer output{out.data() + before, packed_step_bytes, 0};
      const std::size_t left = ZSTD_compressStream2(context_, &output, &input, directive);
      out.resize(before + output.pos);
      if (ZSTD_isError(left) != 0) {
        return {ErrorCode::limit_exceeded, std::string("zstd: ") + ZSTD_getErrorName(left)};
      }
      const bool done = directive == ZSTD_e_end ? left == 0 : input.pos == input.size;
      if (done) return {};
    }
  }

  ZSTD_CCtx* context_ = nullptr;
  int level_ = 0;
  bool inside_ = false;  // a frame has begun
};

template <typename Compressor>
Result<std::unique_ptr<PartCompressor>> made(int level) {
  auto compressor = std::make_unique<Compressor>();
  HUMMER_TRY(compressor->begin(level));
  return std::unique_ptr<PartCompressor>(std::move(compressor));
}

}  // namespace

Result<std::unique_ptr<PartCompressor>> make_part_compressor(FileCompression compression,
                                                             int level) {
  if (compression == FileCompression::gzip) return made<GzipCompressor>(level);
  return made<ZstdCompressor>(level);
}

Status check_compression_level(FileCompression compression, int level) {
  const int most = compression == FileCompression::gzip   ? 9
                   : compression == FileCompression::zstd ? 19
                                                          : 0;
  if (level >= 0 && level <= most) return {};
  return {ErrorCode::invalid_configuration, "write_files: compression_level must be 0 to " +
                                                std::to_string(most) + ", not " +
                                                std::to_string(level)};
}

std::string_view compression_suffix(FileCompression compression) {
  switch (compression) {
    case FileCompression::gzip: return ".gz";
    case FileCompression::zstd: return ".zst";
    case FileCompression::none: break;
  }
  return "";
}

}  // namespace hummer
