#include "signature.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <ctime>

#include <hummer/status.hpp>

namespace hummer::s3 {
namespace {

using Digest = std::array<unsigned char, 32>;

std::string hex(const unsigned char* bytes, std::size_t count) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text.push_back(digits[bytes[i] >> 4]);
    text.push_back(digits[bytes[i] & 15]);
  }
  return text;
}

Digest hmac(std::string_view key, std::string_view text) {
  Digest digest{};
  unsigned int length = 0;
  const auto* made = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                          reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                          digest.data(), &length);
  HUMMER_ASSERT(made != nullptr && length == digest.size());
  return digest;
}

std::string_view view(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

std::string canonical_query(const Request& request) {
  // In the order of the encoded names, which is not always that of the plain ones.
  std::map<std::string, std::string> encoded;
  for (const auto& [name, value] : request.query) {
    encoded[percent_encoded(name, false)] = percent_encoded(value, false);
  }
  std::string text;
  for (const auto& [name, value] : encoded) {
    text += (text.empty() ? "" : "&") + name + "=" + value;
  }
  return text;
}

std::string time_text(std::int64_t seconds, const char* format) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, format, &parts)};
}

bool is_signed(const std::string& header) {
  return header == "host" || header == "content-md5" || header == "range" ||
         header.starts_with("x-amz-");
}

}  // namespace

std::string percent_encoded(std::string_view text, bool keeps_slash) {
  constexpr char digits[] = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~' || (keeps_slash && c == '/');
    if (plain) {
      encoded.push_back(c);
    } else {
      encoded.push_back('%');
      encoded.push_back(digits[byte >> 4]);
      encoded.push_back(digits[byte & 15]);
    }
  }
  return encoded;
}

std::string sha256_hex(std::string_view bytes) {
  Digest digest{};
  unsigned int length = 0;
  const int made =
      EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, EVP_sha256(), nullptr);
  HUMMER_ASSERT(made == 1 && length == digest.size());
  return hex(digest.data(), digest.size());
}

std::string md5_base64(std::string_view bytes) {
  std::array<unsigned char, 16> digest{};
  unsigned int length = 0;
  const int made =
      EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, EVP_md5(), nullptr);
  HUMMER_ASSERT(made == 1 && length == digest.size());
  std::array<unsigned char, 32> text{};
  const int count = EVP_EncodeBlock(text.data(), digest.data(), static_cast<int>(digest.size()));
  return {reinterpret_cast<const char*>(text.data()), static_cast<std::size_t>(count)};
}

std::string Request::url() const {
  const std::string asked = canonical_query(*this);
  return scheme + "://" + host + percent_encoded(path, true) + (asked.empty() ? "" : "?" + asked);
}

void sign(Request& request, const Credentials& credentials, const std::string& region,
          std::int64_t seconds_since_1970) {
  request.headers["host"] = request.host;
  if (credentials.access_key_id.empty()) return;
  const std::string day = time_text(seconds_since_1970, "%Y%m%d");
  const std::string moment = time_text(seconds_since_1970, "%Y%m%dT%H%M%SZ");
  const std::string payload = sha256_hex(request.body);
  request.headers["x-amz-date"] = moment;
  request.headers["x-amz-content-sha256"] = payload;
  if (!credentials.session_token.empty()) {
    request.headers["x-amz-security-token"] = credentials.session_token;
  }

  std::string lines;
  std::string names;
  for (const auto& [name, value] : request.headers) {
    if (!is_signed(name)) continue;
    lines += name + ":" + value + "\n";
    names += (names.empty() ? "" : ";") + name;
  }
  const std::string canonical = request.method + "\n" + percent_encoded(request.path, true) + "\n" +
                                canonical_query(request) + "\n" + lines + "\n" + names + "\n" +
                                payload;
  const std::string scope = day + "/" + region + "/s3/aws4_request";
  const std::string text =
      "AWS4-HMAC-SHA256\n" + moment + "\n" + scope + "\n" + sha256_hex(canonical);
  Digest key = hmac("AWS4" + credentials.secret_access_key, day);
  for (const std::string_view part : {std::string_view(region), std::string_view("s3"),
                                      std::string_view("aws4_request"), std::string_view(text)}) {
    key = hmac(view(key), part);
  }
  request.headers["authorization"] = "AWS4-HMAC-SHA256 Credential=" + credentials.access_key_id +
                                     "/" + scope + ", SignedHeaders=" + names +
                                     ", Signature=" + hex(key.data(), key.size());
}

}  // namespace hummer::s3
