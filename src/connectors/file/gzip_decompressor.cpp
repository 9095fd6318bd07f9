#include "connectors/file/gzip_decompressor.hpp"

#include <algorithm>
#include <climits>

#define ZLIB_CONST
#include <zlib.h>

namespace hummer {
namespace {

class ZlibDecompressor final : public GzipDecompressor {
 public:
  explicit ZlibDecompressor(std::string name) : GzipDecompressor(std::move(name)) {
    constexpr int gzip_only = 16 + MAX_WBITS;
    const int made = inflateInit2(&stream_, gzip_only);
    if (made != Z_OK) failure_ = fail(ErrorCode::limit_exceeded, "no memory for gzip");
  }
  ~ZlibDecompressor() override { inflateEnd(&stream_); }

 private:
  Inflated inflate_some(std::span<const char> input, std::span<char> output, Step& step,
                        std::string& reason) override {
    const std::size_t in = std::min<std::size_t>(input.size() - step.consumed, UINT_MAX);
    const std::size_t out = std::min<std::size_t>(output.size() - step.produced, UINT_MAX);
    stream_.next_in = reinterpret_cast<const Bytef*>(input.data() + step.consumed);
    stream_.avail_in = static_cast<uInt>(in);
    stream_.next_out = reinterpret_cast<Bytef*>(output.data() + step.produced);
    stream_.avail_out = static_cast<uInt>(out);
    const int answer = inflate(&stream_, Z_NO_FLUSH);
    step.consumed += in - stream_.avail_in;
    step.produced += out - stream_.avail_out;
    switch (answer) {
      case Z_STREAM_END: inflateReset(&stream_); return Inflated::whole_member;
      case Z_OK:
      case Z_BUF_ERROR: return Inflated::some;
      case Z_MEM_ERROR: return Inflated::no_memory;
      default: reason = stream_.msg != nullptr ? stream_.msg : "no reason given";
    }
    return Inflated::damaged;
  }

  z_stream stream_{};
};

}  // namespace

Status NamedDecompressor::fail(ErrorCode code, const std::string& what) {
  failure_ = {code, "'" + name_ + "' at compressed byte " + std::to_string(offset_) + ": " + what};
  return failure_;
}

Result<Decompressor::Step> GzipDecompressor::run(std::span<const char> input,
                                                 std::span<char> output) {
  if (!failure_.ok()) return failure_;
  Step step;
  // One round per member; several small ones may fit into one step.
  while (step.produced < output.size() && (in_member_ || step.consumed < input.size())) {
    const Step before = step;
    if (!in_member_) {
      if (members_ > 0 && input[step.consumed] != '\x1f') {
        return fail(ErrorCode::corrupt_file, "garbage after the end of the gzip data");
      }
      in_member_ = true;
      member_bytes_ = 0;
    }
    if (has_reserved_flags(input.subspan(step.consumed))) {
      return fail(ErrorCode::corrupt_file, "damaged gzip data (unknown header flags)");
    }
    std::string reason;
    const Inflated inflated = inflate_some(input, output, step, reason);
    offset_ += step.consumed - before.consumed;
    member_bytes_ += step.consumed - before.consumed;
    switch (inflated) {
      case Inflated::whole_member:
        in_member_ = false;
        ++members_;
        continue;
      case Inflated::no_memory: return fail(ErrorCode::limit_exceeded, "no memory for gzip");
      case Inflated::damaged:
        return fail(ErrorCode::corrupt_file, "damaged gzip data (" + reason + ")");
      case Inflated::some: break;
    }
    if (step.consumed == before.consumed && step.produced == before.produced) break;
  }
  step.more = in_member_ && step.produced == output.size();
  return step;
}

// RFC 1952 has a reader refuse what sets one; of the libraries only zlib does.
bool GzipDecompressor::has_reserved_flags(std::span<const char> input) const {
  constexpr std::uint64_t flags_at = 3;
  constexpr unsigned reserved = 0xe0;
  if (member_bytes_ > flags_at || input.size() <= flags_at - member_bytes_) return false;
  return (static_cast<unsigned char>(input[flags_at - member_bytes_]) & reserved) != 0;
}

Status GzipDecompressor::finish() {
  if (!failure_.ok()) return failure_;
  if (in_member_) {
    return fail(ErrorCode::corrupt_file, "the gzip data ends too early: the file is truncated");
  }
  return {};
}

std::unique_ptr<Decompressor> make_zlib_decompressor(std::string name) {
  return std::make_unique<ZlibDecompressor>(std::move(name));
}

std::unique_ptr<Decompressor> make_gzip_decompressor(std::string name) {
  if (auto quick = make_isal_decompressor(name)) return quick;
  return make_zlib_decompressor(std::move(name));
}

}  // namespace hummer
