// Compiled with the generated header that defines HUMMER_ABI and HUMMER_VERSION.
#include "job_library/engine_abi.hpp"

namespace hummer {

std::string_view engine_abi() { return HUMMER_ABI; }
std::string_view engine_version() { return HUMMER_VERSION; }

}  // namespace hummer
