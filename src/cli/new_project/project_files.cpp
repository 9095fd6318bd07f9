// Compiled with the generated header that defines embedded_project_files.
#include "cli/new_project/project_files.hpp"

#include <algorithm>
#include <string_view>

namespace hummer {
namespace {

std::string filled_in(std::string_view text, const std::string& project) {
  constexpr std::string_view place = "@NAME@";
  std::string filled;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t found = text.find(place, at);
    filled += text.substr(at, found - at);
    if (found == text.npos) break;
    filled += project;
    at = found + place.size();
  }
  return filled;
}

}  // namespace

std::vector<ProjectFile> project_files(const std::string& project) {
  std::vector<ProjectFile> files;
  for (const EmbeddedProjectFile& file : embedded_project_files) {
    files.push_back({filled_in(file.name, project), filled_in(file.text, project)});
  }
  std::sort(files.begin(), files.end(),
            [](const ProjectFile& a, const ProjectFile& b) { return a.name < b.name; });
  return files;
}

}  // namespace hummer
