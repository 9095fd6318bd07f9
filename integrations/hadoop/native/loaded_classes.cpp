#include "loaded_classes.hpp"

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "platform/abort_stacks.hpp"
#include "platform/dynamic_library.hpp"

namespace hummer::hadoop {
namespace {

std::vector<std::string> paths_in(std::string_view libraries) {
  std::vector<std::string> paths;
  while (!libraries.empty()) {
    const std::size_t comma = std::min(libraries.find(','), libraries.size());
    if (comma > 0) paths.emplace_back(libraries.substr(0, comma));
    libraries.remove_prefix(std::min(comma + 1, libraries.size()));
  }
  return paths;
}

// Says which files they were when they were loaded.
Result<std::string> identity_of(Files& files, const std::vector<std::string>& paths) {
  std::string identity;
  for (const std::string& path : paths) {
    const auto found = files.stat(path);
    if (!found.ok()) return found.status();
    identity += fmt::format("{}\n{} {}\n", path, found->size_bytes, found->modified_ms);
  }
  return identity;
}

}  // namespace

Result<const batch::ClassLibraries*> loaded_classes(Files& files, std::string_view libraries) {
  static std::mutex mutex;
  // Never destroyed, as threads of Java's may outlive what C++ destroys at the end.
  static auto* const loaded_ones =
      new std::map<std::string, std::unique_ptr<batch::ClassLibraries>>;
  const std::vector<std::string> paths = paths_in(libraries);
  const auto identity = identity_of(files, paths);
  if (!identity.ok()) return identity.status();
  const std::lock_guard lock(mutex);
  auto& loaded = (*loaded_ones)[*identity];
  if (loaded == nullptr) {
    auto classes = std::make_unique<batch::ClassLibraries>();
    // Java loads this library for itself alone; what class libraries need of the engine they look
    // for among what everybody sees.
    if (!paths.empty()) {
      write_stacks_of_aborts();
      HUMMER_TRY(show_symbols_of(&mutex));
    }
    for (const std::string& path : paths) HUMMER_TRY(classes->load(files, path));
    loaded = std::move(classes);
  }
  return loaded.get();
}

}  // namespace hummer::hadoop
