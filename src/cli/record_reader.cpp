#include "cli/record_reader.hpp"

namespace hummer {

Result<std::unique_ptr<RecordReader>> RecordChoice::reader_of(std::string_view first_bytes) const {
  if (named != nullptr) return named->make(schema);
  for (const RecordFormat& each : may_be_any ? formats : std::span<const RecordFormat>()) {
    if (each.is_begun_by != nullptr && each.is_begun_by(first_bytes)) return each.make(schema);
  }
  return std::unique_ptr<RecordReader>();
}

}  // namespace hummer
