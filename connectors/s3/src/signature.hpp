// The signature of a request, version 4 ("AWS4-HMAC-SHA256"), in the header Authorization.
//
//   sign(request, credentials, "eu-west-1", now_s);   // adds headers to request.headers
//
// The request's path and query are kept unencoded, and encoded here in one place, so that what is
// signed is what is sent. Headers that are signed: host, content-md5, range and all of x-amz-….
//
// Pure. Thread: any.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace hummer::s3 {

struct Credentials {
  std::string access_key_id;  // empty: requests are not signed
  std::string secret_access_key;
  std::string session_token;

  friend bool operator==(const Credentials&, const Credentials&) = default;
};

struct Request {
  std::string method = "GET";
  std::string scheme = "https";
  std::string host = {};                            // with the port, unless it is the scheme's
  std::string path = {};                            // "/bucket/key", not encoded
  std::map<std::string, std::string> query = {};    // not encoded
  std::map<std::string, std::string> headers = {};  // names in lower case
  std::string_view body = {};

  std::string url() const;
};

// Bytes other than letters, digits and "-._~" as %XX; '/' stays where `keeps_slash`.
std::string percent_encoded(std::string_view text, bool keeps_slash);

std::string sha256_hex(std::string_view bytes);
std::string md5_base64(std::string_view bytes);

void sign(Request& request, const Credentials& credentials, const std::string& region,
          std::int64_t seconds_since_1970);

}  // namespace hummer::s3
