// How long a control message may be.
#pragma once

#include <cstddef>

namespace hummer {

inline constexpr std::size_t max_message_bytes = std::size_t{16} << 20;
// Of what the sources of a job read: a message holds it beside other things.
inline constexpr std::size_t max_listing_bytes = std::size_t{6} << 20;
// Before the handshake is done.
inline constexpr std::size_t max_handshake_bytes = std::size_t{64} << 10;

}  // namespace hummer
