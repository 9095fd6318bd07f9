#include "net/data_address.hpp"

#include <gtest/gtest.h>

namespace hummer::data_address_test {
namespace {

const std::vector<DataAddress> here = {{"eth0", "10.0.1.1:7000"}, {"eth1", "10.0.2.1:7001"}};
const std::vector<DataAddress> there = {{"eth0", "10.0.1.2:7000"}, {"eth1", "10.0.2.2:7001"}};

TEST(DataAddress, IsReadWithAndWithoutAName) {
  EXPECT_EQ(*parse_data_address("eth1=10.0.2.1:0"), (DataAddress{"eth1", "10.0.2.1:0"}));
  EXPECT_EQ(*parse_data_address("[::1]:7"), (DataAddress{"", "[::1]:7"}));
  EXPECT_EQ(*parse_data_address("worker-1:7"), (DataAddress{"", "worker-1:7"}));
  for (const char* wrong : {"", "eth1", "eth1=", "=10.0.0.1:0", "10.0.0.1", "10.0.0.1:99999"}) {
    const Result<DataAddress> address = parse_data_address(wrong);
    ASSERT_FALSE(address.ok()) << wrong;
    EXPECT_NE(address.status().message().find("INTERFACE=ADDRESS:PORT"), std::string::npos);
  }
}

TEST(DataRoute, WithoutASettingLeadsToTheFirstAddress) {
  const Result<DataRoute> route = choose_route("", here, there, "b");
  ASSERT_TRUE(route.ok());
  EXPECT_EQ(route->address, "10.0.1.2:7000");
  EXPECT_EQ(route->options.bind_address, "");
  EXPECT_EQ(route->options.interface, "");
}

TEST(DataRoute, ByNameAddressAndSubnetJoinsTheSameInterface) {
  for (const char* setting : {"eth1", "10.0.2.2", "10.0.2.1", "10.0.2.0/24", "10.0.2.99/25"}) {
    const Result<DataRoute> route = choose_route(setting, here, there, "b");
    ASSERT_TRUE(route.ok()) << setting << ": " << route.status().to_string();
    EXPECT_EQ(route->address, "10.0.2.2:7001") << setting;
    EXPECT_EQ(route->options.bind_address, "10.0.2.1:0") << setting;
  }
}

TEST(DataRoute, ByAddressWithoutNames) {
  const std::vector<DataAddress> own = {{"", "10.0.1.1:1"}, {"", "10.0.2.1:1"}};
  const std::vector<DataAddress> peer = {{"", "10.0.1.2:2"}, {"", "10.0.2.2:2"}};
  EXPECT_EQ(choose_route("10.0.2.2", own, peer, "b")->address, "10.0.2.2:2");
  EXPECT_EQ(choose_route("10.0.2.1", own, peer, "b")->options.bind_address, "10.0.2.1:0");
}

TEST(DataRoute, InsideOneTaskManager) {
  const Result<DataRoute> route = choose_route("10.0.2.1", here, here, "a");
  ASSERT_TRUE(route.ok());
  EXPECT_EQ(route->address, "10.0.2.1:7001");
  EXPECT_EQ(route->options.bind_address, "10.0.2.1:0");
}

TEST(DataRoute, IPv6Subnet) {
  const std::vector<DataAddress> own = {{"", "[fd00:1::1]:1"}, {"", "[fd00:2::1]:1"}};
  const std::vector<DataAddress> peer = {{"", "[fd00:1::2]:2"}, {"", "[fd00:2::2]:2"}};
  const Result<DataRoute> route = choose_route("fd00:2::/32", own, peer, "b");
  ASSERT_TRUE(route.ok());
  EXPECT_EQ(route->address, "[fd00:2::2]:2");
  EXPECT_EQ(route->options.bind_address, "[fd00:2::1]:0");
}

TEST(DataRoute, WhatThePeerDoesNotHaveIsNamedWithWhatItHas) {
  const std::vector<DataAddress> only = {{"eth0", "10.0.1.2:7000"}};
  for (const char* setting : {"eth1", "10.0.2.0/24", "10.0.2.1"}) {
    const Result<DataRoute> route = choose_route(setting, here, only, "worker-2");
    ASSERT_FALSE(route.ok()) << setting;
    EXPECT_EQ(route.status().code(), ErrorCode::invalid_configuration);
    for (const std::string part : {setting, "worker-2", "eth0=10.0.1.2:7000"}) {
      EXPECT_NE(route.status().message().find(part), std::string::npos) << route.status().message();
    }
  }
  const Result<DataRoute> from = choose_route("eth1", only, there, "worker-2");
  ASSERT_FALSE(from.ok());
  EXPECT_NE(from.status().message().find("this TaskManager"), std::string::npos);
  EXPECT_FALSE(choose_route("10.9.9.9", here, there, "b").ok());
  EXPECT_FALSE(choose_route("eth1", here, {}, "b").ok());
}

TEST(DataRoute, FromAnyAddressBindsNone) {
  const std::vector<DataAddress> any = {{"eth1", "0.0.0.0:1"}};
  const Result<DataRoute> route = choose_route("eth1", any, there, "b");
  ASSERT_TRUE(route.ok());
  EXPECT_EQ(route->options.bind_address, "");
  EXPECT_EQ(route->options.interface, "eth1");
}

}  // namespace
}  // namespace hummer::data_address_test
