#include "platform/process_environment.hpp"

#include <unistd.h>

namespace hummer {

std::vector<std::pair<std::string, std::string>> process_environment(std::string_view prefix) {
  std::vector<std::pair<std::string, std::string>> found;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    const std::string_view text = *each;
    const std::size_t equals = text.find('=');
    if (!text.starts_with(prefix) || equals == text.npos) continue;
    found.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return found;
}

}  // namespace hummer
