// Credentials: how a process shows that it belongs to a cluster, and whom it lets in.
//
// Secrets come from files or the environment, never from a command line, which others can read; no
// message repeats them.
#pragma once

#include <memory>
#include <string>

#include <hummer/environment.hpp>
#include <hummer/status.hpp>

#include "api/options/settings.hpp"
#include "net/frame.hpp"
#include "platform/platform.hpp"
#include "platform/tls.hpp"

namespace hummer {

struct Credentials {
  std::string token;                // empty: none
  std::shared_ptr<TlsContext> tls;  // null: plain
};

// The first line of the file, without blanks around it.
Result<std::string> read_token_file(Files& files, const std::string& path);

// `token_file` wins over `token`. Errors: those of files, and invalid_configuration, which name the
// file or option.
Result<Credentials> find_credentials(Platform& platform, const std::string& token_file,
                                     const std::string& token, const TlsOptions& tls, TlsRole role);

// As a program's options say.
Result<Credentials> find_credentials(Platform& platform, const CredentialSettings& settings,
                                     TlsRole role);

// As a job's options say: of a client of a cluster, or (role server) of a job's HTTP interface.
Result<Credentials> find_credentials(Platform& platform, const EnvironmentOptions& options,
                                     TlsRole role);

}  // namespace hummer
