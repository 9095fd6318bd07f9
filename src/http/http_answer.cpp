#include "http/http_answer.hpp"

#include <charconv>

#include <fmt/format.h>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "http/http_message.hpp"

namespace hummer {
namespace {

namespace http = boost::beast::http;

constexpr std::uint32_t max_header_bytes = 16 * 1024;
constexpr std::uint64_t max_body_bytes = std::uint64_t{64} << 20;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~' || c == '/';
}

// A record of TLS: alert or handshake, version 3.x.
bool is_tls(std::string_view bytes) {
  return bytes.size() > 1 && (bytes[0] == 21 || bytes[0] == 22) && bytes[1] == 3;
}

}  // namespace

std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    if (is_plain(c)) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

std::string format_http_request(const HttpQuestion& question, std::string_view host,
                                std::string_view token, std::uint64_t numbering) {
  std::string text =
      fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\n", question.method, question.target, host);
  if (!token.empty()) text += fmt::format("Authorization: Bearer {}\r\n", token);
  if (numbering != 0) text += fmt::format("{}: {}\r\n", numbering_header, numbering);
  if (!question.content_type.empty()) {
    text += fmt::format("Content-Type: {}\r\n", question.content_type);
  }
  if (question.method != "GET") {
    text += fmt::format("Content-Length: {}\r\n", question.body.size());
  }
  return text + "\r\n" + question.body;
}

struct HttpAnswerReader::Parser {
  http::response_parser<http::string_body> parser;
  std::string pending;  // a header without its end
};

HttpAnswerReader::HttpAnswerReader() : parser_(std::make_unique<Parser>()) {
  parser_->parser.header_limit(max_header_bytes);
  parser_->parser.body_limit(max_body_bytes);
  parser_->parser.eager(true);
}
HttpAnswerReader::~HttpAnswerReader() = default;

Result<bool> HttpAnswerReader::take(std::string_view bytes) {
  std::string& pending = parser_->pending;
  pending.append(bytes);
  while (!pending.empty()) {
    boost::system::error_code error;
    const std::size_t used =
        parser_->parser.put(boost::asio::buffer(pending.data(), pending.size()), error);
    if (error && error != http::error::need_more) {
      const std::string_view what = is_tls(pending)
                                        ? "it speaks TLS, this side does not: give --tls-ca"
                                        : "what came is no answer of HTTP";
      return Status(ErrorCode::protocol_error, fmt::format("{} ({})", what, error.message()));
    }
    pending.erase(0, used);
    if (parser_->parser.is_done()) return true;
    if (used == 0) break;
  }
  if (pending.size() > max_header_bytes) {
    return Status(ErrorCode::protocol_error, "the header of the answer is too long");
  }
  return false;
}

HttpAnswer HttpAnswerReader::answer() {
  HttpAnswer answer;
  answer.keep_alive = parser_->parser.keep_alive();
  auto message = parser_->parser.release();
  answer.status = static_cast<int>(message.result_int());
  const auto numbering =
      message[boost::beast::string_view(numbering_header.data(), numbering_header.size())];
  (void)std::from_chars(numbering.data(), numbering.data() + numbering.size(), answer.numbering);
  answer.body = std::move(message.body());
  return answer;
}

}  // namespace hummer
