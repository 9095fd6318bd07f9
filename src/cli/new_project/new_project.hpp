// A new project in a directory of its own: a job with its tests, that builds against an installed
// Hummer and knows nothing of this repository.
//
// Thread: any. Errors: invalid_argument for a name or directory that will not do, with what to do
// about it; those of files, with the path, after which a part of the project may be there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hummer/status.hpp>

#include "platform/files.hpp"

namespace hummer {

// Whether files, targets of CMake and a namespace can be called so.
Status check_project_name(std::string_view name);

// Makes the directory where it is missing; one that holds anything is refused. The paths of the
// files that it wrote.
Result<std::vector<std::string>> write_new_project(Files& files, const std::string& name,
                                                   const std::string& directory);

}  // namespace hummer
