// The files of a new project, as src/cli/new_project/template/ has them: with @NAME@ where the
// project's name goes, also in their names.
#pragma once

#include <string>
#include <vector>

namespace hummer {

struct ProjectFile {
  std::string name;
  std::string text;
};

// For a project with this name, sorted by name.
std::vector<ProjectFile> project_files(const std::string& project);

}  // namespace hummer
