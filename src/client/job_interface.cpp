#include "client/job_interface.hpp"

#include <utility>

#include "client/credentials.hpp"
#include "client/local_token.hpp"
#include "platform/look_up_now.hpp"
#include "platform/loopback.hpp"

namespace hummer {

Result<JobInterface> find_job_interface(Platform& platform, const EnvironmentOptions& options) {
  JobInterface interface;
  if (options.rest_listen != "none") interface.listen = options.rest_listen;
  if (interface.listen.empty()) return interface;
  Result<Credentials> credentials = find_credentials(platform, options, TlsRole::server);
  if (!credentials.ok()) return credentials.status();
  interface.token = std::move(credentials->token);
  interface.tls = std::move(credentials->tls);
  const Result<SocketAddress> address = look_up_now(platform, interface.listen);
  if (!address.ok()) return address.status().with_context("--rest-listen " + interface.listen);
  if (!interface.token.empty()) return interface;
  if (!is_loopback(*address)) {
    return Status(ErrorCode::invalid_argument,
                  "--rest-listen " + interface.listen +
                      ": other machines could reach it and end the job; give --token-file or "
                      "HUMMER_TOKEN, or an address on loopback");
  }
  Result<LocalToken> made = make_local_token(platform, interface.listen, "");
  if (!made.ok()) return made.status().with_context("making a token");
  interface.token = std::move(made->token);
  interface.made_token = true;
  return interface;
}

}  // namespace hummer
