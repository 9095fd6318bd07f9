// What comes on standard input: for commands that look at it, `hummer tail -`.
//
//   while (const std::size_t got = *read_standard_input(space)) use(space.first(got));
//
// Blocks until there is something. 0: it has ended. Errors: io_error. Thread: the main thread.
#pragma once

#include <cstddef>
#include <span>

#include <hummer/status.hpp>

namespace hummer {

Result<std::size_t> read_standard_input(std::span<char> into);

}  // namespace hummer
