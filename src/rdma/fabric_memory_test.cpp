// Both ends in this process, by the providers that need no device; and by verbs where there is one
// (also soft-RoCE), whose address HUMMER_TEST_VERBS_ADDRESS says.
#include "rdma/fabric_memory.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "platform/descriptor.hpp"
#include "platform/random.hpp"
#include "rdma/fabric_place.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::fabric_memory_test {
namespace {

constexpr std::size_t slots = 64;
constexpr std::size_t slot_bytes = 16384;
constexpr std::size_t memory_bytes = slots * slot_bytes;
constexpr const char* loopback = "127.0.0.1";
constexpr std::string_view verbs = "verbs";
constexpr std::chrono::seconds patience{20};

class Deadline {
 public:
  bool passed() const { return std::chrono::steady_clock::now() > end_; }

 private:
  std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + patience;
};

struct Pair {
  std::unique_ptr<RemoteMemory> receiver;
  std::unique_ptr<RemoteMemory> sender;

  // Without numbers.
  Status progress() {
    std::vector<std::uint32_t> none;
    HUMMER_TRY(receiver->progress(none).with_context("receiver"));
    HUMMER_TRY(sender->progress(none).with_context("sender"));
    return none.empty() ? Status() : Status(ErrorCode::internal, "numbers came");
  }
};

Status make_ready(Pair& pair) {
  HUMMER_TRY(pair.receiver->answered(pair.sender->answer()));
  const Deadline deadline;
  while (!pair.receiver->ready() || !pair.sender->ready()) {
    HUMMER_TRY(pair.progress());
    if (deadline.passed()) return {ErrorCode::timed_out, "the ends do not find each other"};
  }
  return {};
}

Result<Pair> connected(RemoteMemoryDevice& device, const std::string& address) {
  auto made = device.create(memory_bytes, memory_bytes, address);
  if (!made.ok()) return made.status().with_context("create");
  EXPECT_LE(made->place.size(), RemoteMemory::max_place_bytes);
  auto opened = device.open(made->place, memory_bytes, memory_bytes);
  if (!opened.ok()) return opened.status().with_context("open");
  Pair pair{std::move(made->end), std::move(*opened)};
  HUMMER_TRY(make_ready(pair));
  return pair;
}

class FabricMemory : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    auto made = make_fabric_memory_device({.provider = GetParam()});
    if (!made.ok()) GTEST_SKIP() << made.status().to_string();
    device = std::move(*made);
    if (GetParam() == verbs) {
      const char* const given = std::getenv("HUMMER_TEST_VERBS_ADDRESS");
      if (given == nullptr) GTEST_SKIP() << "HUMMER_TEST_VERBS_ADDRESS is not set";
      address = given;
    }
  }
  std::string address = loopback;
  std::unique_ptr<RemoteMemoryDevice> device;
};

class FabricConnection : public FabricMemory {};

// Of write number `number`: its size, and its bytes.
std::size_t size_of(std::uint32_t number) {
  const std::uint64_t drawn = mix_bits(number + 1);
  return 1 + (drawn >> 8) % (drawn % 4 == 0 ? 64 : slot_bytes - 1);
}
char byte_of(std::uint32_t number, std::size_t at) {
  return static_cast<char>(number * 31 + at * 7 + (at >> 8));
}
std::size_t slot_of(std::uint32_t number) { return number % slots * slot_bytes; }

void fill(std::span<char> bytes, std::uint32_t number) {
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = byte_of(number, i);
}
bool is_filled(std::span<const char> bytes, std::uint32_t number) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != byte_of(number, i)) return false;
  }
  return true;
}

