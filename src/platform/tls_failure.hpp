// What OpenSSL's reasons mean to somebody who runs a cluster. (Only tls_*.cpp include this.)
#pragma once

#include <openssl/ssl.h>
#include <string>

#include <hummer/status.hpp>

namespace hummer {

// tls_failed, of the oldest reason in this thread's queue, which is emptied. `peer_name`: what the
// certificate should be for.
Status tls_failure(SSL* ssl, const std::string& peer_name);

Status plain_text_failure(bool is_server);

// OpenSSL's own words for its oldest reason; the queue is emptied.
std::string openssl_reason();

}  // namespace hummer
