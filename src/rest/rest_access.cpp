#include "rest/rest_access.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/equal_tokens.hpp"
#include "platform/network.hpp"
#include "rest/rest_api.hpp"

namespace hummer {
namespace {

constexpr std::string_view bearer = "Bearer ";

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return lower;
}

HttpResponse access_refusal(int status, std::string message) {
  HttpResponse response = failure_response({ErrorCode::permission_denied, std::move(message)});
  response.status = status;
  return response;
}

bool is_number(const std::string& host) {
  const bool bracketed = host.find(':') != host.npos;
  const std::string address = bracketed ? "[" + host + "]:80" : host + ":80";
  return !host.empty() && host != "*" && parse_socket_address(address).ok();
}

// Of a page that this JobManager has served itself.
bool is_own_origin(const HttpRequest& request) {
  const std::size_t scheme = request.origin.find("://");
  return scheme != request.origin.npos &&
         in_lower_case(std::string_view(request.origin).substr(scheme + 3)) ==
             in_lower_case(request.host);
}

}  // namespace

std::string host_of(std::string_view address) {
  if (address.starts_with('[')) return std::string(address.substr(1, address.find(']') - 1));
  return in_lower_case(address.substr(0, address.rfind(':')));
}

std::optional<HttpResponse> refuse(const RestAccess& access, const HttpRequest& request) {
  if (!request.origin.empty() && !is_own_origin(request)) {
    return access_refusal(403,
                          fmt::format("a page of '{}' asks, but this is '{}': no page of another "
                                      "origin is answered",
                                      request.origin, request.host));
  }
  if (access.token.empty()) {
    if (access.encrypted || request.host.empty()) return std::nullopt;
    const std::string host = host_of(request.host);
    // Numbers, localhost.
    const bool known = is_number(host) || std::find(access.names.begin(), access.names.end(),
                                                    host) != access.names.end();
    if (known) return std::nullopt;
    return access_refusal(403,
                          fmt::format("the host '{}' is not known here, and there is no token: ask "
                                      "by number (http://127.0.0.1:...), or start the JobManager "
                                      "with --token-file",
                                      request.host));
  }
  const std::string_view given = request.authorization;
  const bool any = given.starts_with(bearer);
  if (any && equal_tokens(given.substr(bearer.size()), access.token)) return std::nullopt;
  HttpResponse response =
      access_refusal(401, any ? "the token is not the JobManager's"
                              : "this needs the cluster's token: Authorization: Bearer TOKEN");
  response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

}  // namespace hummer
