// HttpRequest and HttpResponse: what an HttpServer hands to its handler, and gets back.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hummer {

struct HttpRequest {
  std::string method;                        // "GET"
  std::string path;                          // "/v1/jobs/7", percent-decoded
  std::map<std::string, std::string> query;  // decoded; of a name that comes twice, the last
  std::string authorization;
  std::string host;          // "127.0.0.1:8081"
  std::string origin;        // of the page that a browser asks for; empty: no browser's script asks
  std::string numbering;     // see RestBackend::numbering
  std::string content_type;  // without parameters, in lower case
  std::string body;
};

struct HttpResponse {
  int status = 200;
  std::string body;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;  // further ones
};

// "Not Found"
std::string_view http_reason(int status);

// Splits and decodes a request's target ("/v1/jobs?state=running"). False: not valid.
bool parse_http_target(std::string_view target, HttpRequest& into);

// The name of the header that HttpRequest::numbering comes from.
inline constexpr std::string_view numbering_header = "Hummer-Numbering";

// What goes over the wire. `with_body`: not for HEAD.
std::string format_http_response(const HttpResponse& response, bool with_body, bool keep_alive);

}  // namespace hummer
