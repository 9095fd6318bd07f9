// Rings in shared memory beyond the contract that all transports keep (transport_test.cpp): slots
// that are held, memory that a peer has damaged, and who gets a ring at all.
#include "net/ring_transport.hpp"

#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "net/net_test_rig.hpp"
#include "platform/random.hpp"

namespace hummer::ring_transport_test {
namespace {

TransportOptions small_options(int credits = 4) {
  TransportOptions options;
  options.buffer_size_bytes = 1024;
  options.credits = credits;
  return options;
}

// Both ends, and the memory between them as a third process would see it.
struct Ring {
  std::unique_ptr<TransportSender> sender;
  std::unique_ptr<TransportReceiver> receiver;
  std::unique_ptr<SharedSegment> seen;
  WakeEvent sender_event;
  WakeEvent receiver_event;

  bool publish(std::uint64_t value, std::size_t bytes = 64) {
    const std::span<char> room = sender->acquire(bytes);
    if (room.empty()) return false;
    std::memset(room.data(), static_cast<int>(value & 0xff), bytes);
    std::memcpy(room.data(), &value, sizeof value);
    sender->publish(bytes, false);
    return true;
  }
  // Polls and gives the credit back; what came stays in `received`.
  Poll take(Received& received) {
    const Poll polled = receiver->poll(received);
    if (polled == Poll::bytes) receiver->release();
    return polled;
  }
};

std::uint64_t number_in(const Received& received) {
  std::uint64_t number = 0;
  std::memcpy(&number, received.bytes.data(), sizeof number);
  return number;
}

Task<void> accept_one(Listener& listener, std::unique_ptr<ByteStream>* into, WakeEvent* came) {
  Result<std::unique_ptr<ByteStream>> stream = co_await listener.accept();
  EXPECT_TRUE(stream.ok());
  *into = std::move(*stream);
  came->notify();
}

struct Storages {
  RingStorage sender;
  RingStorage receiver;
};

Storages shared_storages(Rig& rig, const TransportOptions& options,
                         std::unique_ptr<SharedSegment>& seen) {
  SharedMemory& memory = rig.platform().shared_memory();
  const std::size_t bytes = ring_shape(options).segment_bytes();
  Result<MadeSegment> made = memory.create(bytes);
  EXPECT_TRUE(made.ok()) << made.status().to_string();
  Result<std::unique_ptr<SharedSegment>> opened = memory.open(made->place, bytes);
  EXPECT_TRUE(opened.ok()) << opened.status().to_string();
  seen = std::move(*memory.open(made->place, bytes));
  return {std::move(*opened), std::move(made->segment)};
}

Task<Storages> remote_storages(Rig& rig, TransportOptions options) {
  const std::size_t bytes = ring_shape(options).mirrored_bytes();
  Result<MadeRemoteMemory> made = rig.device()->create(bytes, options.capacity(), "127.0.0.1");
  EXPECT_TRUE(made.ok()) << made.status().to_string();
  Result<std::unique_ptr<RemoteMemory>> opened =
      rig.device()->open(made->place, bytes, options.capacity());
  EXPECT_TRUE(opened.ok()) << opened.status().to_string();
  const auto connect = [&] {
    const Status here = made->end->connect(), there = (*opened)->connect();
    EXPECT_TRUE(here.ok()) << here.to_string();
    EXPECT_TRUE(there.ok()) << there.to_string();
  };
  const bool opener = co_await eventually([&] { return connect(), (*opened)->ready(); });
  EXPECT_TRUE(opener);
  EXPECT_TRUE(made->end->answered((*opened)->answer()).ok());
  const bool maker = co_await eventually([&] { return connect(), made->end->ready(); });
  EXPECT_TRUE(maker);
  Storages storages;
  storages.sender = RingStorage(std::shared_ptr<RemoteMemory>(std::move(*opened)));
  storages.receiver = RingStorage(std::shared_ptr<RemoteMemory>(std::move(made->end)));
  co_return storages;
}

Task<std::unique_ptr<Ring>> make_ring(Rig& rig, TransportOptions options) {
  Network& network = rig.platform().network();
  Result<std::unique_ptr<Listener>> listener = network.listen(*parse_socket_address("127.0.0.1:0"));
  EXPECT_TRUE(listener.ok());
  std::unique_ptr<ByteStream> accepted;
  WakeEvent came;
  rig.executor().spawn(accept_one(**listener, &accepted, &came));
  const ConnectOptions options_of_connection;
  Result<std::unique_ptr<ByteStream>> connected =
      co_await network.connect((*listener)->local_address(), options_of_connection);
  EXPECT_TRUE(connected.ok());
  const bool there = co_await eventually([&] { return accepted != nullptr; });
  EXPECT_TRUE(there);
  auto ring = std::make_unique<Ring>();
  Storages storages;
  if (rig.device() != nullptr) {
    storages = co_await remote_storages(rig, options);
  } else {
    storages = shared_storages(rig, options, ring->seen);
  }
  ring->sender = make_ring_sender(std::move(*connected), std::move(storages.sender), options);
  ring->receiver = make_ring_receiver(std::move(accepted), std::move(storages.receiver), options);
  ring->sender->attach(rig.executor(), ring->sender_event);
  ring->receiver->attach(rig.executor(), ring->receiver_event);
  co_return ring;
}

class RingTransport : public TestOfForms {};
// What stands in memory that both ends see.
class SharedRing : public TestOfForms {};

// Whoever gets a batch may keep it as long as he likes, and many of them.
Task<void> held_script(Rig& rig, int credits) {
  std::unique_ptr<Ring> ring = co_await make_ring(rig, small_options(credits));
  std::vector<Received> held;
  for (std::uint64_t i = 0; i < 200; ++i) {
    const bool published = co_await eventually([&] { return ring->publish(i, 960); });
    EXPECT_TRUE(published) << i;
    if (!published) co_return;
    Received received;
    const bool came = co_await eventually([&] { return ring->take(received) == Poll::bytes; });
    EXPECT_TRUE(came);
    held.push_back(std::move(received));
  }
  for (std::uint64_t i = 0; i < held.size(); ++i) {
    EXPECT_TRUE(held[i].buffer);
    EXPECT_EQ(number_in(held[i]), i);
    EXPECT_EQ(held[i].bytes.back(), static_cast<char>(i));
    EXPECT_TRUE(held[i].buffer->contains(held[i].bytes.data(), held[i].bytes.size()));
  }
  // Also beyond the channel's end.
  ring.reset();
  EXPECT_EQ(number_in(held[0]), 0u);
}

TEST_P(RingTransport, BuffersThatAreKeptDoNotStopTheChannel) {
  for (const int credits : {1, 2, 3, 16}) {
    Rig rig(GetParam());
    rig.run(held_script(rig, credits));
  }
}

// Messages of drawn sizes, kept for drawn times and dropped in a drawn order; controls and barriers
// between them. All arrive in order, and what is held keeps its bytes.
Task<void> drawn_script(Rig& rig, std::uint64_t seed) {
  Random random(seed);
  std::unique_ptr<Ring> ring =
      co_await make_ring(rig, small_options(1 + static_cast<int>(random.below(8))));
  std::map<std::uint64_t, Received> held;
  std::deque<std::string> published;
  int credits_kept = 0;
  std::uint64_t next = 0, seen = 0;
  std::string barrier;
  while (seen < 2000) {
    switch (random.below(8)) {
      case 0:
      case 1:
      case 2: {
        const std::size_t bytes = 64 * (1 + random.below(15));
        const std::span<char> room = ring->sender->acquire(bytes);
        if (room.empty()) break;
        std::memset(room.data(), static_cast<int>(next & 0xff), bytes);
        ring->sender->publish(bytes, random.chance(0.3));
        published.push_back(std::string(bytes, static_cast<char>(next & 0xff)));
        ++next;
        break;
      }
      case 3: {
        const std::string bytes(max_control_bytes, static_cast<char>(next & 0xff));
        if (!ring->sender->publish_control(bytes, false)) break;
        published.push_back(bytes);
        ++next;
        break;
      }
      case 4:
        if (!random.chance(0.1)) break;
        barrier = "barrier" + std::to_string(next) + std::string(random.below(3000), 'x');
        ring->sender->send_out_of_band(next + 1, barrier);
        published.push_back(barrier);
        break;
      case 5:
        while (credits_kept > 0) {
          ring->receiver->give_back();
          --credits_kept;
        }
        break;
      case 6:
        if (!held.empty()) {
          const auto at = std::next(held.begin(), static_cast<long>(random.below(held.size())));
          const char first = at->second.bytes.front();
          EXPECT_EQ(at->second.bytes, std::string(at->second.bytes.size(), first));
          held.erase(at);
        }
        break;
      default: {
        Received received;
        const Poll polled = ring->receiver->poll(received);
        EXPECT_NE(polled, Poll::failed) << ring->receiver->failure().to_string();
        if (polled == Poll::failed) co_return;
        if (polled == Poll::nothing) {
          // Whatever was published with more to come is there when something else is.
          if (random.chance(0.2)) co_await sleep_for(microseconds(50));
          break;
        }
        EXPECT_FALSE(published.empty());
        const std::string expected = std::move(published.front());
        published.pop_front();
        ++seen;
        if (polled == Poll::barrier) {
          EXPECT_EQ(received.in_flight, expected);
          break;
        }
        EXPECT_EQ(received.bytes, expected) << seen;
        if (random.chance(0.2)) {
          ring->receiver->keep_credit();
          ++credits_kept;
        } else {
          // In order: those that are kept go first.
          ring->receiver->keep_credit();
          ++credits_kept;
          while (credits_kept > 0) {
            ring->receiver->give_back();
            --credits_kept;
          }
        }
        if (received.buffer && random.chance(0.3)) held.emplace(seen, std::move(received));
      }
    }
  }
}

TEST_P(RingTransport, WhatIsPublishedArrivesInOrderHoweverLongItIsHeld) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Rig rig(GetParam());
    rig.run(drawn_script(rig, seed + 1000 * GetParam().seed));
  }
}

