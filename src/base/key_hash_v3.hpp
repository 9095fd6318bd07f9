// XXH3-64 compiled for x86-64-v3; hash_bytes and hash_pieces choose it. REQUIRES: a processor that
// has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace hummer {

std::uint64_t hash_bytes_v3(const void* bytes, std::size_t length);
std::uint64_t hash_pieces_v3(std::span<const std::string_view> pieces);

}  // namespace hummer
