// NameFields: takes fields off the front of a name or a line, for those that parse names of files.
//
//   NameFields fields(name);
//   return fields.take("part-") && fields.take_number(subtask) && fields.left().empty();
//
// Thread: any. Errors: false; what was taken before it stays taken.
#pragma once

#include <charconv>
#include <string_view>
#include <system_error>

namespace hummer {

class NameFields {
 public:
  explicit NameFields(std::string_view text) : text_(text) {}

  bool take(std::string_view expected) {
    if (!text_.starts_with(expected)) return false;
    text_.remove_prefix(expected.size());
    return true;
  }
  template <typename Number>
  bool take_number(Number& number, int base = 10) {
    const auto [end, error] =
        std::from_chars(text_.data(), text_.data() + text_.size(), number, base);
    if (error != std::errc()) return false;
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    return true;
  }
  std::string_view left() const { return text_; }

 private:
  std::string_view text_;
};

}  // namespace hummer
