// Against what botocore 1.43.11, which is Amazon's own, signs.
#include "signature.hpp"

#include <gtest/gtest.h>

namespace hummer::s3::signature_test {
namespace {

constexpr std::int64_t now_s = 1795688986;  // 2026-11-26T10:29:46Z

std::string signature_of(Request request, const std::string& token = {}) {
  sign(request, {"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", token}, "eu-west-1",
       now_s);
  const std::string& header = request.headers["authorization"];
  return header.substr(header.rfind('=') + 1);
}

TEST(S3Signature, QueriesAreSortedAndEncoded) {
  const Request request{.scheme = "http",
                        .host = "localhost:8333",
                        .path = "/bucket",
                        .query = {{"list-type", "2"},
                                  {"prefix", "a b/c+\xC3\xBC"},
                                  {"delimiter", "/"},
                                  {"max-keys", "1000"}}};
  EXPECT_EQ(signature_of(request),
            "783af1bf46c37417d3ac1db29762e3cdd4b2283374aa88fc2e2f319d14fe567e");
  EXPECT_EQ(request.url(),
            "http://localhost:8333/bucket?delimiter=%2F&list-type=2&max-keys=1000&"
            "prefix=a%20b%2Fc%2B%C3%BC");
}

TEST(S3Signature, BodiesTokensAndMetadata) {
  const Request request{.method = "PUT",
                        .host = "bucket.s3.eu-west-1.amazonaws.com",
                        .path = "/folder/a b+~&=%.segment",
                        .headers = {{"x-amz-meta-hummer-write", "0123"}},
                        .body = "hello"};
  EXPECT_EQ(signature_of(request, "TOKEN+/="),
            "18187ea905d60edb5138401aa002a030d10c58237b8f76adf645c63157b48558");
}

TEST(S3Signature, NamesWithoutValuesAndRanges) {
  EXPECT_EQ(signature_of({.method = "POST",
                          .scheme = "http",
                          .host = "localhost:8333",
                          .path = "/bucket/key",
                          .query = {{"uploads", ""}}}),
            "03f2541e7f97fecc5e405db727fb5ceb619ddf91bea792e6a7599808dc125e20");
  EXPECT_EQ(signature_of({.scheme = "http",
                          .host = "localhost:8333",
                          .path = "/bucket/key",
                          .headers = {{"range", "bytes=5-9"}}}),
            "d598303a4dadf16c8968299eaa71ea08a04ec55e37971a7b559dee8578fecbb0");
}

TEST(S3Signature, WithoutCredentialsNothingIsSigned) {
  Request request{.host = "h", .path = "/b"};
  sign(request, {}, "eu-west-1", now_s);
  EXPECT_EQ(request.headers.count("authorization"), 0u);
}

}  // namespace
}  // namespace hummer::s3::signature_test
