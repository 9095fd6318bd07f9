// Any bytes as gzip and zstd: no crash, no read past the input, an end, and the
// same outcome whatever the sizes of the steps, and whichever library inflates gzip.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "connectors/file/gzip_decompressor.hpp"

namespace {

using namespace hummer;

constexpr std::size_t output_limit_bytes = 1 << 20;

struct Outcome {
  bool ok = false;
  std::string text;
  bool cut = false;  // given up at the limit
};

using Make = std::unique_ptr<Decompressor> (*)(std::string name);

std::unique_ptr<Decompressor> make_zstd(std::string name) {
  return make_decompressor(CompressionFormat::zstd, std::move(name));
}

Outcome decompress(Make make, std::string_view input, std::size_t input_step,
                   std::size_t output_step) {
  const auto decompressor = make("fuzz");
  Outcome outcome;
  std::string space(output_step, '\0');
  std::size_t at = 0;
  while (true) {
    const std::size_t give = std::min(input_step, input.size() - at);
    // A copy of exact size, so that a read past it is seen.
    const std::string piece(input.substr(at, give));
    const auto step = decompressor->run(piece, space);
    if (!step.ok()) return outcome;
    if (step->consumed > give || step->produced > space.size()) std::abort();
    at += step->consumed;
    outcome.text.append(space, 0, step->produced);
    if (outcome.text.size() > output_limit_bytes) {
      outcome.cut = true;
      return outcome;
    }
    if (step->consumed == 0 && step->produced == 0) {
      if (at != input.size()) std::abort();
      break;
    }
  }
  outcome.ok = decompressor->finish().ok();
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const std::size_t input_step = 1 + data[0];
  const std::size_t output_step = 64 + std::size_t{16} * data[1];
  const Make make = data[2] % 2 != 0                        ? &make_zstd
                    : make_isal_decompressor("") == nullptr ? &make_zlib_decompressor
                                                            : &make_isal_decompressor;
  const std::string_view input(reinterpret_cast<const char*>(data) + 3, size - 3);
  detect_compression(input.substr(0, compression_magic_bytes));
  const Outcome whole = decompress(make, input, input.size() + 1, 1 << 16);
  const Outcome pieces = decompress(make, input, input_step, output_step);
  if (whole.cut || pieces.cut) return 0;
  if (whole.ok != pieces.ok) std::abort();
  if (whole.ok && whole.text != pieces.text) std::abort();
  if (make != &make_isal_decompressor) return 0;
  const Outcome other = decompress(&make_zlib_decompressor, input, input_step, output_step);
  if (other.cut) return 0;
  if (other.ok != whole.ok || (whole.ok && whole.text != other.text)) std::abort();
  return 0;
}