// A peer that has lost its mind: whatever stands in the memory, an end goes on or fails with a
// protocol error that names the peer. It never reads beyond the segment, and never hangs.
Task<void> damage_script(Rig& rig, std::uint64_t seed) {
  Random random(seed);
  std::unique_ptr<Ring> ring = co_await make_ring(rig, small_options());
  std::uint64_t published = 0;
  const std::span<char> bytes = ring->seen->bytes();
  for (int step = 0; step < 400; ++step) {
    if (random.chance(0.5)) published += ring->publish(published, 64 * (1 + random.below(15)));
    if (random.chance(0.05)) {
      // Mostly in what is not payload: that is four pages at the most here.
      const std::size_t end =
          random.chance(0.9) ? std::min<std::size_t>(bytes.size(), 16384) : bytes.size();
      const std::size_t at = random.below(end / 8) * 8;
      std::uint64_t word = random.chance(0.5) ? random.next() : random.below(16);
      if (random.chance(0.3)) word |= std::uint64_t{random.below(4)} << 32;
      std::memcpy(bytes.data() + at, &word, sizeof word);
    }
    Received received;
    if (random.chance(0.5) && ring->take(received) == Poll::failed) break;
    (void)ring->sender->finished();
    if (!ring->sender->failure().ok()) break;
  }
  for (const Status& failure : {ring->sender->failure(), ring->receiver->failure()}) {
    if (failure.ok()) continue;
    EXPECT_TRUE(failure.code() == ErrorCode::protocol_error ||
                failure.code() == ErrorCode::peer_gone ||
                failure.code() == ErrorCode::connection_lost)
        << failure.to_string();
  }
}

