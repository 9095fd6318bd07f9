// system_error: what an errno means as a Status. (Linux form only.)
#pragma once

#include <string>

#include <hummer/status.hpp>

namespace hummer {

// "cannot <doing> '<path>': <reason>", with the code that fits a file operation.
Status file_failure(int error, const std::string& doing, const std::string& path);

// "<doing>: <reason>", with the code that fits a socket operation.
Status socket_failure(int error, const std::string& doing);

}  // namespace hummer
