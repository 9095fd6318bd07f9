// The version of control.proto's meaning: both sides of a connection must agree.
#pragma once

#include <cstdint>

namespace hummer {

inline constexpr std::uint32_t control_protocol_version = 4;

}  // namespace hummer
