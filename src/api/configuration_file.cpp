#include "api/configuration_file.hpp"

#include <atomic>

#include "api/options/option_programs.hpp"
#include "platform/process_environment.hpp"

namespace hummer {

Result<Configuration> load_configuration(Files& files, const std::string& path) {
  const auto file = files.open_for_reading(path);
  if (!file.ok()) return file.status().with_context("the configuration");
  std::string text(max_configuration_bytes + 1, '\0');
  const Result<std::size_t> length = (*file)->read_at(0, text);
  if (!length.ok()) return length.status().with_context("the configuration");
  text.resize(*length);
  return parse_configuration(text, path);
}

Result<OptionSources> find_sources(Files& files, std::vector<OptionFlag> flags) {
  OptionSources sources;
  sources.flags = std::move(flags);
  for (auto& [name, value] : process_environment("HUMMER_")) {
    sources.variables.push_back({std::move(name), std::move(value)});
  }
  const std::string path = configuration_path(sources);
  if (path.empty()) return sources;
  Result<Configuration> file = load_configuration(files, path);
  if (!file.ok()) return file.status();
  sources.file = std::move(*file);
  return sources;
}

void warn_of_variables(Platform& platform, const OptionSources& sources) {
  static std::atomic<bool> warned{false};
  const std::vector<std::string> unread = unread_variables(option_programs(), sources.variables);
  if (unread.empty() || warned.exchange(true)) return;
  for (const std::string& variable : unread) {
    (void)platform.write_standard(2, "hummer: warning: " + variable + "\n");
  }
}

}  // namespace hummer
