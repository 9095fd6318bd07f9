// Hummer's side of net_bench: a task that encodes batches into a channel, and one that takes them
// out, on a slot's executor each, as the tasks of an edge between two processes do. Behind each
// batch comes a watermark.
//
// Thread: that of the caller, which waits; the tasks run on executors of their own. What goes wrong
// ends the process.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include <hummer/detail/connector_context.hpp>

#include "net/data_plane.hpp"
#include "net/net_pair_bench.hpp"
#include "net/net_plain_bench.hpp"
#include "net/network_emitter.hpp"
#include "net/network_receiver.hpp"
#include "platform/find_remote_memory.hpp"
#include "platform/task.hpp"

namespace hummer::net_bench {

struct Channel {
  Transport transport = Transport::tcp;
  bool with_tls = false;
  // Whether the slot spins while it has nothing to do.
  bool spins = false;
};

inline TlsOptions tls_options() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  TlsOptions options;
  options.ca_file = variable("HUMMER_TLS_CA");
  options.certificate_file = variable("HUMMER_TLS_CERTIFICATE");
  options.key_file = variable("HUMMER_TLS_KEY");
  options.verify_peer = true;
  return options;
}

inline void insist(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "net_bench: %s\n", status.to_string().c_str());
  std::abort();
}
template <typename T>
T insist(Result<T> result) {
  insist(result.status());
  return std::move(*result);
}

// A process's part of the engine, as far as a channel needs it.
class Host {
 public:
  Host(const Channel& channel, const Work& work) : platform(make_linux_platform()) {
    slot = platform->make_executor({.name = "slot", .spin_ns = channel.spins ? busy_poll : 0});
    network = platform->make_executor({.name = "net"});
    DataPlaneOptions options;
    if (channel.with_tls) {
      options.tls = insist(TlsContext::make(*platform, tls_options(), TlsRole::both));
    }
    if (channel.transport == Transport::rdma) {
      device = insist(find_remote_memory(*platform, "tcp"));
      options.remote_memory = device.get();
    }
    plane = std::make_unique<DataPlane>(*platform, *network, std::move(options));
    insist(plane->start());
    settings.transport = channel.transport;
    settings.buffer_size_bytes = work.buffer_bytes;
  }
  ~Host() {
    slot->stop();
    network->stop();
    plane.reset();
  }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  std::uint16_t port() const { return plane->address().port; }
  // The channels are numbered.
  std::unique_ptr<TransportReceiver> open_receiver(std::uint32_t number,
                                                   const TypeDescriptor& type) {
    return plane->open_receiver({1, number, 1}, type, settings, "producer");
  }
  std::unique_ptr<TransportSender> open_sender(std::uint16_t to, std::uint32_t number,
                                               const TypeDescriptor& type) {
    return plane->open_sender("127.0.0.1:" + std::to_string(to), {1, number, 1}, type, settings,
                              "consumer");
  }

  void run(Task<void> task) {
    slot->spawn(std::move(task));
    const RunEnd end = platform->run_until([this] { return done.load(); }, never);
    HUMMER_ASSERT(end == RunEnd::satisfied);
  }
  void finish() {
    done.store(true);
    platform->notify_main();
  }

  std::unique_ptr<Platform> platform;
  std::unique_ptr<RemoteMemoryDevice> device;
  std::unique_ptr<Executor> slot;
  std::unique_ptr<Executor> network;
  std::unique_ptr<DataPlane> plane;
  NetworkSettings settings;
  std::atomic<bool> done{false};
};

class HostContext final : public ConnectorContext {
 public:
  HostContext(Host& host, WakeEvent& event) : host_(host), event_(event) {}
  std::int64_t now() const override { return 0; }
  void call_at(std::int64_t) override {}
  void wake() override { event_.notify(); }
  Platform& platform() override { return *host_.platform; }
  Executor& executor() override { return *host_.slot; }
  WakeEvent& wake_event() override { return event_; }
  const Status& failure() const { return report_.failure; }

 private:
  Host& host_;
  WakeEvent& event_;
};

// The head of a receiving task: calls `take` with each run of records.
class Head {
 public:
  Head(Host& host, WakeEvent& event, std::unique_ptr<TransportReceiver> transport,
       const TypeDescriptor& type)
      : event_(event), context_(host, event), receiver_(std::move(transport), type, "producer") {
    receiver_.set_context(context_);
    receiver_.declare(out_);
    insist(receiver_.open());
  }
  ~Head() { insist(receiver_.close()); }

  // The next one; false: the stream has ended.
  template <typename Take>
  Task<bool> next(const Take& take) {
    while (true) {
      event_.prepare_wait();
      const OperatorResult answer = receiver_.produce(out_);
      if (answer == OperatorResult::blocked) {
        co_await event_.wait();
        continue;
      }
      event_.cancel_wait();
      if (answer == OperatorResult::failed) insist(context_.failure());
      Batch& batch = out_.batch(0);
      if (!batch.empty()) take(static_cast<const char*>(batch.raw_values()), batch.size());
      batch.clear();
      (void)out_.take_control();
      co_return answer != OperatorResult::done;
    }
  }

