// look_up_now: the address of a name, for a main thread that can't go on without it: where a server
// listens, what a command checks. Tasks await Network::look_up.
//
// Thread: one that may call run_until. Errors: those of Network::look_up.
#pragma once

#include <string_view>

#include "platform/platform.hpp"

namespace hummer {

Result<SocketAddress> look_up_now(Platform& platform, std::string_view text);

}  // namespace hummer
