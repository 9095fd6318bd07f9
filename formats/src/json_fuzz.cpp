// Any bytes as JSON lines: many lines at once and line by line come to the same records and to the
// same bad lines, and what was read is written and read again to the same.
#include <optional>

#include "decoded_for_test.hpp"
#include "json_decoder.hpp"

namespace {

struct Fields {
  std::string_view name;
  std::optional<double> price;
  std::vector<std::string_view> list;
  std::optional<std::int8_t> small;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hummer::formats;
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const JsonOptions options{.refuse_missing_fields = (data[0] & 1) != 0,
                            .refuse_unknown_fields = (data[0] & 2) != 0};
  const std::size_t limit = data[0] >> 5 == 0 ? 1024 : data[0] >> 5;
  const auto encoder = json(options)->make_encoder(shape_of<Fields>());
  const auto show = [&](const Fields& fields) {
    std::string line;
    encoder->encode(&fields, line);
    return line;
  };
  JsonDecoder at_once(shape_of<Fields>(), options);
  JsonDecoder by_line(shape_of<Fields>(), options);
  const DecodedText found = decode_all<Fields>(at_once, text, limit, true, show);
  if (found != decode_all<Fields>(by_line, text, limit, false, show)) __builtin_trap();
  std::string written;
  for (const std::string& record : found.records) written += record;
  JsonDecoder again(shape_of<Fields>(), {});
  const DecodedText read = decode_all<Fields>(again, written, 1024, true, show);
  if (read.records != found.records || !read.bad.empty()) __builtin_trap();
  return 0;
}
