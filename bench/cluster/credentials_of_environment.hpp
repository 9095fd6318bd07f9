// What a member of a cluster knows, from HUMMER_TOKEN and HUMMER_TLS_CA, _CERTIFICATE and _KEY.
#pragma once

#include <cstdlib>
#include <string>

#include "client/credentials.hpp"

namespace hummer {

inline Result<Credentials> credentials_of_environment(Platform& platform) {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  TlsOptions tls;
  tls.ca_file = variable("HUMMER_TLS_CA");
  tls.certificate_file = variable("HUMMER_TLS_CERTIFICATE");
  tls.key_file = variable("HUMMER_TLS_KEY");
  return find_credentials(platform, {}, variable("HUMMER_TOKEN"), tls, TlsRole::client);
}

}  // namespace hummer