 private:
  WakeEvent& event_;
  HostContext context_;
  NetworkReceiver receiver_;
  Output out_;
};

// The end of a sending task.
class Tail {
 public:
  Tail(Host& host, WakeEvent& event, std::unique_ptr<TransportSender> transport,
       const TypeDescriptor& type, std::size_t most_records)
      : event_(event),
        emitter_(std::move(transport), type, "consumer"),
        element_{Batch(type, static_cast<std::uint32_t>(most_records)), {}} {
    emitter_.attach(*host.slot, event);
  }

  char* room() { return static_cast<char*>(element_.batch.raw_mutable_values()); }
  Task<void> send(std::size_t count, Control control) {
    element_.batch.set_size(count);
    element_.control = control;
    while (true) {
      event_.prepare_wait();
      const OperatorResult answer = emitter_.offer(element_);
      if (answer == OperatorResult::blocked) {
        co_await event_.wait();
        continue;
      }
      event_.cancel_wait();
      if (answer == OperatorResult::done) co_return;
      insist(emitter_.failure());
    }
  }

 private:
  WakeEvent& event_;
  NetworkEmitter emitter_;
  Element element_;
};

template <typename Records>
Task<void> produce(Host& host, std::unique_ptr<TransportSender> transport, const Work& work,
                   Report& report) {
  WakeEvent event;
  Tail tail(host, event, std::move(transport), Records::type(), work.batch_records);
  Stopwatch stopwatch;
  for (std::uint64_t sent = 0; sent < work.records;) {
    const std::size_t count = std::min<std::uint64_t>(work.batch_records, work.records - sent);
    Records::fill(tail.room(), count, static_cast<std::uint32_t>(sent));
    co_await tail.send(count, Control::watermark(static_cast<Timestamp>(sent)));
    if (sent == 0) stopwatch = {};  // connected
    sent += count;
    // As the chain driver does: others of the slot have their turn.
    co_await yield();
  }
  co_await tail.send(0, Control::end());
  report.stop(stopwatch);
  host.finish();
}

template <typename Records>
Task<void> consume(Host& host, std::unique_ptr<TransportReceiver> transport, Report& report) {
  WakeEvent event;
  Head head(host, event, std::move(transport), Records::type());
  typename Records::Sums sums;
  Stopwatch stopwatch;
  const auto take = [&](const char* records, std::size_t count) {
    if (report.records == 0) stopwatch = {};
    sums.add(records, count);
    report.records += count;
  };
  while (co_await head.next(take)) co_await yield();
  report.stop(stopwatch);
  report.sum = sums.value();
  host.finish();
}

template <typename Records>
Task<void> go_to_and_fro(Host& host, std::unique_ptr<TransportReceiver> from,
                         std::unique_ptr<TransportSender> to, bool is_first, const Work& work,
                         Report& report) {
  WakeEvent event;
  Tail tail(host, event, std::move(to), Records::type(), work.records_in_full);
  Head head(host, event, std::move(from), Records::type());
  typename Records::Sums sums;
  std::uint64_t sent = 0;
  const auto take = [&](const char* records, std::size_t count) {
    sums.add(records, count);
    report.records += count;
  };
  for (const bool full : {false, true}) {
    const std::size_t count = full ? work.records_in_full : 1;
    const std::uint32_t trips = full ? work.trips_of_full : work.trips_of_one;
    RoundTrips& measured = full ? report.full : report.one;
    for (std::uint32_t trip = 0; trip < trips; ++trip) {
      const auto start = RoundTrips::now();
      for (const bool sends : {is_first, !is_first}) {
        if (sends) {
          Records::fill(tail.room(), count, static_cast<std::uint32_t>(sent));
          co_await tail.send(count, {});
          sent += count;
        } else {
          for (const std::uint64_t all = report.records + count; report.records < all;) {
            const bool goes_on = co_await head.next(take);
            HUMMER_ASSERT(goes_on);
          }
        }
      }
      if (is_first && trip >= trips / 10) measured.add(start);
    }
  }
  // An end is there when it has been taken: first of one channel, then of the other.
  for (const bool sends : {is_first, !is_first}) {
    if (sends) {
      co_await tail.send(0, Control::end());
    } else {
      while (co_await head.next(take)) {
      }
    }
  }
  report.sum = sums.value();
  host.finish();
}

// A whole side, as run_plain is.
template <typename Records>
void run_channel(const Channel& channel, Meeting& meeting, bool is_first, const Work& work,
                 Report& report) {
  Host host(channel, work);
  meeting.tell(host.port());
  const std::uint16_t there = meeting.hear<std::uint16_t>();
  const TypeDescriptor& type = Records::type();
  if (work.trips_of_one > 0) {
    const std::uint32_t own = is_first ? 1 : 2;
    std::unique_ptr<TransportReceiver> receiver = host.open_receiver(own, type);
    host.run(go_to_and_fro<Records>(
        host, std::move(receiver), host.open_sender(there, 3 - own, type), is_first, work, report));
  } else if (is_first) {
    host.run(consume<Records>(host, host.open_receiver(1, type), report));
  } else {
    host.run(produce<Records>(host, host.open_sender(there, 1, type), work, report));
  }
}

}  // namespace hummer::net_bench
