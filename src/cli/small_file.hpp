// A file that a command needs whole, such as options or descriptors.
//
// Errors: those of the file; limit_exceeded, with its name, for one of more than `most` bytes.
// Thread: the main thread.
#pragma once

#include <cstddef>
#include <string>

#include "platform/files.hpp"

namespace hummer {

inline constexpr std::size_t most_descriptor_bytes = 64 << 20;

Result<std::string> read_small_file(Files& files, const std::string& path, std::size_t most);

}  // namespace hummer
