// The token of a JobManager that was given none: it makes one, and who runs as the same user on the
// same machine finds it by the JobManager's address.
//
// It is a line in a file of mode 0600: `token` in the JobManager's state directory, if it has one,
// and `ADDRESS.token` in the user's directory (platform/user_directory.hpp), where commands and
// workers look that were given no token and ask a JobManager on loopback. Nobody else reaches a
// JobManager that makes its token: it listens on loopback only.
//
//   token = make_local_token(platform, listen_address, state_directory)   // before it listens
//   publish_local_token(platform, address, token)                         // where it listens
//   token = find_local_token(platform, job_manager)                       // the others
//
// The same token serves after a restart, so that workers which have it come back. Thread: any.
// Errors: of files, with the path.
#pragma once

#include <string>

#include <hummer/status.hpp>

#include "platform/platform.hpp"

namespace hummer {

struct LocalToken {
  std::string token;
  std::string path;  // of the file that holds it; empty: only what publish_local_token() writes
};

// The one that is there, in the state directory or for the address; else a new one.
Result<LocalToken> make_local_token(Platform& platform, const std::string& listen_address,
                                    const std::string& state_directory);

// Where find_local_token() looks from now on: the path. To be repeated once in a while: what clears
// away old temporary files does not ask.
Result<std::string> publish_local_token(Platform& platform, const SocketAddress& address,
                                        const std::string& token);
// There is none (any more): whoever listens here was given a token, or lets everybody in.
void withdraw_local_token(Platform& platform, const SocketAddress& address);

// Empty: none, or the JobManager (host:port) is not on loopback.
std::string find_local_token(Platform& platform, const std::string& job_manager);

}  // namespace hummer
