#include "batch/codec.hpp"

#include <array>

#include "batch/block_codecs.hpp"
#include "batch/stream_codecs.hpp"

namespace hummer::batch {
namespace {

struct CodecNames {
  std::string_view own;
  std::string_view of_class;
};

constexpr std::string_view hadoop_package = "org.apache.hadoop.io.compress.";
constexpr std::array<CodecNames, 6> all_codec_names{{{"none", ""},
                                                     {"snappy", "SnappyCodec"},
                                                     {"lz4", "Lz4Codec"},
                                                     {"gzip", "GzipCodec"},
                                                     {"zstd", "ZStandardCodec"},
                                                     {"zlib", "DefaultCodec"}}};
// Another name of the same one.
constexpr std::string_view hadoop_deflate = "DeflateCodec";

class PlainCompressor final : public Compressor {
 public:
  Status write(std::string_view bytes, std::string& out) override {
    out.append(bytes);
    return {};
  }
  Status finish(std::string&) override { return {}; }
  void reset() override {}
};

class PlainDecompressor final : public Decompressor {
 public:
  Result<std::size_t> read(std::string_view& in, std::span<char> into) override {
    const std::size_t taken = in.copy(into.data(), into.size());
    in.remove_prefix(taken);
    return taken;
  }
  bool at_end() const override { return true; }
  void reset() override {}
};

}  // namespace

std::string_view name_of(Codec codec) {
  return all_codec_names[static_cast<std::size_t>(codec)].own;
}

std::optional<Codec> codec_of(std::string_view name) {
  const bool is_class = name.starts_with(hadoop_package);
  if (is_class) name.remove_prefix(hadoop_package.size());
  if (name.empty()) return std::nullopt;
  if (is_class && name == hadoop_deflate) return Codec::zlib;
  for (std::size_t i = 0; i < all_codec_names.size(); ++i) {
    if (name == (is_class ? all_codec_names[i].of_class : all_codec_names[i].own)) {
      return static_cast<Codec>(i);
    }
  }
  return std::nullopt;
}

std::size_t best_write_bytes(Codec codec) {
  constexpr std::size_t of_streams = std::size_t{256} << 10;
  switch (codec) {
    case Codec::snappy: return snappy_block_bytes;
    case Codec::lz4: return lz4_block_bytes;
    default: return of_streams;
  }
}

std::unique_ptr<Compressor> make_compressor(Codec codec, int level) {
  switch (codec) {
    case Codec::none: return std::make_unique<PlainCompressor>();
    case Codec::snappy: return make_snappy_compressor();
    case Codec::lz4: return make_lz4_compressor();
    case Codec::gzip: return make_gzip_compressor(level);
    case Codec::zstd: return make_zstd_compressor(level);
    case Codec::zlib: return make_zlib_compressor(level);
  }
  return nullptr;
}

std::unique_ptr<Decompressor> make_decompressor(Codec codec) {
  switch (codec) {
    case Codec::none: return std::make_unique<PlainDecompressor>();
    case Codec::snappy: return make_snappy_decompressor();
    case Codec::lz4: return make_lz4_decompressor();
    case Codec::gzip: return make_gzip_decompressor();
    case Codec::zstd: return make_zstd_decompressor();
    case Codec::zlib: return make_zlib_decompressor();
  }
  return nullptr;
}

}  // namespace hummer::batch
