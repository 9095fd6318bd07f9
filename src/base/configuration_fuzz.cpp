// Any bytes as a configuration file: entries within the text, or a message that names the place.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/configuration.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto parsed = hummer::parse_configuration(text, "hummer.toml");
  if (!parsed.ok()) {
    if (!parsed.status().message().starts_with("hummer.toml:")) std::abort();
    return 0;
  }
  for (const hummer::ConfigurationEntry& entry : parsed->entries) {
    if (entry.line < 1) std::abort();
    if (entry.is_switch && entry.values.size() != 1) std::abort();
  }
  constexpr std::string_view tables[] = {"job"};
  (void)hummer::check_tables(*parsed, tables);
  return 0;
}
