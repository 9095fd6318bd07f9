// Whether only processes of this machine reach an address.
#pragma once

#include "platform/network.hpp"

namespace hummer {

// 127.0.0.0/8, ::1
bool is_loopback(const SocketAddress& address);

}  // namespace hummer
