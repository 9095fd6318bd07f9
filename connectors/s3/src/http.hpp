// HTTP requests over libcurl: one at a time per connection, any number of connections.
//
//   HttpClient http({.ca_file = …});
//   Result<HttpResponse> response = http.send(request, 1 << 20);
//
// A response of any status is a result; a Status says that there was none: connection_refused,
// connection_lost, name_not_resolved, timed_out, tls_failed, protocol_error (more than
// max_body_bytes).
//
// Thread: any; send() blocks. Connections are kept and used again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <hummer/status.hpp>

#include "signature.hpp"

namespace hummer::s3 {

struct HttpResponse {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;

  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string() : found->second;
  }
};

class HttpClient {
 public:
  struct Options {
    std::string ca_file = {};  // empty: what the system trusts
    std::int64_t connect_timeout_ms = 10'000;
    std::int64_t stall_timeout_ms = 20'000;
  };
  explicit HttpClient(Options options);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  Result<HttpResponse> send(const Request& request, std::size_t max_body_bytes);

 private:
  const Options options_;
  std::mutex mutex_;
  std::vector<void*> idle_;  // libcurl's handles
};

}  // namespace hummer::s3
