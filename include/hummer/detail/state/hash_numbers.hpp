// HashNumbers: key_hash (key_hash.hpp) of many integers of eight bytes, some at a time where the
// processor has AVX-512. Thread: any.
#pragma once

#include <cstddef>
#include <cstdint>

#include <hummer/detail/instruction_set.hpp>

namespace hummer {

// hashes[i] = key_hash(keys[i])
using HashNumbers = void (*)(const std::uint64_t* keys, std::size_t count, std::uint64_t* hashes);

HashNumbers hash_numbers_function(InstructionSet level = best_instruction_set());

}  // namespace hummer
