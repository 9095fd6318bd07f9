// batch_codecs --input FILE --codec NAME [--turns N] [--json]
//
// How fast a codec of the batch core compresses, beside the library's own loop over the same
// blocks: both are given the file's bytes by pieces as large as the codec takes best, and take
// turns. The library's loop writes each block into one buffer and frames nothing. Prints the median
// of the turns' ratios of their seconds, and the speeds; both by seconds of the processor.
#include <lz4.h>
#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "batch/codec.hpp"
#include "program.hpp"

namespace {

using namespace hummer;
using batch::Codec;

constexpr std::size_t space_bytes = std::size_t{1} << 20;

void must(bool holds, const char* what) {
  if (!holds) terasort::fail(std::string("batch_codecs: ") + what);
}

std::string read_whole(const std::string& path) {
  const terasort::File file(path, O_RDONLY);
  std::string bytes(file.size_bytes(), '\0');
  file.read_at(0, bytes.data(), bytes.size());
  return bytes;
}

template <typename Function>
void for_each_piece(std::string_view bytes, std::size_t piece, Function&& function) {
  for (std::size_t at = 0; at < bytes.size(); at += piece) function(bytes.substr(at, piece));
}

// Bytes after compression. What is compressed goes out when there is a mebibyte, as to a file.
std::size_t by_the_core(std::string_view bytes, Codec codec, std::size_t piece) {
  const auto compressor = batch::make_compressor(codec);
  std::string out;
  std::size_t compressed = 0;
  for_each_piece(bytes, piece, [&](std::string_view each) {
    must(compressor->write(each, out).ok(), "the core does not compress");
    if (out.size() < space_bytes) return;
    compressed += out.size();
    out.clear();
  });
  must(compressor->finish(out).ok(), "the core does not end its stream");
  return compressed + out.size();
}

std::size_t by_zlib(std::string_view bytes, std::size_t piece, std::vector<char>& space) {
  z_stream stream{};
  must(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, 8,
                    Z_DEFAULT_STRATEGY) == Z_OK,
       "zlib has no memory");
  const auto run = [&](std::string_view each, int flush) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(each.data()));
    stream.avail_in = static_cast<uInt>(each.size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(space.data());
      stream.avail_out = static_cast<uInt>(space.size());
      must(deflate(&stream, flush) != Z_STREAM_ERROR, "zlib does not compress");
    } while (stream.avail_out == 0);
  };
  for_each_piece(bytes, piece, [&](std::string_view each) { run(each, Z_NO_FLUSH); });
  run({}, Z_FINISH);
  const std::size_t compressed = stream.total_out;
  deflateEnd(&stream);
  return compressed;
}

std::size_t by_zstd(std::string_view bytes, std::size_t piece, std::vector<char>& space) {
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  must(context != nullptr, "zstd has no memory");
  std::size_t compressed = 0;
  const auto run = [&](std::string_view each, ZSTD_EndDirective end) {
    ZSTD_inBuffer in{each.data(), each.size(), 0};
    std::size_t left = 0;
    do {
      ZSTD_outBuffer out{space.data(), space.size(), 0};
      left = ZSTD_compressStream2(context, &out, &in, end);
      must(ZSTD_isError(left) == 0, "zstd does not compress");
      compressed += out.pos;
    } while (end == ZSTD_e_end ? left != 0 : in.pos < in.size);
  };
  for_each_piece(bytes, piece, [&](std::string_view each) { run(each, ZSTD_e_continue); });
  run({}, ZSTD_e_end);
  ZSTD_freeCCtx(context);
  return compressed;
}

std::size_t by_the_library(std::string_view bytes, Codec codec, std::size_t piece,
                           std::vector<char>& space) {
  if (codec == Codec::gzip) return by_zlib(bytes, piece, space);
  if (codec == Codec::zstd) return by_zstd(bytes, piece, space);
  std::size_t compressed = 0;
  for_each_piece(bytes, piece, [&](std::string_view each) {
    if (codec == Codec::snappy) {
      std::size_t size = 0;
      snappy::RawCompress(each.data(), each.size(), space.data(), &size);
      compressed += size;
    } else {
      const int size = LZ4_compress_default(
          each.data(), space.data(), static_cast<int>(each.size()), static_cast<int>(space.size()));
      must(size > 0, "lz4 does not compress");
      compressed += static_cast<std::size_t>(size);
    }
  });
  return compressed;
}

double median(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return numbers[numbers.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const terasort::Words words(argc, argv,
                              "batch_codecs --input FILE --codec NAME [--turns N] [--json]");
  const auto codec = batch::codec_of(words.text("codec"));
  must(codec.has_value() && *codec != Codec::none, "no such codec");
  const std::string bytes = read_whole(words.text("input"));
  const std::size_t piece = batch::best_write_bytes(*codec);
  std::vector<char> space(space_bytes);
  const auto timed = [](auto&& run) {
    const double begin = terasort::processor_seconds();
    const std::size_t compressed = run();
    return std::pair(terasort::processor_seconds() - begin, compressed);
  };
  std::vector<double> ratios, ours, theirs;
  std::size_t compressed = 0;
  const std::uint64_t turns = words.number("turns", 5);
  for (std::uint64_t turn = 0; turn < turns; ++turn) {
    const auto core = timed([&] { return by_the_core(bytes, *codec, piece); });
    const auto library = timed([&] { return by_the_library(bytes, *codec, piece, space); });
    compressed = core.second;
    ours.push_back(core.first);
    theirs.push_back(library.first);
    ratios.push_back(library.first / core.first);
  }
  must(!ratios.empty(), "--turns is 0");
  const double megabytes = static_cast<double>(bytes.size()) / 1e6;
  std::printf(words.has("json") ? "{\"codec\": \"%s\", \"speed_of_library\": %.4f, "
                                  "\"megabytes_per_second\": %.1f, "
                                  "\"library_megabytes_per_second\": %.1f, \"size\": %.4f}\n"
                                : "%s: %.3f of the library's speed, %.1f MB/s, library %.1f MB/s, "
                                  "%.3f of the size\n",
              words.text("codec").c_str(), median(ratios), megabytes / median(ours),
              megabytes / median(theirs),
              static_cast<double>(compressed) / static_cast<double>(bytes.size()));
  return 0;
}
