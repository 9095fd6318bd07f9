#include <hummer/detail/format_value.hpp>

#include <charconv>
#include <sstream>

namespace hummer::detail {
namespace {

template <typename T>
void append_number(T value, std::string& out) {
  char digits[128];
  const std::to_chars_result end = std::to_chars(digits, digits + sizeof digits, value);
  out.append(digits, end.ptr);
}

}  // namespace

void format_number(std::int64_t value, std::string& out) { append_number(value, out); }
void format_number(std::uint64_t value, std::string& out) { append_number(value, out); }
void format_number(float value, std::string& out) { append_number(value, out); }
void format_number(double value, std::string& out) { append_number(value, out); }
void format_number(long double value, std::string& out) { append_number(value, out); }

void format_streamed(const void* value, void (*put)(const void* value, std::ostream& stream),
                     std::string& out) {
  std::ostringstream stream;
  put(value, stream);
  out.append(stream.view());
}

}  // namespace hummer::detail
