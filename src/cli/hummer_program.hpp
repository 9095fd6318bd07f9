// run_hummer: main() of the program `hummer`.
//
// `further`: commands of modules beside the engine, which those below it do not know.
//
// Thread: the main thread. The exit code: of the command, or 2 when there is no such.
#pragma once

#include <span>

#include "cli/command.hpp"
#include "job_library/job_libraries.hpp"
#include "platform/platform.hpp"

namespace hummer {

int run_hummer(int argc, const char* const* argv, Platform& platform, JobLibraries& libraries,
               std::span<const Command> further = {});

}  // namespace hummer