// Writes `count` times with numbers, and looks at all bytes as soon as the number has come.
void write_with_numbers(RemoteMemory& from, RemoteMemory& to, std::uint32_t count) {
  std::vector<bool> seen(count, false);
  std::uint32_t written = 0;
  std::uint32_t oldest = 0;  // below it all have come
  std::uint32_t filled = 0;
  std::vector<std::uint32_t> told;
  std::vector<std::uint32_t> none;
  const Deadline deadline;
  while (oldest < count) {
    ASSERT_FALSE(deadline.passed()) << written << " written, " << oldest << " there";
    while (written < count && written < oldest + slots) {
      const std::size_t at = slot_of(written);
      const std::size_t size = size_of(written);
      if (filled == written) fill(from.bytes().subspan(at, size), filled++);
      if (!from.write({at, at, size}, written)) break;
      ++written;
    }
    const Status sent = from.progress(none);
    ASSERT_TRUE(sent.ok()) << sent.to_string();
    told.clear();
    const Status received = to.progress(told);
    ASSERT_TRUE(received.ok()) << received.to_string();
    for (const std::uint32_t number : told) {
      ASSERT_LT(number, written);
      ASSERT_FALSE(seen[number]) << number << " came twice";
      seen[number] = true;
      const auto bytes = to.bytes().subspan(slot_of(number), size_of(number));
      ASSERT_TRUE(is_filled(bytes, number)) << number << " came without its bytes";
    }
    while (oldest < count && seen[oldest]) ++oldest;
  }
  EXPECT_TRUE(none.empty());
  while (from.under_way() > 0 && !deadline.passed()) {
    ASSERT_TRUE(from.progress(none).ok());
    ASSERT_TRUE(to.progress(none).ok());
  }
  EXPECT_EQ(from.under_way(), 0u);
}

TEST_P(FabricMemory, EachWriteArrivesWithItsNumberAndAllBytes) {
  auto pair = connected(*device, address);
  ASSERT_TRUE(pair.ok()) << pair.status().to_string();
  EXPECT_EQ(pair->sender->description().rfind("libfabric " + std::string(GetParam()), 0), 0u)
      << pair->sender->description();
  for (const char byte : pair->receiver->bytes()) ASSERT_EQ(byte, 0);
  const auto count = static_cast<std::uint32_t>(drawn_cases(10000));
  write_with_numbers(*pair->sender, *pair->receiver, count);
  write_with_numbers(*pair->receiver, *pair->sender, count);
}

TEST_P(FabricMemory, AWriteMayGoElsewhere) {
  auto pair = connected(*device, address);
  ASSERT_TRUE(pair.ok()) << pair.status().to_string();
  fill(pair->sender->bytes().first(100), 7);
  std::vector<std::uint32_t> told;
  std::vector<std::uint32_t> none;
  bool written = false;
  const Deadline deadline;
  while (told.empty() && !deadline.passed()) {
    // Datagram endpoints find each other at the first attempts.
    if (!written) written = pair->sender->write({0, memory_bytes - 100, 100}, 0xfedcba98u);
    ASSERT_TRUE(pair->sender->progress(none).ok());
    ASSERT_TRUE(pair->receiver->progress(told).ok());
  }
  ASSERT_EQ(told, std::vector<std::uint32_t>{0xfedcba98u});
  EXPECT_TRUE(is_filled(pair->receiver->bytes().last(100), 7));
}

TEST_P(FabricMemory, AFullQueueSaysSo) {
  auto pair = connected(*device, address);
  ASSERT_TRUE(pair.ok()) << pair.status().to_string();
  write_with_numbers(*pair->sender, *pair->receiver, 10);
  std::uint32_t written = 0;
  constexpr std::size_t large = memory_bytes / 4;
  // Nobody receives.
  while (written < 100000 && pair->sender->write({0, 0, large}, written)) ++written;
  EXPECT_GT(written, 0u);
  EXPECT_LT(written, 100000u);
  std::vector<std::uint32_t> told;
  std::vector<std::uint32_t> none;
  const Deadline deadline;
  while ((told.size() < written || pair->sender->under_way() > 0) && !deadline.passed()) {
    const Status sent = pair->sender->progress(none);
    ASSERT_TRUE(sent.ok()) << sent.to_string();
    const Status received = pair->receiver->progress(told);
    ASSERT_TRUE(received.ok()) << received.to_string();
  }
  EXPECT_EQ(told.size(), written);
  EXPECT_EQ(pair->sender->under_way(), 0u);
}

