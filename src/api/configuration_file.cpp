#include "api/configuration_file.hpp"

namespace hummer {

Result<Configuration> load_configuration(Files& files, const std::string& path) {
  const auto file = files.open_for_reading(path);
  if (!file.ok()) return file.status().with_context("the configuration");
  std::string text(max_configuration_bytes + 1, '\0');
  const Result<std::size_t> length = (*file)->read_at(0, text);
  if (!length.ok()) return length.status().with_context("the configuration");
  text.resize(*length);
  Result<Configuration> parsed = parse_configuration(text, path);
  if (parsed.ok()) HUMMER_TRY(check_tables(*parsed, configuration_tables));
  return parsed;
}

}  // namespace hummer
