#include "simulation/mirror_simulation.hpp"

#include <fmt/format.h>

#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <hummer/detail/key_hash.hpp>

#include "net/data_plane.hpp"
#include "platform/random.hpp"
#include "platform/simulated_remote_memory.hpp"
#include "platform/simulation.hpp"
#include "platform/task.hpp"

namespace hummer::cluster_simulation {
namespace {

constexpr Nanoseconds longest_ns = seconds(300);

// One thing that is published: data, a control, or a barrier.
struct Item {
  enum class Kind : std::uint8_t { data, control, barrier };
  Kind kind = Kind::data;
  std::uint64_t number = 0;
  std::size_t bytes = 0;

  // What it says, as a function of its number.
  std::string text() const {
    std::string text(bytes, '\0');
    for (std::size_t i = 0; i < bytes; ++i) {
      text[i] = static_cast<char>(mix_bits(number * 1'000'003 + i / 8) >> i % 8 * 8);
    }
    return text;
  }
};

class MirrorSimulation {
 public:
  explicit MirrorSimulation(RunOptions options)
      : options_(options), simulation_(drawn_options(options.seed)), random_(options.seed) {
    report_.seed = options.seed;
  }

  SeedReport run();

 private:
  static SimulationOptions drawn_options(std::uint64_t seed) {
    Random random(mix_bits(seed + 17));
    SimulationOptions options;
    options.seed = seed;
    options.latency_maximum_ns = microseconds(random.chance(0.3) ? 5000 : 200);
    if (random.chance(0.3)) options.delay_rate = 0.02;
    return options;
  }

  // The ends run on executors of their own.
  struct Node {
    SimulatedPlatform* platform = nullptr;
    std::unique_ptr<SimulatedRemoteMemoryDevice> device;
    std::unique_ptr<Executor> plane_executor;
    std::unique_ptr<Executor> executor;
    std::unique_ptr<DataPlane> plane;
  };

  void start(Node& node, const std::string& name);
  void stop(Node& node);
  std::string receiving_address() const {
    SocketAddress address = receiving_.platform->address();
    address.port = receiving_.plane->address().port;
    return address.to_string();
  }
  Task<void> send();
  Task<void> receive();
  // False: it failed.
  Task<bool> publish(TransportSender& end, WakeEvent& event, const Item& item, bool more,
                     bool last);
  bool offer(TransportSender& end, const Item& item, bool more, bool last);
  void take(TransportReceiver& end, Poll polled, Received& received);
  void violation(const std::string& text) {
    if (report_.violations.size() < 5) report_.violations.push_back(text);
  }

  RunOptions options_;
  Simulation simulation_;
  Random random_;
  SeedReport report_;
  Node sending_, receiving_;
  NetworkSettings settings_;
  std::uint64_t wanted_ = 0;  // items
  bool kills_ = false, struck_ = false;

