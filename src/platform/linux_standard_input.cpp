#include <unistd.h>
#include <cerrno>

#include "platform/standard_input.hpp"
#include "platform/system_error.hpp"

namespace hummer {

Result<std::size_t> read_standard_input(std::span<char> into) {
  while (true) {
    const ssize_t got = ::read(STDIN_FILENO, into.data(), into.size());
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) return file_failure(errno, "read", "standard input");
  }
}

}  // namespace hummer
