#include "avro_codec.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

namespace hummer::formats {
namespace {

using Codec = AvroOptions::Codec;

constexpr std::array<std::string_view, 4> codec_names{"null", "deflate", "snappy", "zstandard"};
constexpr std::size_t least_room_bytes = 64 << 10;
constexpr int raw_deflate_window = -15;

Status damaged(const char* what) {
  return {ErrorCode::corrupt_record, std::string("the block is no ") + what + " data"};
}
Status too_large(std::size_t most) {
  return {ErrorCode::limit_exceeded, "the block unpacks to more than " + std::to_string(most) +
                                         " bytes: raise the option max_block_bytes"};
}

}  // namespace

std::string_view avro_codec_name(Codec codec) {
  return codec_names[static_cast<std::size_t>(codec)];
}

Result<Codec> avro_codec_of(std::string_view name) {
  const auto found = std::find(codec_names.begin(), codec_names.end(), name);
  if (name.empty()) return Codec::null;
  if (found == codec_names.end()) {
    return Status(ErrorCode::corrupt_record,
                  "the file's codec is '" + std::string(name) +
                      "', which is not read: write it with deflate, snappy or zstandard");
  }
  return static_cast<Codec>(found - codec_names.begin());
}

struct AvroCodec::Streams {
  z_stream unpacking{};
  z_stream packing{};
  bool is_unpacking = false;
  bool is_packing = false;
  ZSTD_DCtx* decompression = nullptr;
  ZSTD_CCtx* compression = nullptr;

  ~Streams() {
    if (is_unpacking) inflateEnd(&unpacking);
    if (is_packing) deflateEnd(&packing);
    ZSTD_freeDCtx(decompression);
    ZSTD_freeCCtx(compression);
  }
};

AvroCodec::AvroCodec(Codec codec) : codec_(codec), streams_(std::make_unique<Streams>()) {}
AvroCodec::~AvroCodec() = default;

void AvroCodec::make_room(std::size_t size, std::size_t kept) {
  const bool enough = buffer_ && buffer_->size() >= size;
  if (enough && (kept > 0 || buffer_->unique())) return;
  BufferRef made = BufferRef::allocate(std::max(size, least_room_bytes));
  std::memset(made->data() + made->size(), 0, read_slack_bytes);
  if (kept > 0) std::memcpy(made->data(), buffer_->data(), kept);
  buffer_ = std::move(made);
}

Result<std::string_view> AvroCodec::unpack(std::string_view block, std::size_t most) {
  Result<std::string_view> text = codec_ == Codec::deflate  ? unpack_deflate(block, most)
                                  : codec_ == Codec::snappy ? unpack_snappy(block, most)
                                                            : unpack_zstandard(block, most);
  if (text.ok()) usual_bytes_ = std::max(usual_bytes_, text->size());
  return text;
}

Result<std::string_view> AvroCodec::unpack_deflate(std::string_view block, std::size_t most) {
  z_stream& stream = streams_->unpacking;
  if (streams_->is_unpacking) {
    inflateReset(&stream);
  } else if (inflateInit2(&stream, raw_deflate_window) != Z_OK) {
    return Status(ErrorCode::limit_exceeded, "no memory to unpack with");
  }
  streams_->is_unpacking = true;
  std::size_t size = 0;
  make_room(std::min(std::max(usual_bytes_, block.size() * 4), most), 0);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(block.data()));
  stream.avail_in = static_cast<uInt>(block.size());
  while (true) {
    const std::size_t room = std::min(buffer_->size(), most) - size;
    stream.next_out = reinterpret_cast<Bytef*>(buffer_->data() + size);
    stream.avail_out = static_cast<uInt>(std::min<std::size_t>(room, UINT32_MAX));
    const std::size_t given = stream.avail_out;
    const int answer = inflate(&stream, Z_NO_FLUSH);
    size += given - stream.avail_out;
    if (answer == Z_STREAM_END) break;
    const bool full = stream.avail_out == 0;
    if (!full || (answer != Z_OK && answer != Z_BUF_ERROR)) return damaged("deflate");
    if (size >= most) return too_large(most);
    make_room(std::min(size * 2, most), size);
  }
  // Some writers leave a part of the checksum that zlib has behind it.
  if (stream.avail_in > 4) return damaged("deflate");
  return std::string_view(buffer_->data(), size);
}

