// Bytes as text of letters, digits, '+' and '/', four for three of them, with '=' at the end (RFC
// 4648).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hummer::formats {

std::string to_base64(std::string_view bytes);
std::optional<std::string> from_base64(std::string_view text);

}  // namespace hummer::formats
