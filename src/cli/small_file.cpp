#include "cli/small_file.hpp"

#include <fmt/format.h>
#include <algorithm>

namespace hummer {

Result<std::string> read_small_file(Files& files, const std::string& path, std::size_t most) {
  const auto file = files.open_for_reading(path);
  if (!file.ok()) return file.status();
  std::string text(std::min<std::uint64_t>((*file)->size_bytes(), most + 1), ' ');
  const Result<std::size_t> size = (*file)->read_at(0, text);
  if (!size.ok()) return size.status();
  if (*size > most) {
    return Status(ErrorCode::limit_exceeded,
                  fmt::format("'{}' has more than {} bytes", path, most));
  }
  text.resize(*size);
  return text;
}

}  // namespace hummer
