#include "batch/stream_codecs.hpp"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <utility>

#define ZLIB_CONST
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

namespace hummer::batch {
namespace {

// What zlib calls a stream with the head and the end of one of them.
struct DeflateForm {
  std::string_view name;
  int window_bits;
};
constexpr DeflateForm gzip_form{"gzip", 16 + MAX_WBITS};
constexpr DeflateForm zlib_form{"zlib", MAX_WBITS};
constexpr std::size_t stream_space_bytes = std::size_t{64} << 10;

Status no_stream_memory(std::string_view codec) {
  return {ErrorCode::limit_exceeded, "no memory for " + std::string(codec)};
}

class DeflateCompressor final : public Compressor {
 public:
  DeflateCompressor(DeflateForm form, int level) : form_(form) {
    constexpr int memory_level = 8;
    made_ = deflateInit2(&stream_, level == 0 ? Z_DEFAULT_COMPRESSION : level, Z_DEFLATED,
                         form.window_bits, memory_level, Z_DEFAULT_STRATEGY) == Z_OK;
  }
  ~DeflateCompressor() override {
    if (made_) deflateEnd(&stream_);
  }

  Status write(std::string_view bytes, std::string& out) override {
    while (!bytes.empty()) {
      const std::string_view piece = bytes.substr(0, UINT_MAX);
      HUMMER_TRY(deflate_all(piece, Z_NO_FLUSH, out));
      bytes.remove_prefix(piece.size());
    }
    return {};
  }
  Status finish(std::string& out) override { return deflate_all({}, Z_FINISH, out); }
  void reset() override {
    if (made_) deflateReset(&stream_);
  }

 private:
  Status deflate_all(std::string_view bytes, int flush, std::string& out) {
    if (!made_) return no_stream_memory(form_.name);
    stream_.next_in = reinterpret_cast<const Bytef*>(bytes.data());
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(space_.get());
      stream_.avail_out = stream_space_bytes;
      if (deflate(&stream_, flush) == Z_STREAM_ERROR) {
        return {ErrorCode::internal,
                std::string(form_.name) + ": the stream's state is not consistent"};
      }
      out.append(space_.get(), stream_space_bytes - stream_.avail_out);
    } while (stream_.avail_out == 0);
    return {};
  }

  const DeflateForm form_;
  z_stream stream_{};
  bool made_ = false;
  std::unique_ptr<char[]> space_ = std::make_unique_for_overwrite<char[]>(stream_space_bytes);
};

class DeflateDecompressor final : public Decompressor {
 public:
  explicit DeflateDecompressor(DeflateForm form) : form_(form) {
    made_ = inflateInit2(&stream_, form.window_bits) == Z_OK;
  }
  ~DeflateDecompressor() override {
    if (made_) inflateEnd(&stream_);
  }

  Result<std::size_t> read(std::string_view& in, std::span<char> into) override {
    if (!made_) return no_stream_memory(form_.name);
    std::size_t filled = 0;
    while (filled < into.size()) {
      // Behind a member is another one, or nothing.
      if (!in_member_) {
        if (in.empty()) break;
        inflateReset(&stream_);
        in_member_ = true;
      }
      const std::string_view piece = in.substr(0, UINT_MAX);
      const std::span<char> room =
          into.subspan(filled, std::min<std::size_t>(into.size() - filled, UINT_MAX));
      stream_.next_in = reinterpret_cast<const Bytef*>(piece.data());
      stream_.avail_in = static_cast<uInt>(piece.size());
      stream_.next_out = reinterpret_cast<Bytef*>(room.data());
      stream_.avail_out = static_cast<uInt>(room.size());
      const int answer = inflate(&stream_, Z_NO_FLUSH);
      const std::size_t taken = piece.size() - stream_.avail_in;
      const std::size_t given = room.size() - stream_.avail_out;
      in.remove_prefix(taken);
      filled += given;
      if (answer == Z_STREAM_END) {
        in_member_ = false;
        any_member_ = true;
      } else if (answer == Z_MEM_ERROR) {
        return no_stream_memory(form_.name);
      } else if (answer != Z_OK && answer != Z_BUF_ERROR) {
        return Status(ErrorCode::corrupt_file,
                      std::string(form_.name) + ": " +
                          (stream_.msg != nullptr ? stream_.msg : "the bytes are damaged"));
      } else if (taken == 0 && given == 0) {
        break;
      }
    }
    return filled;
  }

  bool at_end() const override { return any_member_ && !in_member_; }
  void reset() override { in_member_ = any_member_ = false; }

