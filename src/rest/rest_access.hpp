// RestAccess: which HTTP requests are let in.
//
// Two things are asked of every request for a route that is not open:
// - The token, where there is one.
// - That no web page is behind it. A browser on the same machine reaches a loopback port, and any
//   page may make it do so: it names itself in Origin, which therefore must be the address that is
//   asked; or its own name is made to resolve to 127.0.0.1 (DNS rebinding), and then stands in
//   Host. So where neither token nor TLS would stop it, Host is a number, localhost, or a name that
//   the JobManager was told to listen at.
//
// Pure. Thread: a value.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/http_message.hpp"

namespace hummer {

struct RestAccess {
  std::string token;               // empty: none is asked for
  bool encrypted = false;          // TLS: a browser would refuse the certificate for another name
  std::vector<std::string> names;  // beyond localhost
};

// Why the request is not let in: 401 or 403; nothing when it is.
std::optional<HttpResponse> refuse(const RestAccess& access, const HttpRequest& request);

// "worker7:80" → "worker7", "[::1]:80" → "::1"
std::string host_of(std::string_view address);

}  // namespace hummer