TEST_P(SharedRing, DamagedMemoryIsAnErrorOfThePeer) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Rig rig(GetParam());
    rig.run(damage_script(rig, seed));
  }
}

// Each thing that no peer of ours writes, by its name.
Task<void> named_damage_script(Rig& rig) {
  const RingShape shape = ring_shape(small_options());
  const auto message = [](std::uint32_t slot, std::uint32_t offset, std::uint32_t bytes) {
    RingMessage made;
    made.slot = slot;
    made.offset = offset;
    made.bytes = bytes;
    return made;
  };
  struct Case {
    RingMessage message;
    std::uint64_t at;
    const char* error;
  };
  const std::vector<Case> cases = {
      {message(4, 0, 64), 0, "that no sender writes"},
      {message(0, 0, 961), 0, "that no sender writes"},
      {message(0, 960, 64), 0, "that no sender writes"},
      {message(0, 32, 64), 0, "that no sender writes"},
      {message(0, 0, 0), 0, "that no sender writes"},
      {message(0, 64, 64), 0, "lies where another one may be read"},
      {message(1, 0, 64), shape.entries(), "lap"},
  };
  for (const Case& bad : cases) {
    std::unique_ptr<Ring> ring = co_await make_ring(rig, small_options());
    RingMemory memory(ring->seen->bytes(), shape);
    memory.write(bad.at, bad.message);
    memory.show(bad.at);
    Received received;
    EXPECT_EQ(ring->receiver->poll(received), Poll::failed);
    const Status& failure = ring->receiver->failure();
    EXPECT_EQ(failure.code(), ErrorCode::protocol_error);
    EXPECT_NE(failure.message().find(bad.error), std::string::npos) << failure.to_string();
    EXPECT_NE(failure.message().find("127.0.0.1:"), std::string::npos) << failure.to_string();
    // The sender learns of it.
    const bool told = co_await eventually([&] { return !ring->sender->failure().ok(); });
    EXPECT_TRUE(told);
  }
  // And what no receiver writes.
  for (const int what : {0, 1, 2}) {
    std::unique_ptr<Ring> ring = co_await make_ring(rig, small_options());
    RingMemory memory(ring->seen->bytes(), shape);
    EXPECT_TRUE(ring->publish(1));
    if (what == 0) memory.released().store(2);
    if (what == 1) memory.give_back(0, 4);
    if (what == 2) memory.give_back(shape.slots, 0);
    EXPECT_FALSE(ring->sender->finished());
    EXPECT_EQ(ring->sender->failure().code(), ErrorCode::protocol_error) << what;
    Received received;
    const bool told = co_await eventually([&] { return ring->take(received) == Poll::failed; });
    EXPECT_TRUE(told);
  }
}

