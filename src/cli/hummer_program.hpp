// run_hummer: main() of the program `hummer`.
//
// Thread: the main thread. The exit code: of the command, or 2 when there is no such.
#pragma once

#include "job_library/job_libraries.hpp"
#include "platform/platform.hpp"

namespace hummer {

int run_hummer(int argc, const char* const* argv, Platform& platform, JobLibraries& libraries);

}  // namespace hummer
