// In place of pattern_mapper.cpp where RE2 is not installed.
#include "text_grep.hpp"

namespace hummer::batch {

std::unique_ptr<Mapper> make_grep_mapper() { return nullptr; }
bool has_grep() { return false; }

Status check_pattern(const std::string&, std::uint64_t) {
  return Status(ErrorCode::invalid_configuration,
                "this program was built without RE2, which grep needs: install libre2-dev, and "
                "build again");
}

}  // namespace hummer::batch