  std::deque<Item> under_way_;
  std::uint64_t published_ = 0, arrived_ = 0;
  struct Held {
    Received received;
    std::string text;
  };
  std::vector<Held> held_;
  std::size_t kept_credits_ = 0;
  bool sender_over_ = false, receiver_over_ = false;
  Status sender_failure_, receiver_failure_;
};

void MirrorSimulation::start(Node& node, const std::string& name) {
  constexpr WriteOrder orders[] = {WriteOrder::none, WriteOrder::in_order, WriteOrder::bytes};
  node.platform = &simulation_.add_node(name);
  node.device =
      std::make_unique<SimulatedRemoteMemoryDevice>(*node.platform, orders[options_.seed % 3]);
  node.plane_executor = node.platform->make_executor({.name = "plane"});
  node.executor = node.platform->make_executor({.name = "task"});
  DataPlaneOptions plane;
  plane.name = name;
  plane.remote_memory = node.device.get();
  node.plane = std::make_unique<DataPlane>(*node.platform, *node.plane_executor, plane);
  const Status started = node.plane->start();
  if (!started.ok()) violation(started.to_string());
}

void MirrorSimulation::stop(Node& node) {
  node.executor->stop();
  node.plane_executor->stop();
  node.plane.reset();
}

bool MirrorSimulation::offer(TransportSender& end, const Item& item, bool more, bool last) {
  switch (item.kind) {
    case Item::Kind::barrier: end.send_out_of_band(item.number, item.text()); return true;
    case Item::Kind::control: return end.publish_control(item.text(), last);
    case Item::Kind::data: break;
  }
  const std::span<char> room = end.acquire(item.bytes);
  if (room.empty()) return false;
  const std::string text = item.text();
  std::memcpy(room.data(), text.data(), text.size());
  end.publish(text.size(), more);
  return true;
}

Task<bool> MirrorSimulation::publish(TransportSender& end, WakeEvent& event, const Item& item,
                                     bool more, bool last) {
  under_way_.push_back(item);
  while (true) {
    event.prepare_wait();
    const bool offered = offer(end, item, more, last);
    if (offered || !end.failure().ok()) {
      event.cancel_wait();
      co_return offered;
    }
    co_await event.wait();
  }
}

Task<void> MirrorSimulation::send() {
  WakeEvent event;
  const std::unique_ptr<TransportSender> end = sending_.plane->open_sender(
      receiving_address(), {1, 1, 0}, type_of<std::uint64_t>(), settings_, "the receiver");
  end->attach(*sending_.executor, event);
  const std::size_t most_lines = end->capacity() / transport_alignment;
  bool going = true;
  for (published_ = 0; going && published_ < wanted_; ++published_) {
    Item item;
    item.number = published_ + 1;
    if (random_.chance(0.1)) {
      item.kind = Item::Kind::control;
      item.bytes = max_control_bytes;
    } else if (random_.chance(0.02)) {
      item.kind = Item::Kind::barrier;
      item.bytes = random_.below(3000);
    } else {
      item.bytes = transport_alignment * (1 + random_.below(random_.chance(0.5) ? 4 : most_lines));
    }
    going = co_await publish(*end, event, item, random_.chance(0.3), false);
    if (random_.chance(0.05)) co_await sleep_for(microseconds(random_.below(3000)));
  }
  if (going) {
    const Item last{Item::Kind::control, wanted_ + 1, max_control_bytes};
    going = co_await publish(*end, event, last, false, true);
  }
  while (going && end->failure().ok()) {
    event.prepare_wait();
    if (end->finished() || !end->failure().ok()) {
      event.cancel_wait();
      break;
    }
    co_await event.wait();
  }
  sender_failure_ = end->failure();
  sender_over_ = true;
}

void MirrorSimulation::take(TransportReceiver& end, Poll polled, Received& received) {
  if (under_way_.empty()) return violation("something came that nobody published");
  const Item item = under_way_.front();
  under_way_.pop_front();
  ++arrived_;
  const std::string expected = item.text();
  if (polled == Poll::barrier) {
    const bool same = item.kind == Item::Kind::barrier && received.epoch == item.number &&
                      received.in_flight == expected;
    if (!same) violation(fmt::format("a barrier came where item {} was expected", item.number));
    return;
  }
  if (received.bytes != expected) {
    violation(fmt::format("item {} came with other bytes, or another one came", item.number));
  }
  end.keep_credit();
  ++kept_credits_;
  while (kept_credits_ > 0 && !random_.chance(0.2)) {
    end.give_back();
    --kept_credits_;
  }
  if (received.buffer && random_.chance(0.3)) held_.push_back({std::move(received), expected});
  while (!held_.empty() && random_.chance(0.4)) {
    const std::size_t drop = random_.below(held_.size());
    if (held_[drop].received.bytes != held_[drop].text) {
      violation("bytes of a message that was held have changed");
    }
    std::swap(held_[drop], held_.back());
    held_.pop_back();
  }
}

Task<void> MirrorSimulation::receive() {
  WakeEvent event;
  const std::unique_ptr<TransportReceiver> end =
      receiving_.plane->open_receiver({1, 1, 0}, type_of<std::uint64_t>(), settings_, "the sender");
  end->attach(*receiving_.executor, event);
  while (true) {
    event.prepare_wait();
    Received received;
    const Poll polled = end->poll(received);
    if (polled == Poll::nothing) {
      // Kept credits come back when nothing else does: a sender may wait for them.
      if (kept_credits_ > 0) {
        event.cancel_wait();
        for (; kept_credits_ > 0; --kept_credits_) end->give_back();
        continue;
      }
      co_await event.wait();
      continue;
    }
    event.cancel_wait();
    if (polled == Poll::closed || polled == Poll::failed) break;
    take(*end, polled, received);
    if (random_.chance(0.05)) co_await sleep_for(microseconds(random_.below(3000)));
  }
  for (; kept_credits_ > 0 && end->failure().ok(); --kept_credits_) end->give_back();
  while (!end->flush()) {
    event.prepare_wait();
    co_await event.wait_until(receiving_.executor->now() + milliseconds(1));
  }
  receiver_failure_ = end->failure();
  receiver_over_ = true;
}

SeedReport MirrorSimulation::run() {
  settings_.transport = Transport::rdma;
  settings_.buffer_size_bytes = 1024 << random_.below(3);
  settings_.credits = 1 + static_cast<int>(random_.below(9));
  wanted_ = 20 + random_.below(400);
  kills_ = random_.chance(0.2);
  const bool cuts = !kills_ && random_.chance(0.2);
  start(sending_, "sending");
  start(receiving_, "receiving");
  receiving_.executor->spawn(receive());
  sending_.executor->spawn(send());
  const std::uint64_t strike_at = random_.below(wanted_);
  const auto struck = [&] { return arrived_ >= strike_at; };
  const auto over = [&] { return sender_over_ && receiver_over_; };
  RunEnd end = RunEnd::satisfied;
  if (kills_ || cuts) {
    end = simulation_.run_until([&] { return struck() || over(); }, longest_ns);
  }
  bool sender_lives = true, receiver_lives = true;
  if (kills_ && !over()) {
    struck_ = true;
    (random_.chance(0.5) ? sender_lives : receiver_lives) = false;
    (sender_lives ? receiving_ : sending_).platform->kill();
  }
  if (cuts && !over()) {
    struck_ = true;
    simulation_.partition(*sending_.platform, *receiving_.platform);
    const Nanoseconds healed = simulation_.now() + milliseconds(1 + random_.below(200));
    (void)simulation_.run_until([] { return false; }, healed);
    simulation_.heal(*sending_.platform, *receiving_.platform);
  }
  const auto living_over = [&] {
    return (sender_over_ || !sender_lives) && (receiver_over_ || !receiver_lives);
  };
  end = simulation_.run_until(living_over, longest_ns);
  if (end != RunEnd::satisfied) {
    violation(
        fmt::format("the channel hangs: {} of {} items arrived, {} published, sender {}, "
                    "receiver {}",
                    arrived_, wanted_ + 1, published_, sender_over_ ? "over" : "waits",
                    receiver_over_ ? "over" : "waits"));
  }
  if (!kills_) {
    if (arrived_ != wanted_ + 1) violation(fmt::format("{} items arrived", arrived_));
    for (const Status& failure : {sender_failure_, receiver_failure_}) {
      if (!failure.ok()) violation(failure.to_string());
    }
  } else if (struck_ && receiver_lives && receiver_over_ && receiver_failure_.ok() &&
             arrived_ != wanted_ + 1) {
    violation("the receiver takes a part of the stream for all of it");
  }
  for (const Held& held : held_) {
    if (held.received.bytes != held.text)
      violation("bytes of a message that was held have changed");
  }
  report_.virtual_ns = simulation_.now();
  report_.steps = simulation_.steps();
  report_.trace_hash = simulation_.trace_hash();
  constexpr const char* orders[] = {"none", "in order", "byte by byte"};
  report_.totals[fmt::format("seeds with writes {}", orders[options_.seed % 3])] = 1;
  report_.totals["items"] = arrived_;
  report_.totals["deaths"] = kills_ && struck_;
  report_.totals["cuts"] = cuts && struck_;
  stop(sending_);
  stop(receiving_);
  held_.clear();
  return report_;
}

}  // namespace

SeedReport simulate_mirror(RunOptions options) { return MirrorSimulation(options).run(); }

}  // namespace hummer::cluster_simulation