TEST_P(FabricMemory, PlacesThatAreNone) {
  auto made = device->create(memory_bytes, memory_bytes, address);
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  const std::string& place = made->place;
  std::string other = "efa" + place.substr(place.find(':'));
  std::string zero_port = "tcp:msg:7f0000010000:00112233445566778899aabbccddeeff";
  for (const std::string& text :
       {std::string(), std::string("?"), std::string(300, ':'), place + "0", place + ":",
        place.substr(0, place.size() - 1), other, zero_port, std::string(place.size(), '\0')}) {
    const auto opened = device->open(text, memory_bytes, memory_bytes);
    EXPECT_EQ(opened.status().code(), ErrorCode::not_found)
        << text << ": " << opened.status().to_string();
  }
}

TEST_P(FabricMemory, EndsOfOneDeviceOnSeveralThreads) {
  auto pair = connected(*device, address);
  ASSERT_TRUE(pair.ok()) << pair.status().to_string();
  std::thread other([&] {
    for (int i = 0; i < 5; ++i) {
      auto made = connected(*device, address);
      ASSERT_TRUE(made.ok()) << made.status().to_string();
      write_with_numbers(*made->sender, *made->receiver, 200);
      std::thread([ended = std::move(*made)]() mutable { ended = {}; }).join();
    }
  });
  write_with_numbers(*pair->sender, *pair->receiver, static_cast<std::uint32_t>(drawn_cases(3000)));
  other.join();
}

TEST_P(FabricMemory, EndsOutliveTheirDevice) {
  auto pair = connected(*device, address);
  ASSERT_TRUE(pair.ok()) << pair.status().to_string();
  device.reset();
  write_with_numbers(*pair->sender, *pair->receiver, 100);
}

INSTANTIATE_TEST_SUITE_P(Providers, FabricMemory, testing::Values("tcp", "shm", "verbs"),
                         [](const auto& information) { return std::string(information.param); });

std::uint64_t word_at(RemoteMemory& memory, std::size_t at) {
  auto* const word = reinterpret_cast<std::uint64_t*>(memory.bytes().data() + at);
  return std::atomic_ref(*word).load(std::memory_order_acquire);
}
void set_word(RemoteMemory& memory, std::size_t at, std::uint64_t value) {
  std::memcpy(memory.bytes().data() + at, &value, sizeof(value));
}

// A ring without numbers: a payload, then the word that says that it is there; the receiver writes
// how many it has taken.
TEST_P(FabricConnection, AFlagArrivesAfterItsPayload) {
  auto pair = connected(*device, address);
  ASSERT_TRUE(pair.ok()) << pair.status().to_string();
  ASSERT_EQ(pair->sender->order(), WriteOrder::in_order);
  ASSERT_EQ(pair->receiver->order(), WriteOrder::in_order);
  RemoteMemory& sender = *pair->sender;
  RemoteMemory& receiver = *pair->receiver;
  constexpr std::uint32_t ring = slots - 1;
  constexpr std::size_t flag_at = slot_bytes - 8;
  constexpr std::size_t taken_at = ring * slot_bytes;  // in the last slot
  const auto count = static_cast<std::uint32_t>(drawn_cases(6000));
  const auto slot = [](std::uint32_t number) { return number % ring * slot_bytes; };
  const auto size = [](std::uint32_t number) { return std::min(size_of(number), slot_bytes - 8); };
  std::uint32_t written = 0;
  bool payload_is_out = false;
  std::uint32_t taken = 0;
  std::uint32_t told_back = 0;
  const Deadline deadline;
  while (taken < count) {
    ASSERT_FALSE(deadline.passed()) << written << " written, " << taken << " there";
    const Status status = pair->progress();
    ASSERT_TRUE(status.ok()) << status.to_string();
    if (written < count && written < word_at(sender, taken_at) + ring) {
      const std::size_t at = slot(written);
      if (!payload_is_out) {
        fill(sender.bytes().subspan(at, size(written)), written);
        payload_is_out = sender.write({at, at, size(written)}, std::nullopt);
      }
      if (payload_is_out) {
        set_word(sender, at + flag_at, written + 1);
        if (sender.write({at + flag_at, at + flag_at, 8}, std::nullopt)) {
          ++written;
          payload_is_out = false;
        }
      }
    }
    if (word_at(receiver, slot(taken) + flag_at) == taken + 1) {
      ASSERT_TRUE(is_filled(receiver.bytes().subspan(slot(taken), size(taken)), taken)) << taken;
      ++taken;
    }
    if (taken >= told_back + ring / 4) {
      set_word(receiver, taken_at, taken);
      if (receiver.write({taken_at, taken_at, 8}, std::nullopt)) told_back = taken;
    }
  }
}

