// The surroundings of a transport test: a platform, an executor, and a channel of
// one of the forms. The script is a coroutine on the one executor; so are both ends,
// or the sending end has a slot (thread) of its own.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include <hummer/detail/connector_context.hpp>

#include "net/data_plane.hpp"
#include "net/memory_transport.hpp"
#include "platform/find_remote_memory.hpp"
#include "platform/simulated_remote_memory.hpp"
#include "platform/simulation.hpp"
#include "platform/task.hpp"

namespace hummer {

// rdma: over what libfabric does with a loopback device; skipped where it is not there.
enum class Form { memory, tcp, shm, rdma, simulated_tcp, simulated_shm, simulated_rdma };

inline bool is_simulated(Form form) { return form >= Form::simulated_tcp; }

struct RigOptions {
  Form form = Form::memory;
  std::uint64_t seed = 1;
  bool two_slots = false;
  WriteOrder order = WriteOrder::in_order;  // of simulated_rdma
};

inline std::string rig_name(const testing::TestParamInfo<RigOptions>& info) {
  const std::string slots = info.param.two_slots ? "_two_slots" : "";
  switch (info.param.form) {
    case Form::memory: return "memory" + slots;
    case Form::tcp: return "tcp" + slots;
    case Form::shm: return "shm" + slots;
    case Form::rdma: return "rdma" + slots;
    case Form::simulated_tcp: break;
    case Form::simulated_rdma: {
      constexpr const char* orders[] = {"none", "in_order", "bytes"};
      return std::string("simulated_rdma_") + orders[static_cast<int>(info.param.order)] + "_" +
             std::to_string(info.param.seed);
    }
    case Form::simulated_shm: return "simulated_shm_" + std::to_string(info.param.seed);
  }
  return "simulated_" + std::to_string(info.param.seed);
}

class Rig {
 public:
  explicit Rig(RigOptions options, SimulationOptions simulation = {}) : options_(options) {
    if (is_simulated(options.form)) {
      simulation.seed = options.seed;
      platform_ = make_simulated_platform(simulation);
    } else {
      platform_ = make_linux_platform();
    }
    executor_ = platform_->make_executor({.name = "test"});
    if (options.two_slots) sending_executor_ = platform_->make_executor({.name = "sending"});
    DataPlaneOptions plane;
    if (options.form == Form::simulated_rdma) {
      device_ = std::make_unique<SimulatedRemoteMemoryDevice>(
          static_cast<SimulatedPlatform&>(*platform_), options.order);
    } else if (options.form == Form::rdma) {
      auto found = find_remote_memory(*platform_, "tcp");
      if (found.ok()) device_ = std::move(*found);
    }
    plane.remote_memory = device_.get();
    plane.name = "rig";
    plane.token = "secret";
    plane.connect_timeout_ns = seconds(10);
    plane.receiver_timeout_ns = seconds(20);
    plane_ = std::make_unique<DataPlane>(*platform_, *executor_, plane);
    if (options.form != Form::memory) {
      const Status started = plane_->start();
      EXPECT_TRUE(started.ok()) << started.to_string();
    }
  }
  ~Rig() {
    if (sending_executor_) sending_executor_->stop();
    executor_->stop();
    plane_.reset();
  }

  // Null: none, also where the form needs one.
  RemoteMemoryDevice* device() { return device_.get(); }
  Platform& platform() { return *platform_; }
  Executor& executor() { return *executor_; }
  Executor& sending_executor() { return sending_executor_ ? *sending_executor_ : *executor_; }
  DataPlane& plane() { return *plane_; }
  const RigOptions& options() const { return options_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(plane_->address().port); }

  TransportPair open(const TypeDescriptor& type, NetworkSettings settings) {
    if (options_.form == Form::memory) return make_memory_transport(settings);
    settings.transport = asked_transport();
    const ChannelKey key{1, next_channel_++, 0};
    TransportPair pair;
    pair.receiver = plane_->open_receiver(key, type, settings, "the sender");
    pair.sender = plane_->open_sender(address(), key, type, settings, "the receiver");
    return pair;
  }

  // Runs the script to its end; a minute is never needed.
  void run(Task<void> script) {
    done_ = false;
    executor_->spawn(watch(std::move(script), &done_, platform_.get()));
    const RunEnd end =
        platform_->run_until([this] { return done_.load(); }, platform_->now() + seconds(60));
    EXPECT_EQ(end, RunEnd::satisfied) << "the script hangs";
  }

 private:
  Transport asked_transport() const {
    switch (options_.form) {
      case Form::shm:
      case Form::simulated_shm: return Transport::shm;
      case Form::rdma:
      case Form::simulated_rdma: return Transport::rdma;
      default: return Transport::tcp;
    }
  }

  static Task<void> watch(Task<void> script, std::atomic<bool>* done, Platform* platform) {
    co_await std::move(script);
    done->store(true);
    platform->notify_main();
  }

  RigOptions options_;
  std::unique_ptr<Platform> platform_;
  std::unique_ptr<RemoteMemoryDevice> device_;
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<Executor> sending_executor_;
  std::unique_ptr<DataPlane> plane_;
  std::uint32_t next_channel_ = 0;
  std::atomic<bool> done_{false};
};

// A test of every form, skipped where there is no device for it.
class TestOfForms : public testing::TestWithParam<RigOptions> {
 protected:
  void SetUp() override {
    if (GetParam().form != Form::rdma) return;
    static const Status found = find_remote_memory(*make_linux_platform(), "tcp").status();
    if (!found.ok()) GTEST_SKIP() << found.to_string();
  }
};

// Asks again and again for a while.
template <typename Predicate>
Task<bool> eventually(Predicate predicate) {
  for (int i = 0; i < 3000; ++i) {
    if (predicate()) co_return true;
    co_await sleep_for(milliseconds(1));
  }
  co_return false;
}
// Lets things that must not happen happen.
inline Task<void> let_pass() { co_await sleep_for(milliseconds(20)); }

// What an operator of a test asks of its surroundings.
class RigContext final : public ConnectorContext {
 public:
  RigContext(Rig& rig, WakeEvent& event)
      : ConnectorContext({.name = "receiver"}), rig_(rig), event_(event) {}
  std::int64_t now() const override { return rig_.executor().now(); }
  void call_at(std::int64_t) override {}
  void wake() override { event_.notify(); }
  Platform& platform() override { return rig_.platform(); }
  Executor& executor() override { return rig_.executor(); }
  WakeEvent& wake_event() override { return event_; }
  const Status& failure() const { return report_.failure; }

 private:
  Rig& rig_;
  WakeEvent& event_;
};

}  // namespace hummer
