// hash_bytes_v3: XXH3-64 compiled for x86-64-v3; hash_bytes chooses it. REQUIRES: a processor that
// has it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hummer {

std::uint64_t hash_bytes_v3(const void* bytes, std::size_t length);

}  // namespace hummer
