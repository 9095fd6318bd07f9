// Any text as a type's name and any bytes as a value of it: no crash and nothing read past the
// input; what is passed over is shown as JSON too, takes the same bytes, and is copied as it was.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/type_grammar.hpp"
#include "base/value_json.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hummer;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t end = input.find('\n');
  if (end == input.npos) return 0;
  const std::string_view bytes = input.substr(end + 1);
  const std::optional<ParsedType> type = parse_type(input.substr(0, end));
  if (!type) return 0;
  std::string cell;
  (void)append_json_cell(*type, bytes, cell);
  if (!can_pass_over(*type)) return 0;
  ByteReader passed(bytes);
  std::string copy;
  const bool valid = pass_over(*type, passed, &copy);
  if (valid && copy != bytes.substr(0, bytes.size() - passed.left())) std::abort();
  ByteReader shown(bytes);
  std::string json;
  if (append_json_value(*type, shown, json) != valid) std::abort();
  if (valid && shown.left() != passed.left()) std::abort();
  return 0;
}
