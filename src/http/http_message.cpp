#include "http/http_message.hpp"

#include <optional>

#include <fmt/format.h>

namespace hummer {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_blank) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_blank) {
      decoded += ' ';
    } else if (text[i] != '%') {
      decoded += text[i];
    } else {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = hex_digit(text[i + 1]), low = hex_digit(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      decoded += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return decoded;
}

}  // namespace

std::string_view http_reason(int status) {
  switch (status) {
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 413: return "Payload Too Large";
    case 415: return "Unsupported Media Type";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 503: return "Service Unavailable";
    default: return "";
  }
}

bool parse_http_target(std::string_view target, HttpRequest& into) {
  const std::size_t mark = target.find('?');
  auto path = percent_decoded(target.substr(0, mark), false);
  if (!path || !path->starts_with('/')) return false;
  into.path = std::move(*path);
  into.query.clear();
  std::string_view rest = mark == target.npos ? "" : target.substr(mark + 1);
  while (!rest.empty()) {
    const std::size_t border = rest.find('&');
    const std::string_view pair = rest.substr(0, border);
    rest = border == rest.npos ? "" : rest.substr(border + 1);
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    auto name = percent_decoded(pair.substr(0, equals), true);
    auto value = percent_decoded(equals == pair.npos ? "" : pair.substr(equals + 1), true);
    if (!name || !value) return false;
    into.query[std::move(*name)] = std::move(*value);
  }
  return true;
}

std::string format_http_response(const HttpResponse& response, bool with_body, bool keep_alive) {
  std::string text =
      fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: {}\r\n",
                  response.status, http_reason(response.status), response.content_type,
                  response.body.size(), keep_alive ? "keep-alive" : "close");
  for (const auto& [name, value] : response.headers) {
    text += fmt::format("{}: {}\r\n", name, value);
  }
  // Nothing that a browser shows as a page of this origin, or keeps.
  text += "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\r\n";
  if (with_body) text += response.body;
  return text;
}

}  // namespace hummer
