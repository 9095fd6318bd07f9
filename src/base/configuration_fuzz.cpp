// Any bytes as a configuration file: a message that names the place, or entries that are within the
// text, belong to a table, and are numbers where they say so.
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/configuration.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using hummer::ConfigurationValue;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto parsed = hummer::parse_configuration(text, "hummer.toml");
  if (!parsed.ok()) {
    require(parsed.status().message().starts_with("hummer.toml:"));
    return 0;
  }
  int line = 1;
  for (const hummer::ConfigurationEntry& entry : parsed->entries) {
    require(entry.line >= line && static_cast<std::size_t>(entry.line) <= size);
    line = entry.line;
    require(!entry.table.empty() && !entry.key.empty());
    require(entry.is_list || entry.values.size() == 1);
    for (const ConfigurationValue& value : entry.values) {
      const char* const end = value.text.data() + value.text.size();
      std::int64_t whole = 0;
      double decimal = 0;
      if (value.type == ConfigurationValue::Type::integer) {
        require(std::from_chars(value.text.data(), end, whole).ptr == end);
      } else if (value.type == ConfigurationValue::Type::decimal) {
        require(std::from_chars(value.text.data(), end, decimal).ptr == end);
      } else if (value.type == ConfigurationValue::Type::on_off) {
        require(value.text == "true" || value.text == "false");
      }
    }
  }
  return 0;
}
