// Any bytes as raw records, in each framing: the same whatever room there is, and what was read is
// written to the same bytes but for lengths that were not the shortest. The first byte says which.
#include "decoded_for_test.hpp"
#include "raw_layout.hpp"

namespace {

struct Fields {
  std::uint16_t number = 0;
  bool flag = false;
  std::string_view rest;
};

std::string show(const Fields& fields) {
  return std::to_string(fields.number) + (fields.flag ? "+" : "-") + std::string(fields.rest);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hummer::formats;
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  RawOptions options{.framing = static_cast<RawFraming>(data[0] & 3)};
  if (options.framing == RawFraming::fixed) options.record_bytes = 3 + (data[0] >> 2 & 3);
  if ((data[0] & 16) != 0) options.byte_order = std::endian::big;
  const std::size_t limit = data[0] >> 5 == 0 ? 1024 : data[0] >> 5;
  const auto format = raw(options);
  const auto wide = format->make_decoder(shape_of<Fields>());
  const auto narrow = format->make_decoder(shape_of<Fields>());
  const DecodedText found = decode_all<Fields>(*wide, text, 1024, true, &show);
  if (found != decode_all<Fields>(*narrow, text, limit, true, &show)) __builtin_trap();
  const auto message = format->make_decoder(shape_of<Fields>());
  (void)decode_all<Fields>(*message, text, limit, false, &show);
  const auto encoder = format->make_encoder(shape_of<Fields>());
  const auto write = [&](const Fields& fields) {
    std::string bytes;
    encoder->encode(&fields, bytes);
    return bytes;
  };
  std::string written;
  const auto first = format->make_decoder(shape_of<Fields>());
  for (const std::string& each : decode_all<Fields>(*first, text, limit, true, write).records)
    written += each;
  const auto again = format->make_decoder(shape_of<Fields>());
  const DecodedText read = decode_all<Fields>(*again, written, limit, true, &show);
  if (read.records != found.records || !read.bad.empty()) __builtin_trap();
  // What a file is cut by comes to the same borders.
  const hummer::RecordFraming& framing = *raw_framing(
      options.framing, options.framing == RawFraming::fixed ? options.record_bytes : 0);
  std::size_t units = 0;
  for (std::size_t at = 0; at < text.size(); ++units) {
    const auto unit = framing.unit_bytes(std::string_view(text).substr(at));
    if (!unit.ok() || *unit == hummer::RecordFraming::unknown || *unit > text.size() - at) {
      if (found.bad.empty() || found.bad.back() != at) __builtin_trap();
      return 0;
    }
    at += *unit;
  }
  if (units != found.records.size() + found.bad.size()) __builtin_trap();
  return 0;
}