TEST_P(SharedRing, WhatNoPeerWritesIsNamed) {
  Rig rig(GetParam());
  rig.run(named_damage_script(rig));
}

Task<void> stay_busy(const bool* stop) {
  while (!*stop) co_await yield();
}

Task<void> finish(TransportSender& sender, WakeEvent& event, bool* done) {
  while (true) {
    event.prepare_wait();
    if (sender.finished()) break;
    co_await event.wait();
  }
  event.cancel_wait();
  *done = true;
}

// The last that a receiver does is to release, and to go: a sender that waits hears of it by the
// connection's end alone where its executor has too much to do to look at rings.
Task<void> last_release_script(Rig& rig) {
  std::unique_ptr<Ring> ring = co_await make_ring(rig, small_options());
  EXPECT_TRUE(ring->publish(1));
  const std::string end(max_control_bytes, 'e');
  EXPECT_TRUE(ring->sender->publish_control(end, true));
  bool stop = false, done = false;
  rig.executor().spawn(finish(*ring->sender, ring->sender_event, &done));
  co_await sleep_for(milliseconds(1));
  rig.executor().spawn(stay_busy(&stop));
  Received received;
  const auto take_one = [&] { return ring->take(received) == Poll::bytes; };
  const bool first = co_await eventually(take_one);
  EXPECT_TRUE(first);
  received = {};
  const bool last = co_await eventually(take_one);
  EXPECT_TRUE(last);
  const bool flushed = co_await eventually([&] { return ring->receiver->flush(); });
  EXPECT_TRUE(flushed);
  ring->receiver.reset();
  const bool told = co_await eventually([&] { return done; });
  EXPECT_TRUE(told);
  EXPECT_TRUE(ring->sender->failure().ok()) << ring->sender->failure().to_string();
  stop = true;
  co_await sleep_for(milliseconds(1));
}

TEST_P(RingTransport, ASenderThatWaitsHearsOfTheLastRelease) {
  Rig rig(GetParam());
  rig.run(last_release_script(rig));
}

INSTANTIATE_TEST_SUITE_P(Forms, SharedRing,
                         testing::Values(RigOptions{Form::shm}, RigOptions{Form::simulated_shm, 1},
                                         RigOptions{Form::simulated_shm, 2}),
                         rig_name);
INSTANTIATE_TEST_SUITE_P(
    Forms, RingTransport,
    testing::Values(RigOptions{Form::shm}, RigOptions{Form::simulated_shm, 1},
                    RigOptions{Form::simulated_shm, 2}, RigOptions{Form::rdma},
                    RigOptions{Form::simulated_rdma, 1, false, WriteOrder::in_order},
                    RigOptions{Form::simulated_rdma, 1, false, WriteOrder::bytes},
                    RigOptions{Form::simulated_rdma, 1, false, WriteOrder::none}),
    rig_name);

