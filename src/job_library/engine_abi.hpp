// The ABI text: what a job library and the process that loads it must have in common.
//
// Engine version, compiler with version, the flags that change layouts, and a hash over all public
// headers, in one line. CMake writes it (cmake/HummerAbi.cmake) and compiles it into both; a
// library carries it in the ELF note `.note.hummer` (hummer/job.hpp), where it is read before
// any code of the library runs.
#pragma once

#include <string_view>

namespace hummer {

std::string_view engine_abi();
std::string_view engine_version();  // "0.1.0"

}  // namespace hummer
