// The HTTP interface of a job that runs in its client's process (docs/rest.md): where it listens,
// and whom it lets in.
//
// With a token only those that have it. Without one the process makes one where it listens on
// loopback, which the same user's commands find by the address (local_token.hpp); elsewhere it
// refuses to listen.
#pragma once

#include <memory>
#include <string>

#include <hummer/environment.hpp>

#include "platform/platform.hpp"
#include "platform/tls.hpp"

namespace hummer {

struct JobInterface {
  std::string listen;  // empty: there is none
  std::string token;
  std::shared_ptr<TlsContext> tls;  // null: plain
  bool made_token = false;
};

// As the job's options say. Errors: those of files, of names, and invalid_argument for an address
// that others reach when nobody would have to show a token.
Result<JobInterface> find_job_interface(Platform& platform, const EnvironmentOptions& options);

}  // namespace hummer