// Two nodes, each with a data plane of its own.
struct TwoNodes {
  // `devices`: the two have one for one-sided writes.
  explicit TwoNodes(bool share, bool devices = false) : simulation({.seed = 7}) {
    SimulatedPlatform& first = simulation.add_node("first");
    SimulatedPlatform& second = simulation.add_node("second");
    if (share) simulation.share_memory(second, first);
    for (SimulatedPlatform* node : {&first, &second}) {
      executors.push_back(node->make_executor({.name = "test"}));
      DataPlaneOptions options;
      if (devices) {
        remote.push_back(
            std::make_unique<SimulatedRemoteMemoryDevice>(*node, WriteOrder::in_order));
        options.remote_memory = remote.back().get();
      }
      planes.push_back(std::make_unique<DataPlane>(*node, *executors.back(), options));
      EXPECT_TRUE(planes.back()->start().ok());
    }
    address = first.address().to_string();
    address = address.substr(0, address.rfind(':') + 1) + std::to_string(planes[0]->address().port);
  }
  ~TwoNodes() {
    for (auto& executor : executors) executor->stop();
    planes.clear();
    executors.clear();
  }

  // Opens a channel from the second to the first, sends a number, and says what came of it.
  Status send(Transport sender_asks, Transport receiver_asks, std::string from = {}) {
    const ChannelKey key{1, next_channel++, 0};
    Outcome receiving, sending;
    executors[0]->spawn(receive(*planes[0], *executors[0], key, receiver_asks, &receiving));
    executors[1]->spawn(
        publish(*planes[1], *executors[1], {address, key, sender_asks, std::move(from)}, &sending));
    const RunEnd end = simulation.run_until([&] { return receiving.done && sending.done; },
                                            simulation.now() + seconds(60));
    EXPECT_EQ(end, RunEnd::satisfied);
    return sending.failure.ok() ? receiving.failure : sending.failure;
  }

  struct Outcome {
    bool done = false;
    Status failure;
  };
  static Task<void> receive(DataPlane& plane, Executor& executor, ChannelKey key, Transport asks,
                            Outcome* outcome) {
    NetworkSettings settings;
    settings.transport = asks;
    auto end = plane.open_receiver(key, type_of<std::uint64_t>(), settings, "the sender");
    WakeEvent event;
    end->attach(executor, event);
    Received received;
    Poll polled = Poll::nothing;
    const bool answered = co_await eventually([&] {
      polled = end->poll(received);
      return polled != Poll::nothing;
    });
    EXPECT_TRUE(answered);
    if (polled == Poll::bytes) end->release();
    outcome->failure = end->failure();
    outcome->done = true;
  }
  struct Target {
    std::string address;
    ChannelKey key;
    Transport asks;
    std::string from;  // the address to bind
  };
  static Task<void> publish(DataPlane& plane, Executor& executor, Target target, Outcome* outcome) {
    NetworkSettings settings;
    settings.transport = target.asks;
    settings.interface_or_address = target.from;
    auto end = plane.open_sender(target.address, target.key, type_of<std::uint64_t>(), settings,
                                 "the receiver");
    WakeEvent event;
    end->attach(executor, event);
    const bool answered =
        co_await eventually([&] { return !end->acquire(64).empty() || !end->failure().ok(); });
    EXPECT_TRUE(answered);
    outcome->failure = end->failure();
    if (outcome->failure.ok()) {
      end->publish(64, false);
      co_await sleep_for(seconds(1));
    }
    outcome->done = true;
  }
  std::uint64_t rings() const { return planes[0]->counts().rings; }
  std::uint64_t remote_rings() const { return planes[0]->counts().remote_rings; }

  Simulation simulation;
  std::vector<std::unique_ptr<Executor>> executors;
  std::vector<std::unique_ptr<RemoteMemoryDevice>> remote;
  std::vector<std::unique_ptr<DataPlane>> planes;
  std::string address;
  std::uint32_t next_channel = 0;
};

