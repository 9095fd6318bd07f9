// Any bytes as CSV, in any dialect: the decoder makes of them what the rules make of them, whatever
// room it has. The first byte says which dialect and how much room.
#include "csv_decoder.hpp"
#include "decoded_for_test.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hummer::formats;
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const CsvOptions options = csv_options_of(data[0]);
  CsvDecoder decoder(shape_of<ThreeTexts>(), options);
  const std::size_t limit = data[0] >> 5 == 0 ? 1024 : data[0] >> 5;
  const DecodedText found = decode_all<ThreeTexts>(decoder, text, limit, true, &show_texts);
  if (found != read_plainly(text, options)) __builtin_trap();
  // With a header it may fail, but no more.
  CsvOptions headed = options;
  headed.header = true;
  CsvDecoder by_header(shape_of<ThreeTexts>(), headed);
  (void)decode_all<ThreeTexts>(by_header, "a,b,c\n" + text, limit, true, &show_texts);
  (void)decode_all<ThreeTexts>(by_header, text, limit, true, &show_texts);
  return 0;
}
