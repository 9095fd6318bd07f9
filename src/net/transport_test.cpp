// The transport contract, for every form.
#include "net/transport.hpp"

#include <cstring>
#include <vector>

#include "net/net_test_rig.hpp"

namespace hummer::transport_test {
namespace {

NetworkSettings small_settings(int credits = 3) {
  NetworkSettings settings;
  settings.buffer_size_bytes = 1024;
  settings.credits = credits;
  return settings;
}

struct Channel {
  explicit Channel(Rig& rig, NetworkSettings settings = small_settings())
      : ends(rig.open(type_of<std::uint64_t>(), settings)) {
    ends.sender->attach(rig.executor(), sender_event);
    ends.receiver->attach(rig.executor(), receiver_event);
  }

  // A whole buffer that starts with `value`; false without credit.
  bool publish(std::uint64_t value, bool more = false) {
    const std::span<char> room = ends.sender->acquire(ends.sender->capacity());
    if (room.empty()) return false;
    std::memset(room.data(), 0, room.size());
    std::memcpy(room.data(), &value, sizeof value);
    ends.sender->publish(room.size() / transport_alignment * transport_alignment, more);
    return true;
  }
  bool control(std::uint64_t value, bool last = false) {
    char bytes[max_control_bytes] = {};
    std::memcpy(bytes, &value, sizeof value);
    return ends.sender->publish_control(bytes, last);
  }
  // Polls; on bytes stores their number and leaves them to be released.
  Poll poll() {
    Received received;
    const Poll polled = ends.receiver->poll(received);
    if (polled == Poll::bytes) {
      std::memcpy(&number, received.bytes.data(), sizeof number);
      const auto at = reinterpret_cast<std::uintptr_t>(received.bytes.data());
      EXPECT_TRUE(!received.buffer || at % transport_alignment == 0);
    }
    return polled;
  }
  // Polls and keeps the credit.
  Poll keep() {
    Received received;
    const Poll polled = ends.receiver->poll(received);
    if (polled == Poll::bytes) ends.receiver->keep_credit();
    if (polled == Poll::barrier) barrier = std::move(received);
    return polled;
  }
  Poll take() {
    const Poll polled = poll();
    if (polled == Poll::bytes) ends.receiver->release();
    return polled;
  }