Result<std::string_view> AvroCodec::unpack_zstandard(std::string_view block, std::size_t most) {
  if (streams_->decompression == nullptr) {
    streams_->decompression = ZSTD_createDCtx();
    ZSTD_DCtx_setParameter(streams_->decompression, ZSTD_d_windowLogMax, 27);
  }
  ZSTD_DCtx* const context = streams_->decompression;
  ZSTD_DCtx_reset(context, ZSTD_reset_session_only);
  make_room(std::min(std::max(usual_bytes_, block.size() * 4), most), 0);
  ZSTD_inBuffer in{block.data(), block.size(), 0};
  ZSTD_outBuffer out{buffer_->data(), std::min(buffer_->size(), most), 0};
  std::size_t left = 1;
  while (left != 0) {
    left = ZSTD_decompressStream(context, &out, &in);
    if (ZSTD_isError(left) != 0) return damaged("zstandard");
    if (left == 0) break;
    if (out.pos < out.size && in.pos == in.size) return damaged("zstandard");
    if (out.pos < out.size) continue;
    if (out.pos >= most) return too_large(most);
    make_room(std::min(out.pos * 2, most), out.pos);
    out.dst = buffer_->data();
    out.size = std::min(buffer_->size(), most);
  }
  if (in.pos != in.size) return damaged("zstandard");
  return std::string_view(buffer_->data(), out.pos);
}

// Four bytes of a checksum follow, the highest first.
Result<std::string_view> AvroCodec::unpack_snappy(std::string_view block, std::size_t most) {
  constexpr std::size_t checksum_bytes = 4;
  if (block.size() < checksum_bytes) return damaged("snappy");
  const std::string_view packed = block.substr(0, block.size() - checksum_bytes);
  std::size_t size = 0;
  if (!snappy::GetUncompressedLength(packed.data(), packed.size(), &size)) {
    return damaged("snappy");
  }
  if (size > most) return too_large(most);
  make_room(size, 0);
  if (!snappy::RawUncompress(packed.data(), packed.size(), buffer_->data())) {
    return damaged("snappy");
  }
  const uLong sum = crc32_z(0, reinterpret_cast<const Bytef*>(buffer_->data()), size);
  for (std::size_t i = 0; i < checksum_bytes; ++i) {
    if (static_cast<unsigned char>(block[packed.size() + i]) != (sum >> (24 - 8 * i) & 0xFF)) {
      return Status(ErrorCode::corrupt_record, "the block's checksum is another one");
    }
  }
  return std::string_view(buffer_->data(), size);
}

Status AvroCodec::pack(std::string_view block, std::string& packed) {
  const std::size_t before = packed.size();
  switch (codec_) {
    case Codec::null: packed.append(block); return {};
    case Codec::deflate: {
      z_stream& stream = streams_->packing;
      if (streams_->is_packing) {
        deflateReset(&stream);
      } else if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, raw_deflate_window, 8,
                              Z_DEFAULT_STRATEGY) != Z_OK) {
        return {ErrorCode::limit_exceeded, "no memory to pack with"};
      }
      streams_->is_packing = true;
      packed.resize(before + deflateBound(&stream, block.size()));
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(block.data()));
      stream.avail_in = static_cast<uInt>(block.size());
      stream.next_out = reinterpret_cast<Bytef*>(packed.data() + before);
      stream.avail_out = static_cast<uInt>(packed.size() - before);
      deflate(&stream, Z_FINISH);
      packed.resize(packed.size() - stream.avail_out);
      return {};
    }
    case Codec::snappy: {
      packed.resize(before + snappy::MaxCompressedLength(block.size()));
      std::size_t size = 0;
      snappy::RawCompress(block.data(), block.size(), packed.data() + before, &size);
      packed.resize(before + size);
      const uLong sum = crc32_z(0, reinterpret_cast<const Bytef*>(block.data()), block.size());
      for (int shift = 24; shift >= 0; shift -= 8) {
        packed.push_back(static_cast<char>(sum >> shift & 0xFF));
      }
      return {};
    }
    case Codec::zstandard: {
      if (streams_->compression == nullptr) streams_->compression = ZSTD_createCCtx();
      packed.resize(before + ZSTD_compressBound(block.size()));
      const std::size_t size =
          ZSTD_compressCCtx(streams_->compression, packed.data() + before, packed.size() - before,
                            block.data(), block.size(), ZSTD_CLEVEL_DEFAULT);
      packed.resize(before + (ZSTD_isError(size) != 0 ? 0 : size));
      if (ZSTD_isError(size) != 0) {
        return {ErrorCode::internal, std::string("zstd: ") + ZSTD_getErrorName(size)};
      }
      return {};
    }
  }
  return {};
}

}  // namespace hummer::formats
