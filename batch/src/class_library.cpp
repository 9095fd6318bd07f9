#include <hummer/batch/class_library.hpp>

#include <fmt/format.h>

namespace hummer::batch {

void ClassLibrary::add_entry(std::string_view name, Entry entry) {
  if (status_.ok() && (name.empty() || name.find('.') != std::string_view::npos)) {
    status_ = Status(ErrorCode::invalid_argument,
                     fmt::format("a class can't be called '{}': a name without dots", name));
  }
  if (!entries_.emplace(name, entry).second && status_.ok()) {
    status_ = Status(ErrorCode::invalid_argument, fmt::format("two classes are called '{}'", name));
  }
}

}  // namespace hummer::batch
