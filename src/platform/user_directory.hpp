// What is for the eyes of one user only: a directory that is the same for all his processes on this
// machine, and files of mode 0600.
//
// Simulated: on the node's disk, where there is one user. Thread: any. Errors name the path.
#pragma once

#include <string>
#include <string_view>

#include "platform/platform.hpp"

namespace hummer {

// Of the user as whom this process runs, made when it is missing. It need not outlive the machine's
// next start. permission_denied: somebody else has made it, or can look into it.
Result<std::string> user_directory(Platform& platform);

// A new file that nobody but this user may read, durable. invalid_argument when it is there.
Status write_private_file(Platform& platform, const std::string& path, std::string_view text);

}  // namespace hummer
