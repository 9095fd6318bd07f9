// HttpAnswerReader: a response of HTTP/1.1 from bytes as they arrive; and the request before it.
//
// Pure: no stream, no coroutine, no clock. Limits: 16 KiB of header, 64 MiB of body. Errors:
// protocol_error (no response, a limit). Thread: a value. Parser: Boost.Beast (only in the .cpp).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <hummer/status.hpp>

namespace hummer {

// What a client asks.
struct HttpQuestion {
  std::string method = "GET";
  std::string target;        // "/v1/jobs/7?wait_ms=1000", encoded
  std::string content_type;  // of the body, if there is one
  std::string body;
};

struct HttpAnswer {
  int status = 0;
  std::string body;
  std::uint64_t numbering = 0;  // see RestBackend::numbering; 0: it said none
  bool keep_alive = false;
};

// What goes over the wire. `host` and `token` as they stand in the header; an empty token and a
// numbering of 0 are left out.
std::string format_http_request(const HttpQuestion& question, std::string_view host,
                                std::string_view token, std::uint64_t numbering);

// For a target: every byte that is no letter, digit or one of -._~/ as %XX.
std::string percent_encoded(std::string_view text);

class HttpAnswerReader {
 public:
  HttpAnswerReader();
  ~HttpAnswerReader();

  // True: the answer is whole; take it. What followed is forgotten: nothing was asked for it.
  Result<bool> take(std::string_view bytes);
  HttpAnswer answer();

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace hummer
