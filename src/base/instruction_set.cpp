#include <hummer/detail/instruction_set.hpp>

namespace hummer {

InstructionSet best_instruction_set() {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi") ||
      !__builtin_cpu_supports("bmi2") || !__builtin_cpu_supports("fma")) {
    return InstructionSet::v2;
  }
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512cd") || !__builtin_cpu_supports("avx512dq") ||
      !__builtin_cpu_supports("avx512vl") || !__builtin_cpu_supports("avx512vbmi2")) {
    return InstructionSet::v3;
  }
  return InstructionSet::v4;
}

}  // namespace hummer