TEST(RingChoice, AutomaticTakesARingWhereBothEndsShareMemory) {
  TwoNodes nodes(true);
  EXPECT_TRUE(nodes.send(Transport::automatic, Transport::automatic).ok());
  EXPECT_EQ(nodes.rings(), 1u);
  EXPECT_TRUE(nodes.send(Transport::shm, Transport::shm).ok());
  EXPECT_EQ(nodes.rings(), 2u);
  EXPECT_TRUE(nodes.send(Transport::tcp, Transport::tcp).ok());
  EXPECT_TRUE(nodes.send(Transport::automatic, Transport::tcp).ok());
  EXPECT_TRUE(nodes.send(Transport::tcp, Transport::automatic).ok());
  EXPECT_EQ(nodes.rings(), 2u);
  // Who names an interface wants a network.
  EXPECT_TRUE(nodes.send(Transport::automatic, Transport::automatic, "10.0.0.2").ok());
  EXPECT_EQ(nodes.rings(), 2u);
}

TEST(RingChoice, WithoutSharedMemoryAutomaticIsTcpAndShmFailsByName) {
  TwoNodes nodes(false);
  EXPECT_TRUE(nodes.send(Transport::automatic, Transport::automatic).ok());
  EXPECT_EQ(nodes.rings(), 0u);
  const Status failed = nodes.send(Transport::shm, Transport::shm);
  EXPECT_EQ(failed.code(), ErrorCode::invalid_configuration) << failed.to_string();
  EXPECT_NE(failed.message().find("share no memory"), std::string::npos) << failed.to_string();
  EXPECT_NE(failed.message().find("not visible from here"), std::string::npos)
      << failed.to_string();
}

TEST(RingChoice, OneSidedWritesComeBehindSharedMemoryAndAheadOfTcp) {
  TwoNodes apart(false, true);
  EXPECT_TRUE(apart.send(Transport::automatic, Transport::automatic).ok());
  EXPECT_EQ(apart.remote_rings(), 1u);
  EXPECT_TRUE(apart.send(Transport::rdma, Transport::rdma).ok());
  EXPECT_EQ(apart.remote_rings(), 2u);
  EXPECT_TRUE(apart.send(Transport::tcp, Transport::tcp).ok());
  EXPECT_EQ(apart.remote_rings(), 2u);
  EXPECT_EQ(apart.rings(), 0u);
  TwoNodes together(true, true);
  EXPECT_TRUE(together.send(Transport::automatic, Transport::automatic).ok());
  EXPECT_EQ(together.rings(), 1u);
  EXPECT_TRUE(together.send(Transport::rdma, Transport::rdma).ok());
  EXPECT_EQ(together.remote_rings(), 1u);
}

TEST(RingChoice, WithoutADeviceRdmaFailsByName) {
  TwoNodes nodes(true);
  const Status failed = nodes.send(Transport::rdma, Transport::rdma);
  EXPECT_EQ(failed.code(), ErrorCode::invalid_configuration) << failed.to_string();
  EXPECT_NE(failed.message().find("have no common device"), std::string::npos)
      << failed.to_string();
  EXPECT_NE(failed.message().find("--rdma-provider"), std::string::npos) << failed.to_string();
}

TEST(SharedMemoryPlaces, OnlyWhatIsMeantIsOpened) {
  const auto platform = make_linux_platform();
  SharedMemory& memory = platform->shared_memory();
  const Result<MadeSegment> made = memory.create(8192);
  ASSERT_TRUE(made.ok());
  made->segment->bytes()[5000] = 'x';
  const Result<std::unique_ptr<SharedSegment>> opened = memory.open(made->place, 8192);
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ((*opened)->bytes()[5000], 'x');
  EXPECT_EQ((*opened)->bytes()[4999], '\0');
  const std::string process = made->place.substr(0, made->place.find(':'));
  for (const std::string& place :
       std::vector<std::string>{"", "1", "1:2", process + ":0:hummer-ring-0", process + ":1:x",
                                "99999999:3:hummer-ring-1", "-1:3:hummer-ring-1",
                                made->place.substr(0, made->place.size() - 1), made->place + "0",
                                std::string(SharedMemory::max_place_bytes, '9')}) {
    EXPECT_FALSE(memory.open(place, 8192).ok()) << place;
  }
  EXPECT_FALSE(memory.open(made->place, 4096).ok());
  EXPECT_FALSE(memory.open(made->place, 12288).ok());
}

}  // namespace
}  // namespace hummer::ring_transport_test
