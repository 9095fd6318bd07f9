// UTF-8 (RFC 3629): where a character ends, and how a code point is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hummer {

// Bytes of the sequence at the start of `text`, or 0 when it is not one. REQUIRES: not empty.
std::size_t utf8_length(std::string_view text);

// False, and nothing appended: `point` is no character (a surrogate, or above U+10FFFF).
bool append_utf8(std::uint32_t point, std::string& text);

}  // namespace hummer
