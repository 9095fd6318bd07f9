#include "client/local_token.hpp"

#include <gtest/gtest.h>

#include "platform/simulation.hpp"

namespace hummer::local_token_test {
namespace {

constexpr const char* listens = "127.0.0.1:6123";

class LocalTokenTest : public testing::Test {
 protected:
  LocalToken make(const std::string& state_directory, const std::string& address = listens) {
    const Result<LocalToken> made = make_local_token(*platform_, address, state_directory);
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    return made.ok() ? *made : LocalToken();
  }
  void publish(const LocalToken& token, const std::string& address = listens) {
    const auto path = publish_local_token(*platform_, *parse_socket_address(address), token.token);
    EXPECT_TRUE(path.ok()) << path.status().to_string();
  }
  std::string find(const std::string& address) { return find_local_token(*platform_, address); }

  std::unique_ptr<SimulatedPlatform> platform_ = make_simulated_platform({.seed = 5});
};

TEST_F(LocalTokenTest, WhoAsksThisJobManagerFindsIt) {
  const LocalToken token = make("/state");
  EXPECT_EQ(token.token.size(), 64u);
  EXPECT_EQ(token.path, "/state/token");
  EXPECT_EQ(find(listens), "");
  publish(token);
  EXPECT_EQ(find(listens), token.token);
  EXPECT_EQ(find("localhost:6123"), token.token);
  EXPECT_EQ(find("127.0.0.1:6124"), "");
  EXPECT_EQ(find("10.0.0.1:6123"), "");
}

TEST_F(LocalTokenTest, ItIsTheSameAfterARestart) {
  const std::string in_state = make("/state").token;
  EXPECT_EQ(make("/state").token, in_state);
  const LocalToken without = make("");
  EXPECT_EQ(without.path, "");
  EXPECT_NE(without.token, in_state);
  publish(without);
  EXPECT_EQ(make("").token, without.token);
  // With a new state directory too: the workers have it already.
  EXPECT_EQ(make("/other").token, without.token);
  EXPECT_EQ(make("/other").path, "/other/token");
  EXPECT_NE(make("", "127.0.0.1:0").token, without.token);
}

TEST_F(LocalTokenTest, PublishedAgainItIsStillThere) {
  const LocalToken token = make("/state");
  publish(token);
  publish(token);
  EXPECT_EQ(find(listens), token.token);
}

TEST_F(LocalTokenTest, WhoeverListensWithoutOneTakesItBack) {
  publish(make("/state"));
  withdraw_local_token(*platform_, *parse_socket_address(listens));
  EXPECT_EQ(find(listens), "");
}

TEST_F(LocalTokenTest, ATokenThatCannotBeReadIsAFailureThatNamesIt) {
  ASSERT_TRUE(platform_->files().create_directories("/state/token").ok());
  const Result<LocalToken> made = make_local_token(*platform_, listens, "/state");
  EXPECT_FALSE(made.ok());
  EXPECT_NE(made.status().message().find("/state/token"), std::string::npos);
}

}  // namespace
}  // namespace hummer::local_token_test