  WakeEvent sender_event;
  WakeEvent receiver_event;
  TransportPair ends;
  std::uint64_t number = 0;
  Received barrier;
};

class TransportTest : public TestOfForms {};

Task<void> fill_up(Channel& channel, std::uint64_t& published) {
  const bool first = co_await eventually([&] { return channel.publish(published); });
  EXPECT_TRUE(first);
  ++published;
  for (int i = 0; i < 50; ++i) {
    while (channel.publish(published)) ++published;
    co_await sleep_for(milliseconds(1));
  }
}

Task<void> fill_up_without_credit(Channel& channel) {
  co_await let_pass();
  EXPECT_FALSE(channel.publish(99)) << "the receiver has kept the credits";
}

Task<void> credits_script(Rig& rig) {
  Channel channel(rig);
  std::uint64_t published = 0;
  co_await fill_up(channel, published);
  EXPECT_EQ(published, 3u);
  for (std::uint64_t i = 0; i < 3; ++i) {
    const bool came = co_await eventually([&] { return channel.take() == Poll::bytes; });
    EXPECT_TRUE(came);
    EXPECT_EQ(channel.number, i);
  }
  EXPECT_EQ(channel.poll(), Poll::nothing);
  co_await fill_up(channel, published);
  EXPECT_EQ(published, 6u);
}

TEST_P(TransportTest, CreditsBoundWhatIsUnderWay) {
  Rig rig(GetParam());
  rig.run(credits_script(rig));
}

// Where bytes travel, what is published with more to come leaves together with that.
Task<void> more_script(Rig& rig) {
  Channel channel(rig);
  const bool first = co_await eventually([&] { return channel.publish(1, true); });
  EXPECT_TRUE(first);
  if (rig.options().form != Form::memory) {
    for (int i = 0; i < 20; ++i) {
      co_await sleep_for(milliseconds(1));
      EXPECT_EQ(channel.poll(), Poll::nothing);
    }
  }
  EXPECT_TRUE(channel.control(2));
  for (const std::uint64_t expected : {1, 2}) {
    const bool came = co_await eventually([&] { return channel.take() == Poll::bytes; });
    EXPECT_TRUE(came);
    EXPECT_EQ(channel.number, expected);
  }
}

TEST_P(TransportTest, WhatIsPublishedTogetherLeavesTogether) {
  Rig rig(GetParam());
  rig.run(more_script(rig));
}

// Without credit a barrier still comes, behind what was published, and brings what it passes.
Task<void> barrier_script(Rig& rig, std::size_t in_flight_bytes) {
  Channel channel(rig);
  std::uint64_t published = 0;
  co_await fill_up(channel, published);
  EXPECT_EQ(published, 3u);
  std::string in_flight(in_flight_bytes, 'x');
  if (in_flight_bytes > 0) in_flight.back() = 'y';
  channel.ends.sender->send_out_of_band(7, in_flight);
  for (int i = 0; i < 3; ++i) {
    const bool came = co_await eventually([&] { return channel.keep() == Poll::bytes; });
    EXPECT_TRUE(came);
  }
  const bool barrier_came = co_await eventually([&] { return channel.keep() == Poll::barrier; });
  EXPECT_TRUE(barrier_came);
  EXPECT_EQ(channel.barrier.epoch, 7u);
  EXPECT_EQ(channel.barrier.in_flight, in_flight);
  co_await fill_up_without_credit(channel);
  for (int i = 0; i < 3; ++i) channel.ends.receiver->give_back();
  co_await fill_up(channel, published);
  EXPECT_EQ(published, 6u);
}

TEST_P(TransportTest, ABarrierNeedsNoCreditAndCreditsCanBeKept) {
  for (const std::size_t in_flight_bytes : {0, 1, 5000}) {
    Rig rig(GetParam());
    rig.run(barrier_script(rig, in_flight_bytes));
  }
}

Task<void> control_script(Rig& rig) {
  Channel channel(rig);
  std::uint64_t published = 0;
  co_await fill_up(channel, published);
  EXPECT_TRUE(channel.control(published++));
  EXPECT_TRUE(channel.control(published++));
  EXPECT_FALSE(channel.publish(99));
  for (std::uint64_t i = 0; i < published; ++i) {
    const bool came = co_await eventually([&] { return channel.take() == Poll::bytes; });
    EXPECT_TRUE(came);
    EXPECT_EQ(channel.number, i);
  }
}

TEST_P(TransportTest, ControlGoesBehindDataWithoutDataCredit) {
  Rig rig(GetParam());
  rig.run(control_script(rig));
}

Task<void> control_bound_script(Rig& rig) {
  Channel channel(rig, small_settings(1));
  std::uint64_t published = 0;
  co_await fill_up(channel, published);
  int controls = 0;
  while (controls < 1000 && channel.control(7)) ++controls;
  EXPECT_GE(controls, 4);
  EXPECT_LT(controls, 1000);
}

TEST_P(TransportTest, ControlsAreBoundedToo) {
  Rig rig(GetParam());
  rig.run(control_bound_script(rig));
}

Task<void> end_script(Rig& rig) {
  Channel channel(rig);
  const bool first = co_await eventually([&] { return channel.publish(0); });
  EXPECT_TRUE(first);
  EXPECT_TRUE(channel.control(1, true));
  co_await let_pass();
  EXPECT_FALSE(channel.ends.sender->finished());
  const bool data = co_await eventually([&] { return channel.take() == Poll::bytes; });
  EXPECT_TRUE(data);
  co_await let_pass();
  EXPECT_FALSE(channel.ends.sender->finished());
  const bool control = co_await eventually([&] { return channel.take() == Poll::bytes; });
  EXPECT_TRUE(control);
  const bool finished = co_await eventually(
      [&] { return channel.ends.receiver->flush() && channel.ends.sender->finished(); });
  EXPECT_TRUE(finished);
  EXPECT_EQ(channel.poll(), Poll::closed);
  channel.ends.sender.reset();
  EXPECT_EQ(channel.poll(), Poll::closed);
}

TEST_P(TransportTest, FinishedWhenAllIsReleased) {
  Rig rig(GetParam());
  rig.run(end_script(rig));
}

Task<void> dead_sender_script(Rig& rig) {
  Channel channel(rig);
  const bool first = co_await eventually([&] { return channel.publish(5); });
  EXPECT_TRUE(first);
  const bool came = co_await eventually([&] { return channel.take() == Poll::bytes; });
  EXPECT_TRUE(came);
  channel.ends.sender.reset();
  const bool failed = co_await eventually([&] { return channel.take() == Poll::failed; });
  EXPECT_TRUE(failed);
  EXPECT_EQ(channel.ends.receiver->failure().code(), ErrorCode::peer_gone);
  EXPECT_EQ(channel.poll(), Poll::failed);
}

TEST_P(TransportTest, ReceiverLearnsOfTheSendersEnd) {
  Rig rig(GetParam());
  rig.run(dead_sender_script(rig));
}

Task<void> dead_receiver_script(Rig& rig) {
  Channel channel(rig);
  std::uint64_t published = 0;
  co_await fill_up(channel, published);
  channel.ends.receiver.reset();
  const bool failed = co_await eventually([&] { return !channel.ends.sender->failure().ok(); });
  EXPECT_TRUE(failed);
  // A socket that is closed with bytes unread resets the connection, and its last words are lost.
  const ErrorCode code = channel.ends.sender->failure().code();
  EXPECT_TRUE(code == ErrorCode::peer_gone || code == ErrorCode::connection_lost);
  EXPECT_FALSE(channel.publish(1));
  EXPECT_FALSE(channel.control(1));
}

TEST_P(TransportTest, SenderLearnsOfTheReceiversEnd) {
  Rig rig(GetParam());
  rig.run(dead_receiver_script(rig));
}

Task<void> abandon_script(Rig& rig) {
  Channel channel(rig);
  std::uint64_t published = 0;
  co_await fill_up(channel, published);
  channel.ends.sender->abandon({ErrorCode::user_function_failed, "boiler on fire"});
  const bool failed = co_await eventually([&] { return channel.take() == Poll::failed; });
  EXPECT_TRUE(failed);
  EXPECT_NE(channel.ends.receiver->failure().message().find("boiler on fire"), std::string::npos);
}

TEST_P(TransportTest, TheReasonOfAnEarlyEndReachesThePeer) {
  Rig rig(GetParam());
  rig.run(abandon_script(rig));
}

Task<void> notified_script(Rig& rig) {
  Channel channel(rig, small_settings(1));
  std::uint64_t published = 0;
  co_await fill_up(channel, published);
  // The receiver sleeps on its event alone until the bytes come.
  while (true) {
    channel.receiver_event.prepare_wait();
    const Poll polled = channel.take();
    EXPECT_NE(polled, Poll::failed);
    if (polled != Poll::nothing) {
      channel.receiver_event.cancel_wait();
      break;
    }
    co_await channel.receiver_event.wait();
  }
  // And the sender on its own until its credit is back.
  while (true) {
    channel.sender_event.prepare_wait();
    if (channel.publish(1)) {
      channel.sender_event.cancel_wait();
      break;
    }
    co_await channel.sender_event.wait();
  }
}

TEST_P(TransportTest, AnEndThatWaitsIsNotified) {
  Rig rig(GetParam());
  rig.run(notified_script(rig));
}

INSTANTIATE_TEST_SUITE_P(
    Forms, TransportTest,
    testing::Values(RigOptions{Form::memory}, RigOptions{Form::tcp}, RigOptions{Form::shm},
                    RigOptions{Form::simulated_shm, 1}, RigOptions{Form::simulated_shm, 2},
                    RigOptions{Form::rdma}, RigOptions{Form::simulated_rdma, 1},
                    RigOptions{Form::simulated_rdma, 2, false, WriteOrder::none},
                    RigOptions{Form::simulated_rdma, 3, false, WriteOrder::bytes},
                    RigOptions{Form::simulated_tcp, 1}, RigOptions{Form::simulated_tcp, 2},
                    RigOptions{Form::simulated_tcp, 3}, RigOptions{Form::simulated_tcp, 4}),
    rig_name);

Task<void> turned_bit_script(Rig& rig, SimulatedPlatform& node) {
  Channel channel(rig);
  const bool first = co_await eventually([&] { return channel.publish(1); });
  EXPECT_TRUE(first);
  const bool came = co_await eventually([&] { return channel.take() == Poll::bytes; });
  EXPECT_TRUE(came);
  node.simulation().corrupt(node, node, 1);
  (void)channel.publish(2);
  const bool failed = co_await eventually([&] { return channel.take() == Poll::failed; });
  EXPECT_TRUE(failed);
  const Status& why = channel.ends.receiver->failure();
  EXPECT_EQ(why.code(), ErrorCode::protocol_error);
  EXPECT_NE(why.message().find("damaged"), std::string::npos) << why.to_string();
  EXPECT_NE(why.message().find("127.0.0.1:"), std::string::npos) << why.to_string();
}

// Also where the bit is in no header: a payload has a check of its own.
TEST(SimulatedTransport, ATurnedBitEndsTheChannelByName) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Rig rig({.form = Form::simulated_tcp, .seed = seed}, {.partial_transfer_rate = 0});
    rig.run(turned_bit_script(rig, static_cast<SimulatedPlatform&>(rig.platform())));
  }
}

}  // namespace
}  // namespace hummer::transport_test
