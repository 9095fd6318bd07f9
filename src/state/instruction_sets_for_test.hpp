// The levels of which a test of this module tries each that this processor has.
#pragma once

#include <vector>

#include <hummer/detail/instruction_set.hpp>

namespace hummer {

inline std::vector<InstructionSet> levels_for_test() {
  std::vector<InstructionSet> levels{InstructionSet::v2};
  if (best_instruction_set() >= InstructionSet::v4) levels.push_back(InstructionSet::v4);
  return levels;
}

}  // namespace hummer
