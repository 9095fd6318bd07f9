#include "platform/nameless_file.hpp"

#include <fmt/format.h>

#include <utility>

namespace hummer {

Result<NamelessFile> open_nameless(Platform& platform, const std::string& directory) {
  constexpr int attempts = 8;
  Files& files = platform.files();
  HUMMER_TRY(files.create_directories(directory));
  Status last;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const std::string path =
        fmt::format("{}/hummer-{:016x}.run", directory, platform.random().next());
    auto writable = files.open_for_writing(path, WriteMode::create_new);
    if (!writable.ok()) {
      last = writable.status();
      if (last.code() == ErrorCode::invalid_argument) continue;  // the name is taken
      return last;
    }
    auto readable = files.open_for_reading(path);
    Status removed = files.remove(path);
    if (!readable.ok()) return readable.status();
    if (!removed.ok()) return removed;
    return NamelessFile{std::move(*writable), std::move(*readable)};
  }
  return last;
}

}  // namespace hummer
