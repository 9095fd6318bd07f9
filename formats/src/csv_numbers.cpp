#include "csv_numbers.hpp"

#include <hummer/detail/instruction_set.hpp>

namespace hummer::formats {

CsvNumberReaders csv_number_readers() {
  switch (best_instruction_set()) {
    case InstructionSet::v4: return csv_number_readers_v4();
    case InstructionSet::v3: return csv_number_readers_v3();
    case InstructionSet::v2: break;
  }
  return {};
}

}  // namespace hummer::formats
