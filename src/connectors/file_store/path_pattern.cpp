#include "connectors/file_store/path_pattern.hpp"

#include "platform/files.hpp"

namespace hummer {
namespace {

std::string_view take_part(std::string_view& path) {
  while (path.starts_with('/')) path.remove_prefix(1);
  const std::string_view part = path.substr(0, path.find('/'));
  path.remove_prefix(part.size());
  return part;
}

}  // namespace

PathPattern::PathPattern(const std::string& path) {
  std::string_view left = path;
  if (left.starts_with('/')) directory_ = "/";
  for (std::string_view part = take_part(left); !part.empty(); part = take_part(left)) {
    if (!parts_.empty() || has_wildcard(part)) {
      parts_.emplace_back(part);
      continue;
    }
    if (!directory_.empty() && !directory_.ends_with('/')) directory_ += '/';
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (part[i] == '\\' && i + 1 < part.size()) ++i;  // quotes
      directory_ += part[i];
    }
  }
  if (directory_.empty()) directory_ = ".";
}

bool PathPattern::matches(std::string_view path) const {
  if (!path.starts_with(directory_)) return false;
  path.remove_prefix(directory_.size());
  for (const std::string& part : parts_) {
    const std::string_view name = take_part(path);
    if (name.empty() || !matches_wildcard(part, name)) return false;
  }
  return true;
}

}  // namespace hummer
