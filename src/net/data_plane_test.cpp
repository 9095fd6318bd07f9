// The data plane and strangers, on Linux and simulated.
#include "net/data_plane.hpp"

#include "net/handshake.hpp"
#include "net/net_test_rig.hpp"
#include "platform/random.hpp"

namespace hummer::data_plane_test {
namespace {

const TypeDescriptor& numbers() { return type_of<std::uint64_t>(); }

class DataPlaneTest : public testing::TestWithParam<RigOptions> {};

Task<std::unique_ptr<ByteStream>> connect_raw(Rig& rig) {
  const Result<SocketAddress> address = rig.platform().network().resolve(rig.address());
  EXPECT_TRUE(address.ok());
  const ConnectOptions options;
  Result<std::unique_ptr<ByteStream>> stream =
      co_await rig.platform().network().connect(*address, options);
  EXPECT_TRUE(stream.ok()) << stream.status().to_string();
  co_return std::move(*stream);
}

// Reads until the other side closes.
Task<std::string> read_to_end(ByteStream& stream) {
  std::string all;
  char bytes[256];
  while (true) {
    const Result<std::size_t> got = co_await stream.read_some(bytes);
    if (!got.ok() || *got == 0) co_return all;
    all.append(bytes, *got);
  }
}

// How a sender fails that was opened with these.
struct Attempt {
  ChannelKey key;
  const TypeDescriptor* type = &numbers();
  NetworkSettings settings;
};

Task<void> expect_refusal(DataPlane& plane, Rig& rig, Attempt attempt, ErrorCode code) {
  WakeEvent event;
  std::unique_ptr<TransportSender> sender =
      plane.open_sender(rig.address(), attempt.key, *attempt.type, attempt.settings, "target");
  sender->attach(rig.executor(), event);
  const bool failed = co_await eventually([&] { return !sender->failure().ok(); });
  EXPECT_TRUE(failed);
  EXPECT_EQ(sender->failure().code(), code) << sender->failure().to_string();
  EXPECT_NE(sender->failure().message().find("target"), std::string::npos);
}

DataPlaneOptions fast_options() {
  DataPlaneOptions options;
  options.token = "secret";
  options.handshake_timeout_ns = milliseconds(100);
  options.unknown_channel_timeout_ns = milliseconds(100);
  options.receiver_timeout_ns = milliseconds(200);
  options.connect_timeout_ns = milliseconds(300);
  return options;
}

// A plane with short times, beside the rig's own.
class FastPlane {
 public:
  explicit FastPlane(Rig& rig) : plane(rig.platform(), rig.executor(), fast_options()) {
    EXPECT_TRUE(plane.start().ok());
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(plane.address().port); }
  DataPlane plane;
};

Task<void> garbage_script(Rig& rig) {
  for (int i = 0; i < 20; ++i) {
    std::unique_ptr<ByteStream> stream = co_await connect_raw(rig);
    std::string noise(200, '\0');
    for (char& byte : noise) byte = static_cast<char>(rig.platform().random().next());
    if (i % 2 == 0) noise = encode_credit(3, 4) + noise;  // a frame, but no handshake
    const Status written = co_await stream->write_all(noise);
    (void)written;
    const std::string answer = co_await read_to_end(*stream);
    EXPECT_EQ(answer, "");
  }
  const bool counted = co_await eventually([&] { return rig.plane().counts().garbage == 20; });
  EXPECT_TRUE(counted);
  const bool ended = co_await eventually([&] { return rig.plane().counts().in_progress == 0; });
  EXPECT_TRUE(ended);
}

TEST_P(DataPlaneTest, GarbageIsDroppedAndCounted) {
  Rig rig(GetParam());
  rig.run(garbage_script(rig));
}

Task<void> slow_script(Rig& rig) {
  FastPlane fast(rig);
  const Result<SocketAddress> address = rig.platform().network().resolve(fast.address());
  const ConnectOptions options;
  Result<std::unique_ptr<ByteStream>> silent =
      co_await rig.platform().network().connect(*address, options);
  Result<std::unique_ptr<ByteStream>> slow =
      co_await rig.platform().network().connect(*address, options);
  EXPECT_TRUE(silent.ok() && slow.ok());
  const std::string hello = encode_hello({});
  const Status part = co_await (*slow)->write_all(std::string_view(hello).substr(0, 70));
  EXPECT_TRUE(part.ok());
  const std::string first = co_await read_to_end(**silent);
  const std::string second = co_await read_to_end(**slow);
  EXPECT_EQ(first + second, "");
  EXPECT_EQ(fast.plane.counts().timed_out, 2u);
}

TEST_P(DataPlaneTest, HalfAHelloIsDroppedInTime) {
  Rig rig(GetParam());
  rig.run(slow_script(rig));
}

Task<void> refusal_script(Rig& rig) {
  FastPlane fast(rig);
  // Nobody receives that channel: the rig's plane would wait for ten seconds.
  WakeEvent event;
  std::unique_ptr<TransportSender> lonely =
      fast.plane.open_sender(fast.address(), {9, 9, 9}, numbers(), {}, "target");
  lonely->attach(rig.executor(), event);
  const bool failed = co_await eventually([&] { return !lonely->failure().ok(); });
  EXPECT_TRUE(failed);
  EXPECT_EQ(lonely->failure().code(), ErrorCode::not_found) << lonely->failure().to_string();
  lonely.reset();

  DataPlaneOptions other = fast_options();
  other.token = "guess";
  DataPlane stranger(rig.platform(), rig.executor(), other);
  // Named: GCC 12 mishandles braced temporaries in the arguments of an awaited coroutine.
  const Attempt guess{{1, 1, 1}, &numbers(), {}};
  co_await expect_refusal(stranger, rig, guess, ErrorCode::permission_denied);

  WakeEvent receiver_event;
  auto wrong_type = rig.plane().open_receiver({2, 1, 1}, type_of<double>(), {}, "source");
  wrong_type->attach(rig.executor(), receiver_event);
  const Attempt typed{{2, 1, 1}, &numbers(), {}};
  co_await expect_refusal(rig.plane(), rig, typed, ErrorCode::protocol_error);
  Received received;
  const bool told = co_await eventually([&] { return wrong_type->poll(received) == Poll::failed; });
  EXPECT_TRUE(told);
  EXPECT_NE(wrong_type->failure().message().find("f64"), std::string::npos);

  auto wrong_size = rig.plane().open_receiver({2, 2, 1}, numbers(), {}, "source");
  NetworkSettings large;
  large.buffer_size_bytes = 1 << 20;
  const Attempt sized{{2, 2, 1}, &numbers(), large};
  co_await expect_refusal(rig.plane(), rig, sized, ErrorCode::protocol_error);
  EXPECT_EQ(rig.plane().counts().refused, 3u);
  EXPECT_EQ(rig.plane().counts().handed_over, 0u);
}

TEST_P(DataPlaneTest, SendersThatDoNotFitAreRefusedWithTheReason) {
  Rig rig(GetParam());
  rig.run(refusal_script(rig));
}

Task<void> late_receiver_script(Rig& rig) {
  WakeEvent sender_event;
  WakeEvent receiver_event;
  auto sender = rig.plane().open_sender(rig.address(), {3, 1, 1}, numbers(), {}, "target");
  sender->attach(rig.executor(), sender_event);
  co_await sleep_for(milliseconds(50));
  EXPECT_TRUE(sender->acquire(64).empty());
  auto receiver = rig.plane().open_receiver({3, 1, 1}, numbers(), {}, "source");
  receiver->attach(rig.executor(), receiver_event);
  const bool connected = co_await eventually([&] { return !sender->acquire(64).empty(); });
  EXPECT_TRUE(connected);
  const bool handed_over =
      co_await eventually([&] { return rig.plane().counts().handed_over == 1; });
  EXPECT_TRUE(handed_over);
}

TEST_P(DataPlaneTest, AReceiverMayComeAfterItsSender) {
  Rig rig(GetParam());
  rig.run(late_receiver_script(rig));
}

Task<void> nobody_script(Rig& rig) {
  FastPlane fast(rig);
  WakeEvent event;
  auto receiver = fast.plane.open_receiver({4, 1, 1}, numbers(), {}, "source");
  receiver->attach(rig.executor(), event);
  Received received;
  const bool failed = co_await eventually([&] { return receiver->poll(received) == Poll::failed; });
  EXPECT_TRUE(failed);
  EXPECT_EQ(receiver->failure().code(), ErrorCode::timed_out);

  // No listener at all.
  const std::string address = fast.address();
  fast.plane.stop();
  co_await let_pass();
  auto sender = fast.plane.open_sender(address, {4, 2, 1}, numbers(), {}, "target");
  WakeEvent sender_event;
  sender->attach(rig.executor(), sender_event);
  const bool refused = co_await eventually([&] { return !sender->failure().ok(); });
  EXPECT_TRUE(refused);
  EXPECT_EQ(sender->failure().code(), ErrorCode::connection_refused)
      << sender->failure().to_string();
}

TEST_P(DataPlaneTest, EndsThatNobodyMeetsFail) {
  Rig rig(GetParam());
  rig.run(nobody_script(rig));
}

Task<void> stop_script(Rig& rig) {
  WakeEvent event;
  auto receiver = rig.plane().open_receiver({5, 1, 1}, numbers(), {}, "source");
  receiver->attach(rig.executor(), event);
  std::unique_ptr<ByteStream> stream = co_await connect_raw(rig);
  const bool begun = co_await eventually([&] { return rig.plane().counts().in_progress == 1; });
  EXPECT_TRUE(begun);
  rig.plane().stop();
  Received received;
  const bool failed = co_await eventually([&] { return receiver->poll(received) == Poll::failed; });
  EXPECT_TRUE(failed);
  EXPECT_EQ(receiver->failure().code(), ErrorCode::cancelled);
  const std::string answer = co_await read_to_end(*stream);
  EXPECT_EQ(answer, "");
  EXPECT_EQ(rig.plane().counts().in_progress, 0u);
}

TEST_P(DataPlaneTest, StopEndsWhatIsInProgress) {
  Rig rig(GetParam());
  rig.run(stop_script(rig));
}

TEST(ConnectOptionsTest, AnAddressIsBoundAndANameIsAnInterface) {
  EXPECT_EQ(connect_options("10.0.0.7").bind_address, "10.0.0.7:0");
  EXPECT_EQ(connect_options("fe80::1").bind_address, "[fe80::1]:0");
  EXPECT_EQ(connect_options("eth1").interface, "eth1");
  EXPECT_EQ(connect_options("eth1").bind_address, "");
  EXPECT_EQ(connect_options("").interface, "");
}

INSTANTIATE_TEST_SUITE_P(Forms, DataPlaneTest,
                         testing::Values(RigOptions{Form::tcp}, RigOptions{Form::simulated_tcp, 1},
                                         RigOptions{Form::simulated_tcp, 2},
                                         RigOptions{Form::simulated_tcp, 3}),
                         rig_name);

}  // namespace
}  // namespace hummer::data_plane_test
