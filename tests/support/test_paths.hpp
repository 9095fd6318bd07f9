// test_path("golden"): where something lies that a test needs, by the names that
// hummer_test_paths() (cmake/HummerTests.cmake) gave its program.
//
// The paths are compiled in one small source of each program. As macros they would make every
// object depend on the folder of the clone, and none of them would be found in a compiler cache.
//
// Thread: any. A name that the program was not given ends it.
#pragma once

#include <string>
#include <string_view>

namespace hummer {

std::string test_path(std::string_view name);

}  // namespace hummer
