#include <hummer/network_settings.hpp>

#include <gtest/gtest.h>

namespace hummer::network_settings_test {
namespace {

TEST(NetworkSettings, DefaultsAreValidAndReadable) {
  EXPECT_TRUE(validate(NetworkSettings{}).ok());
  EXPECT_EQ(to_string(NetworkSettings{}),
            "automatic, 16 credits of 64 KiB, sender shares slot, receiver shares slot");
}

TEST(NetworkSettings, OneLineSaysEverythingThatWasSet) {
  const NetworkSettings settings{"eth1", Transport::tcp, 1, 2, 3 * 1024 * 1024, 1};
  EXPECT_TRUE(validate(settings).ok());
  EXPECT_EQ(to_string(settings), "tcp on eth1, 1 credit of 3 MiB, 1 sender slot, 2 receiver slots");
}

TEST(NetworkSettings, RefusalsNameTheSettingAndTheBounds) {
  const auto message = [](auto change) {
    NetworkSettings settings;
    change(settings);
    const Status status = validate(settings);
    EXPECT_EQ(status.code(), ErrorCode::invalid_configuration);
    return status.message();
  };
  EXPECT_EQ(message([](auto& s) { s.sender_slots = -1; }),
            "network settings: sender_slots is -1; write a number from 0 to 1024 (0: share the "
            "task's slot)");
  EXPECT_NE(message([](auto& s) { s.receiver_slots = 1025; }).find("receiver_slots is 1025"),
            std::string::npos);
  EXPECT_NE(message([](auto& s) { s.buffer_size_bytes = 1023; }).find("buffer_size_bytes is 1023"),
            std::string::npos);
  EXPECT_NE(message([](auto& s) { s.credits = 0; }).find("credits is 0"), std::string::npos);
  EXPECT_NE(message([](auto& s) { s.interface_or_address = "eth 1"; }).find("blank"),
            std::string::npos);
  EXPECT_NE(message([](auto& s) {
              s.interface_or_address = "eth1";
              s.transport = Transport::memory;
            }).find("binds nothing"),
            std::string::npos);
  EXPECT_NE(message([](auto& s) {
              s.interface_or_address = "eth1";
              s.transport = Transport::shm;
            }).find("the shm transport binds nothing"),
            std::string::npos);
}

TEST(NetworkSettings, BoundsThemselvesAreAccepted) {
  EXPECT_TRUE(validate({"", Transport::tcp, 1024, 1024, 1024, 1}).ok());
  EXPECT_TRUE(validate({"fe80::1%eth0", Transport::tcp, 0, 0, std::size_t{1} << 30, 1 << 16}).ok());
}

TEST(NetworkSettings, ABlockingExchangeHasNeitherTransportNorSlots) {
  NetworkSettings settings;
  settings.exchange = ExchangeMode::blocking;
  EXPECT_TRUE(validate(settings).ok());
  EXPECT_EQ(to_string(settings), "blocking, through files");
  settings.transport = Transport::tcp;
  EXPECT_EQ(validate(settings).code(), ErrorCode::invalid_configuration);
  settings.transport = Transport::automatic;
  settings.receiver_slots = 1;
  EXPECT_EQ(validate(settings).code(), ErrorCode::invalid_configuration);
}

}  // namespace
}  // namespace hummer::network_settings_test
