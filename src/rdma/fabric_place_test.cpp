#include "rdma/fabric_place.hpp"

#include <gtest/gtest.h>

#include "platform/remote_memory.hpp"

namespace hummer::fabric_place_test {
namespace {

FabricPlace message_place() {
  FabricPlace place;
  place.provider = "tcp";
  place.address = std::string("\x0a\0\0\x01\xb0\xc4", 6);
  for (std::size_t i = 0; i < place.cookie.size(); ++i) {
    place.cookie[i] = static_cast<char>(i * 0x11);
  }
  return place;
}

TEST(FabricPlace, AMessageEndpointIsWrittenAndReadAgain) {
  const std::string text = to_text(message_place());
  EXPECT_EQ(text, "tcp:msg:0a000001b0c4:00112233445566778899aabbccddeeff");
  const auto place = parse_fabric_place(text);
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(place->provider, "tcp");
  EXPECT_EQ(place->kind, EndpointKind::message);
  EXPECT_EQ(place->address, message_place().address);
  EXPECT_EQ(place->cookie, message_place().cookie);
}

TEST(FabricPlace, ADatagramEndpointIsWrittenAndReadAgain) {
  FabricPlace place;
  place.provider = "shm";
  place.kind = EndpointKind::datagram;
  place.name = std::string("fi_shm://1\0", 11);
  place.memory = {0x7f0000001000, 5};
  const std::string text = to_text(place);
  EXPECT_EQ(text, "shm:rdm:66695f73686d3a2f2f3100:00007f0000001000:0000000000000005");
  const auto read = parse_fabric_place(text);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->name, place.name);
  EXPECT_EQ(read->memory.base, place.memory.base);
  EXPECT_EQ(read->memory.key, place.memory.key);
}

TEST(FabricPlace, TheLongestFitsWhereItIsSent) {
  FabricPlace place;
  place.provider = std::string(FabricPlace::max_provider_bytes, 'a');
  place.kind = EndpointKind::datagram;
  place.name = std::string(FabricPlace::max_name_bytes, 'x');
  const std::string text = to_text(place);
  EXPECT_LE(text.size(), RemoteMemory::max_place_bytes);
  EXPECT_TRUE(parse_fabric_place(text).has_value());
  place.name += 'x';
  EXPECT_FALSE(parse_fabric_place(to_text(place)).has_value());
}

TEST(FabricPlace, WhatIsNoneIsRefused) {
  const std::string good = to_text(message_place());
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(parse_fabric_place(good.substr(0, size)).has_value()) << size;
  }
  for (const char* text :
       {"TCP:msg:0a000001b0c4:00112233445566778899aabbccddeeff",
        "tcp:raw:0a000001b0c4:00112233445566778899aabbccddeeff",
        "tcp:msg:0A000001b0c4:00112233445566778899aabbccddeeff",
        "tcp:msg:0a000001b0c400:00112233445566778899aabbccddeeff",
        "tcp:msg:0a000001b0c4:00112233445566778899aabbccddeeff:",
        "tcp:rdm:0a000001b0c4:00112233445566778899aabbccddeeff", "shm:rdm::0000000000000001:2",
        "shm:rdm::0000000000000001:0000000000000002", "shm:rdm:6:0000000000000001:0000000000000002",
        "way-too-long-provider:msg:0a000001b0c4:00112233445566778899aabbccddeeff"}) {
    EXPECT_FALSE(parse_fabric_place(text).has_value()) << text;
  }
}

TEST(FabricPlace, WhatGoesWithAConnection) {
  const FabricOffer offer{message_place().cookie, {0x0102030405060708, 0xff}};
  std::string bytes = encode_offer(offer);
  ASSERT_EQ(bytes.size(), 32u);
  EXPECT_FALSE(decode_offer(std::string_view(bytes).substr(0, 31)).has_value());
  bytes += std::string(24, '\0');  // as a network fills it up
  const auto read = decode_offer(bytes);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->cookie, offer.cookie);
  EXPECT_EQ(read->memory.base, offer.memory.base);
  EXPECT_EQ(read->memory.key, offer.memory.key);
}

}  // namespace
}  // namespace hummer::fabric_place_test
