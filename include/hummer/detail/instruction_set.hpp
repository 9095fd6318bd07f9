// InstructionSet: the levels for which hot loops are compiled, and the one to use here.
//
// The engine is built for x86-64-v2. A few loops are compiled again for v3 and v4
// in files of their own (`x_v3.cpp`, `x_v4.cpp`, see cmake/HummerModules.cmake) and
// chosen at run time. "v4" asks for VBMI2 as well (Ice Lake, Zen 4 and later):
// a machine with the first AVX-512 only takes v3.
//
// Thread: any. Cost: asks the processor at each call; keep the answer.
#pragma once

#include <cstdint>

namespace hummer {

enum class InstructionSet : std::uint8_t { v2, v3, v4 };

InstructionSet best_instruction_set();

}  // namespace hummer