TEST_P(FabricConnection, WhoDoesNotKnowTheCookieIsRefused) {
  auto made = device->create(memory_bytes, memory_bytes, address);
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  std::string wrong = made->place;
  wrong.back() = wrong.back() == '0' ? '1' : '0';
  auto stranger = device->open(wrong, memory_bytes, memory_bytes);
  ASSERT_TRUE(stranger.ok()) << stranger.status().to_string();
  std::vector<std::uint32_t> told;
  Status refused;
  const Deadline deadline;
  while (refused.ok() && !deadline.passed()) {
    ASSERT_TRUE(made->end->progress(told).ok());
    refused = (*stranger)->progress(told);
    EXPECT_FALSE((*stranger)->ready());
  }
  EXPECT_EQ(refused.code(), ErrorCode::connection_lost) << refused.to_string();
  EXPECT_EQ((*stranger)->progress(told).code(), ErrorCode::connection_lost);
  EXPECT_FALSE(made->end->ready());

  auto opened = device->open(made->place, memory_bytes, memory_bytes);
  ASSERT_TRUE(opened.ok()) << opened.status().to_string();
  Pair pair{std::move(made->end), std::move(*opened)};
  const Status ready = make_ready(pair);
  ASSERT_TRUE(ready.ok()) << ready.to_string();
  write_with_numbers(*pair.sender, *pair.receiver, 100);
}

TEST_P(FabricConnection, AStrangersBytesAreNoConnection) {
  if (GetParam() == verbs) GTEST_SKIP() << "its ports are no sockets";
  auto made = device->create(memory_bytes, memory_bytes, address);
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  const auto place = parse_fabric_place(made->place);
  ASSERT_TRUE(place.has_value());
  sockaddr_in listening{};
  listening.sin_family = AF_INET;
  std::memcpy(&listening.sin_addr, place->address.data(), 4);
  std::memcpy(&listening.sin_port, place->address.data() + 4, 2);
  std::vector<std::uint32_t> told;
  for (const std::size_t size : {0u, 3u, 4096u}) {
    const Descriptor stranger(::socket(AF_INET, SOCK_STREAM, 0));
    ASSERT_EQ(
        ::connect(stranger.number(), reinterpret_cast<sockaddr*>(&listening), sizeof(listening)),
        0);
    const std::string bytes(size, 'x');
    ASSERT_EQ(::send(stranger.number(), bytes.data(), size, MSG_NOSIGNAL),
              static_cast<ssize_t>(size));
    for (int i = 0; i < 200; ++i) {
      const Status waits = made->end->progress(told);
      ASSERT_TRUE(waits.ok()) << waits.to_string();
      ASSERT_FALSE(made->end->ready());
    }
  }
  auto opened = device->open(made->place, memory_bytes, memory_bytes);
  ASSERT_TRUE(opened.ok()) << opened.status().to_string();
  Pair pair{std::move(made->end), std::move(*opened)};
  const Status ready = make_ready(pair);
  ASSERT_TRUE(ready.ok()) << ready.to_string();
  write_with_numbers(*pair.sender, *pair.receiver, 100);
}

// What progress() comes to within a while.
Status failure_of(RemoteMemory& end) {
  std::vector<std::uint32_t> told;
  const Deadline deadline;
  while (!deadline.passed()) {
    HUMMER_TRY(end.progress(told));
  }
  return {};
}
bool is_of_a_lost_peer(const Status& status) {
  return status.code() == ErrorCode::peer_gone || status.code() == ErrorCode::connection_lost;
}

