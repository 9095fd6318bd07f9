// For tests of servers that make a token: the one that is found for `address`, once it is there.
//
// A JobManager that has begun to listen answers before it has published its token. Empty: none came
// within 20 s.
#pragma once

#include <string>

#include "client/local_token.hpp"
#include "platform/platform.hpp"

namespace hummer {

inline std::string await_published_token(Platform& platform, const std::string& address) {
  std::string token;
  const auto is_there = [&] {
    token = find_local_token(platform, address);
    return !token.empty();
  };
  const Nanoseconds give_up = platform.now() + seconds(20);
  while (!is_there() && platform.now() < give_up) {
    (void)platform.run_until(is_there, platform.now() + milliseconds(10));
  }
  return token;
}

}  // namespace hummer