 private:
  const DeflateForm form_;
  z_stream stream_{};
  bool made_ = false;
  bool in_member_ = false;
  bool any_member_ = false;
};

class ZstdCompressor final : public Compressor {
 public:
  explicit ZstdCompressor(int level) : context_(ZSTD_createCCtx()) {
    if (context_ != nullptr) ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, level);
  }
  ~ZstdCompressor() override { ZSTD_freeCCtx(context_); }

  Status write(std::string_view bytes, std::string& out) override {
    return compress(bytes, ZSTD_e_continue, out);
  }
  Status finish(std::string& out) override { return compress({}, ZSTD_e_end, out); }
  void reset() override {
    if (context_ != nullptr) ZSTD_CCtx_reset(context_, ZSTD_reset_session_only);
  }

 private:
  Status compress(std::string_view bytes, ZSTD_EndDirective directive, std::string& out) {
    if (context_ == nullptr) return no_stream_memory("zstd");
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    for (;;) {
      ZSTD_outBuffer to{space_.get(), stream_space_bytes, 0};
      const std::size_t left = ZSTD_compressStream2(context_, &to, &in, directive);
      if (ZSTD_isError(left)) {
        return {ErrorCode::limit_exceeded, std::string("zstd: ") + ZSTD_getErrorName(left)};
      }
      out.append(space_.get(), to.pos);
      const bool done = directive == ZSTD_e_end ? left == 0 : in.pos == in.size;
      if (done) return {};
    }
  }

  ZSTD_CCtx* context_;
  std::unique_ptr<char[]> space_ = std::make_unique_for_overwrite<char[]>(stream_space_bytes);
};

class ZstdDecompressor final : public Decompressor {
 public:
  ZstdDecompressor() : context_(ZSTD_createDCtx()) {}
  ~ZstdDecompressor() override { ZSTD_freeDCtx(context_); }

  Result<std::size_t> read(std::string_view& in, std::span<char> into) override {
    if (context_ == nullptr) return no_stream_memory("zstd");
    std::size_t filled = 0;
    while (filled < into.size() && (in_frame_ || !in.empty())) {
      // A frame's head goes byte by byte. Otherwise a frame that is whole takes another way through
      // the library, which refuses more, and what is read would depend on the pieces it comes in.
      const std::size_t most = head_bytes_ < longest_head_bytes ? 1 : in.size();
      ZSTD_inBuffer from{in.data(), std::min(most, in.size()), 0};
      ZSTD_outBuffer to{into.data(), into.size(), filled};
      const std::size_t answer = ZSTD_decompressStream(context_, &to, &from);
      if (ZSTD_isError(answer)) return failure(answer);
      const bool moved = from.pos > 0 || to.pos > filled;
      in.remove_prefix(from.pos);
      head_bytes_ += from.pos;
      filled = to.pos;
      in_frame_ = answer != 0;
      if (!in_frame_) {
        head_bytes_ = 0;
        any_frame_ = true;
      }
      if (!moved) break;
    }
    return filled;
  }

  bool at_end() const override { return any_frame_ && !in_frame_; }
  void reset() override {
    if (context_ != nullptr) ZSTD_DCtx_reset(context_, ZSTD_reset_session_only);
    in_frame_ = any_frame_ = false;
    head_bytes_ = 0;
  }

 private:
  static constexpr std::size_t longest_head_bytes = 18;

  static Status failure(std::size_t answer) {
    switch (ZSTD_getErrorCode(answer)) {
      case ZSTD_error_memory_allocation: return no_stream_memory("zstd");
      case ZSTD_error_frameParameter_windowTooLarge:
        return {ErrorCode::limit_exceeded, "zstd: a window above 128 MiB"};
      default: return {ErrorCode::corrupt_file, std::string("zstd: ") + ZSTD_getErrorName(answer)};
    }
  }

  ZSTD_DCtx* context_;
  bool in_frame_ = false;
  bool any_frame_ = false;
  std::size_t head_bytes_ = 0;  // of the frame, that have gone in; counted on behind the head
};

}  // namespace

std::unique_ptr<Compressor> make_gzip_compressor(int level) {
  return std::make_unique<DeflateCompressor>(gzip_form, level);
}
std::unique_ptr<Compressor> make_zlib_compressor(int level) {
  return std::make_unique<DeflateCompressor>(zlib_form, level);
}
std::unique_ptr<Compressor> make_zstd_compressor(int level) {
  return std::make_unique<ZstdCompressor>(level);
}
std::unique_ptr<Decompressor> make_gzip_decompressor() {
  return std::make_unique<DeflateDecompressor>(gzip_form);
}
std::unique_ptr<Decompressor> make_zlib_decompressor() {
  return std::make_unique<DeflateDecompressor>(zlib_form);
}
std::unique_ptr<Decompressor> make_zstd_decompressor() {
  return std::make_unique<ZstdDecompressor>();
}

}  // namespace hummer::batch