TEST_P(FabricConnection, APeerThatWasDestroyedIsAnError) {
  for (const bool the_sender : {false, true}) {
    for (const int writes : {0, 3}) {
      auto pair = connected(*device, address);
      ASSERT_TRUE(pair.ok()) << pair.status().to_string();
      auto& gone = the_sender ? pair->sender : pair->receiver;
      RemoteMemory& left = the_sender ? *pair->receiver : *pair->sender;
      for (int i = 0; i < writes; ++i) ASSERT_TRUE(left.write({0, 0, memory_bytes}, 1));
      for (int i = 0; i < writes; ++i) ASSERT_TRUE(gone->write({0, 0, memory_bytes}, 1));
      gone.reset();
      const Status status = failure_of(left);
      EXPECT_TRUE(is_of_a_lost_peer(status)) << status.to_string();
      std::vector<std::uint32_t> told;
      EXPECT_EQ(left.progress(told).code(), status.code());
      EXPECT_FALSE(left.write({0, 0, 8}, std::nullopt));
    }
  }
}

TEST_P(FabricConnection, APeerThatIsGoneBeforeItWasFound) {
  auto made = device->create(memory_bytes, memory_bytes, address);
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  auto waiting = device->open(made->place, memory_bytes, memory_bytes);
  ASSERT_TRUE(waiting.ok()) << waiting.status().to_string();
  made->end.reset();
  Status status = failure_of(**waiting);
  EXPECT_TRUE(is_of_a_lost_peer(status)) << status.to_string();

  auto late = device->open(made->place, memory_bytes, memory_bytes);
  status = late.ok() ? failure_of(**late) : late.status();
  EXPECT_FALSE(status.ok());
}

TEST_P(FabricConnection, OverIpv6) {
  if (GetParam() == verbs) GTEST_SKIP() << "no address of it is known";
  if (const auto made = device->create(memory_bytes, memory_bytes, "::1"); !made.ok()) {
    GTEST_SKIP() << made.status().to_string();
  }
  auto pair = connected(*device, "::1");
  ASSERT_TRUE(pair.ok()) << pair.status().to_string();
  write_with_numbers(*pair->sender, *pair->receiver, 100);
}

TEST_P(FabricConnection, WhatTheOptionsSayOfOrder) {
  auto pair = connected(*device, address);
  ASSERT_TRUE(pair.ok()) << pair.status().to_string();
  EXPECT_EQ(pair->sender->order(), WriteOrder::in_order);
  auto ascending = make_fabric_memory_device({.provider = GetParam(), .last_byte = true});
  ASSERT_TRUE(ascending.ok());
  auto made = (*ascending)->create(memory_bytes, memory_bytes, address);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->end->order(), WriteOrder::bytes);
}

TEST_P(FabricConnection, AnAddressThatIsNotOfThisMachine) {
  for (const char* other : {"", "203.0.113.1", "nowhere"}) {
    const auto made = device->create(memory_bytes, memory_bytes, other);
    EXPECT_EQ(made.status().code(), ErrorCode::not_found)
        << other << ": " << made.status().to_string();
  }
}

INSTANTIATE_TEST_SUITE_P(Providers, FabricConnection, testing::Values("tcp", "verbs"),
                         [](const auto& information) { return std::string(information.param); });

TEST(FabricDevices, ProvidersThatAreNotThere) {
  const auto unknown = make_fabric_memory_device({.provider = "pigeons"});
  EXPECT_EQ(unknown.status().code(), ErrorCode::not_found) << unknown.status().to_string();
  EXPECT_NE(unknown.status().message().find("pigeons"), std::string::npos);
  const auto real = make_fabric_memory_device({});
  if (real.ok()) GTEST_SKIP() << "this machine has a device";
  EXPECT_EQ(real.status().code(), ErrorCode::not_found) << real.status().to_string();
  EXPECT_EQ(real.status().message().find("this machine has no RDMA device"), 0u);
}

}  // namespace
}  // namespace hummer::fabric_memory_test
