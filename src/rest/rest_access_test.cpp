#include "rest/rest_access.hpp"

#include <gtest/gtest.h>

namespace hummer::rest_access_test {
namespace {

// The status that a request gets; 200 when it is let in.
int status_of(const RestAccess& access, std::string host, std::string origin = {},
              std::string authorization = {}) {
  HttpRequest request;
  request.host = std::move(host);
  request.origin = std::move(origin);
  request.authorization = std::move(authorization);
  const std::optional<HttpResponse> refused = refuse(access, request);
  return refused ? refused->status : 200;
}

TEST(RestAccess, WithoutATokenTheHostIsANumberOrAKnownName) {
  RestAccess access;
  access.names = {host_of("worker7:6123"), host_of("")};
  for (const char* host : {"127.0.0.1:8081", "127.0.0.1", "[::1]:8081", "[::1]", "localhost:8081",
                           "LocalHost", "10.1.2.3:80", "worker7:6123", "WORKER7", ""}) {
    EXPECT_EQ(status_of(access, host), 200) << host;
  }
  for (const char* host : {"attacker.example:8081", "attacker.example", "127.0.0.1.example:8081",
                           "localhost.example", "worker8:6123", "*:8081", "[attacker]:80"}) {
    EXPECT_EQ(status_of(access, host), 403) << host;
  }
}

TEST(RestAccess, ATokenOrTlsMakesTheHostsNameFree) {
  RestAccess access;
  access.encrypted = true;
  EXPECT_EQ(status_of(access, "jobmanager.example"), 200);
  access = {};
  access.token = "sesame";
  EXPECT_EQ(status_of(access, "jobmanager.example", "", "Bearer sesame"), 200);
  EXPECT_EQ(status_of(access, "127.0.0.1", "", "Bearer sesame2"), 401);
  EXPECT_EQ(status_of(access, "127.0.0.1", "", "Basic sesame"), 401);
  EXPECT_EQ(status_of(access, "127.0.0.1"), 401);
}

TEST(RestAccess, NoPageOfAnotherOriginIsAnswered) {
  for (const char* token : {"", "sesame"}) {
    RestAccess access;
    access.token = token;
    const auto of = [&](const char* origin) {
      return status_of(access, "127.0.0.1:8081", origin, "Bearer sesame");
    };
    EXPECT_EQ(of("http://attacker.example"), 403);
    EXPECT_EQ(of("null"), 403);
    EXPECT_EQ(of("http://127.0.0.1:3000"), 403);
    EXPECT_EQ(of("http://127.0.0.1:8081"), 200);
  }
}

}  // namespace
}  // namespace hummer::rest_access_test
