// net_bench: 100-byte records from a sender task to a receiver task, over TCP loopback beside a
// plain blocking socket program, and over a ring in shared memory beside a plain one; buffers of
// one size.
//
//   hummer_net_net_bench [megabytes] [rounds] [buffer KiB]...
//
// Both fill every record anew and take an order-sensitive checksum of every word
// on both sides; the checksums must agree. Forms: two threads of one process, two processes (forked
// before any thread exists), and two processes with a ring. The plain ring has as many slots as
// Hummer's, which its two loops write and read in place; both wait without sleeping. Rounds
// alternate between the two programs; the results are medians. With HUMMER_TLS_CA, _CERTIFICATE and
// _KEY (files) Hummer's two processes are measured over TLS too, beside the same plain program.
// Processor time per record, of both sides together, is less disturbed by a busy machine than
// throughput is.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include <hummer/detail/connector_context.hpp>

#include "net/data_plane.hpp"
#include "net/network_emitter.hpp"
#include "net/network_receiver.hpp"
#include "platform/task.hpp"

namespace hummer {
namespace {

struct Record {
  std::uint32_t number;
  std::uint32_t key;
  std::array<std::uint32_t, 23> words;
};
static_assert(sizeof(Record) == 100 && is_bitwise<Record>);
constexpr std::size_t words_per_record = sizeof(Record) / 4;

// One lane per word of a record, so that compilers use vectors; in each the order counts.
struct Checksum {
  std::array<std::uint32_t, words_per_record> lanes{};

  void add(const Record* records, std::size_t count) {
    std::array<std::uint32_t, words_per_record> local = lanes;
    for (std::size_t r = 0; r < count; ++r) {
      std::array<std::uint32_t, words_per_record> words;
      std::memcpy(words.data(), records + r, sizeof words);
      for (std::size_t i = 0; i < words_per_record; ++i) local[i] = local[i] * 31 + words[i];
    }
    lanes = local;
  }
  std::uint64_t value() const {
    std::uint64_t all = 0;
    for (const std::uint32_t lane : lanes) all = all * 0x9e3779b97f4a7c15u + lane;
    return all;
  }
};

void fill(Record* records, std::size_t count, std::uint32_t first) {
  for (std::size_t r = 0; r < count; ++r) {
    const std::uint32_t number = first + static_cast<std::uint32_t>(r);
    std::array<std::uint32_t, words_per_record> words;
    for (std::size_t i = 0; i < words_per_record; ++i) {
      words[i] = number * 2654435761u + static_cast<std::uint32_t>(i);
    }
    std::memcpy(static_cast<void*>(records + r), words.data(), sizeof words);
  }
}

struct Outcome {
  std::uint64_t records = 0;
  std::uint64_t checksum = 0;
  double seconds = 0;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// --- the plain program

int plain_listen(std::uint16_t& port) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  HUMMER_ASSERT(::bind(listener, reinterpret_cast<sockaddr*>(&address), length) == 0);
  HUMMER_ASSERT(::listen(listener, 1) == 0);
  HUMMER_ASSERT(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length) == 0);
  port = ntohs(address.sin_port);
  return listener;
}

std::uint64_t plain_send(std::uint16_t port, std::uint64_t total, std::size_t buffer_bytes) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  HUMMER_ASSERT(::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  std::vector<Record> buffer(buffer_bytes / sizeof(Record));
  Checksum checksum;
  for (std::uint64_t sent = 0; sent < total;) {
    const std::size_t count = std::min<std::uint64_t>(buffer.size(), total - sent);
    fill(buffer.data(), count, static_cast<std::uint32_t>(sent));
    checksum.add(buffer.data(), count);
    const char* at = reinterpret_cast<const char*>(buffer.data());
    for (std::size_t left = count * sizeof(Record); left > 0;) {
      const ssize_t put = ::send(socket, at, left, MSG_NOSIGNAL);
      HUMMER_ASSERT(put > 0);
      at += put;
      left -= static_cast<std::size_t>(put);
    }
    sent += count;
  }
  ::close(socket);
  return checksum.value();
}

Outcome plain_receive(int listener, std::uint64_t total, std::size_t buffer_bytes) {
  const int socket = ::accept(listener, nullptr, nullptr);
  const auto start = std::chrono::steady_clock::now();
  std::vector<Record> buffer(buffer_bytes / sizeof(Record));
  Checksum checksum;
  Outcome outcome;
  while (outcome.records < total) {
    const std::size_t count = std::min<std::uint64_t>(buffer.size(), total - outcome.records);
    char* at = reinterpret_cast<char*>(buffer.data());
    for (std::size_t left = count * sizeof(Record); left > 0;) {
      const ssize_t got = ::recv(socket, at, left, 0);
      HUMMER_ASSERT(got > 0);
      at += got;
      left -= static_cast<std::size_t>(got);
    }
    checksum.add(buffer.data(), count);
    outcome.records += count;
  }
  outcome.seconds = seconds_since(start);
  outcome.checksum = checksum.value();
  ::close(socket);
  ::close(listener);
  return outcome;
}

// --- the plain ring

struct PlainRing {
  alignas(64) std::atomic<std::uint64_t> written{0};  // slots
  alignas(64) std::atomic<std::uint64_t> read{0};
  alignas(4096) char slots[1];  // the first of them
};

template <typename Ready>
void spin_until(const Ready& ready) {
  for (int spins = 0; !ready(); ++spins) {
    if (spins > 1000) ::sched_yield();
  }
}

// Shared by the processes that are forked from here.
PlainRing* make_plain_ring(std::size_t buffer_bytes) {
  const std::size_t bytes =
      sizeof(PlainRing) + static_cast<std::size_t>(NetworkSettings{}.credits) * buffer_bytes;
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  HUMMER_ASSERT(memory != MAP_FAILED);
  return new (memory) PlainRing();
}

Record* plain_slot(PlainRing& ring, std::uint64_t number, std::size_t buffer_bytes) {
  const std::uint64_t slots = static_cast<std::uint64_t>(NetworkSettings{}.credits);
  return reinterpret_cast<Record*>(ring.slots + number % slots * buffer_bytes);
}

std::uint64_t plain_ring_send(PlainRing& ring, std::uint64_t total, std::size_t buffer_bytes) {
  const std::uint64_t slots = static_cast<std::uint64_t>(NetworkSettings{}.credits);
  Checksum checksum;
  std::uint64_t number = 0;
  for (std::uint64_t sent = 0; sent < total; ++number) {
    spin_until([&] { return number - ring.read.load(std::memory_order_acquire) < slots; });
    Record* records = plain_slot(ring, number, buffer_bytes);
    const std::size_t count = std::min<std::uint64_t>(buffer_bytes / sizeof(Record), total - sent);
    fill(records, count, static_cast<std::uint32_t>(sent));
    checksum.add(records, count);
    ring.written.store(number + 1, std::memory_order_release);
    sent += count;
  }
  return checksum.value();
}

Outcome plain_ring_receive(PlainRing& ring, std::uint64_t total, std::size_t buffer_bytes) {
  spin_until([&] { return ring.written.load(std::memory_order_acquire) > 0; });
  const auto start = std::chrono::steady_clock::now();
  Checksum checksum;
  Outcome outcome;
  for (std::uint64_t number = 0; outcome.records < total; ++number) {
    spin_until([&] { return ring.written.load(std::memory_order_acquire) > number; });
    const std::size_t count =
        std::min<std::uint64_t>(buffer_bytes / sizeof(Record), total - outcome.records);
    checksum.add(plain_slot(ring, number, buffer_bytes), count);
    ring.read.store(number + 1, std::memory_order_release);
    outcome.records += count;
  }
  outcome.seconds = seconds_since(start);
  outcome.checksum = checksum.value();
  return outcome;
}

// --- Hummer

TlsOptions tls_options() {
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

enum class Program { plain, plain_ring, hummer, hummer_tls, hummer_ring };

struct Side {
  explicit Side(Program program) : platform(make_linux_platform()) {
    // As long as the plain ring's loops spin.
    const Nanoseconds spin_ns = program == Program::hummer_ring ? busy_poll : 0;
    slot = platform->make_executor({.name = "slot", .spin_ns = spin_ns});
    network = platform->make_executor({.name = "net"});
    DataPlaneOptions options;
    if (program == Program::hummer_tls) {
      const Result<std::shared_ptr<TlsContext>> tls =
          TlsContext::make(*platform, tls_options(), TlsRole::both);
      HUMMER_ASSERT(tls.ok());
      options.tls = *tls;
    }
    plane = std::make_unique<DataPlane>(*platform, *network, std::move(options));
  }
  ~Side() {
    slot->stop();
    network->stop();
    plane.reset();
  }
  void wait() {
    const RunEnd end = platform->run_until([this] { return done.load(); }, never);
    HUMMER_ASSERT(end == RunEnd::satisfied);
  }
  void finish() {
    done.store(true);
    platform->notify_main();
  }
  std::unique_ptr<Platform> platform;
  std::unique_ptr<Executor> slot;
  std::unique_ptr<Executor> network;
  std::unique_ptr<DataPlane> plane;
  std::atomic<bool> done{false};
};

class BenchContext final : public ConnectorContext {
 public:
  BenchContext(Side& side, WakeEvent& event) : side_(side), event_(event) {}
  std::int64_t now() const override { return 0; }
  void call_at(std::int64_t) override {}
  void wake() override { event_.notify(); }
  Platform& platform() override { return *side_.platform; }
  Executor& executor() override { return *side_.slot; }
  WakeEvent& wake_event() override { return event_; }
  const Status& failure() const { return report_.failure; }

 private:
  Side& side_;
  WakeEvent& event_;
};

Task<void> receive(Side& side, std::unique_ptr<TransportReceiver> transport, Outcome& outcome) {
  WakeEvent event;
  BenchContext context(side, event);
  NetworkReceiver receiver(std::move(transport), type_of<Record>(), "sender");
  receiver.set_context(context);
  Output out;
  receiver.declare(out);
  HUMMER_ASSERT(receiver.open().ok());
  Checksum checksum;
  std::chrono::steady_clock::time_point start;
  while (true) {
    event.prepare_wait();
    const OperatorResult answer = receiver.produce(out);
    if (answer == OperatorResult::blocked) {
      co_await event.wait();
      continue;
    }
    event.cancel_wait();
    if (answer == OperatorResult::failed) {
      std::fprintf(stderr, "%s\n", context.failure().to_string().c_str());
      std::abort();
    }
    if (outcome.records == 0) start = std::chrono::steady_clock::now();
    Batch& batch = out.batch(0);
    checksum.add(batch.values<Record>().data(), batch.size());
    outcome.records += batch.size();
    batch.clear();
    (void)out.take_control();
    if (answer == OperatorResult::done) break;
    // As the chain driver does: others of the slot have their turn.
    co_await yield();
  }
  outcome.seconds = seconds_since(start);
  outcome.checksum = checksum.value();
  HUMMER_ASSERT(receiver.close().ok());
  side.finish();
}

Task<void> send(Side& side, std::unique_ptr<TransportSender> transport, std::uint64_t total,
                std::uint64_t& result) {
  WakeEvent event;
  NetworkEmitter emitter(std::move(transport), type_of<Record>(), "receiver");
  emitter.attach(*side.slot, event);
  Checksum checksum;
  Element element{Batch(type_of<Record>(), default_batch_records), {}};
  for (std::uint64_t sent = 0; sent <= total;) {
    const std::uint64_t count = std::min<std::uint64_t>(default_batch_records, total - sent);
    Record* records = element.batch.mutable_values<Record>();
    fill(records, count, static_cast<std::uint32_t>(sent));
    checksum.add(records, count);
    element.batch.set_size(count);
    element.control =
        count == 0 ? Control::end() : Control::watermark(static_cast<Timestamp>(sent));
    while (true) {
      event.prepare_wait();
      const OperatorResult answer = emitter.offer(element);
      if (answer == OperatorResult::blocked) {
        co_await event.wait();
        continue;
      }
      event.cancel_wait();
      if (answer == OperatorResult::done) break;
      std::fprintf(stderr, "%s\n", emitter.failure().to_string().c_str());
      std::abort();
    }
    if (count == 0) break;
    sent += count;
    co_await yield();
  }
  result = checksum.value();
  side.finish();
}

NetworkSettings settings_of(Program program, std::size_t buffer_bytes) {
  NetworkSettings settings;
  settings.transport = program == Program::hummer_ring ? Transport::shm : Transport::tcp;
  settings.buffer_size_bytes = buffer_bytes;
  return settings;
}

constexpr ChannelKey bench_channel{1, 1, 1};

std::uint64_t hummer_send(Program program, std::uint16_t port, std::uint64_t total,
                          std::size_t buffer_bytes) {
  Side side(program);
  HUMMER_ASSERT(side.plane->start().ok());
  std::uint64_t checksum = 0;
  side.slot->spawn(
      send(side,
           side.plane->open_sender("127.0.0.1:" + std::to_string(port), bench_channel,
                                   type_of<Record>(), settings_of(program, buffer_bytes), "r"),
           total, checksum));
  side.wait();
  return checksum;
}

// Says through `tell_port` where it listens.
template <typename TellPort>
Outcome hummer_receive(Program program, std::size_t buffer_bytes, TellPort tell_port) {
  Side side(program);
  HUMMER_ASSERT(side.plane->start().ok());
  Outcome outcome;
  side.slot->spawn(receive(side,
                           side.plane->open_receiver(bench_channel, type_of<Record>(),
                                                     settings_of(program, buffer_bytes), "s"),
                           outcome));
  tell_port(side.plane->address().port);
  side.wait();
  return outcome;
}

// --- the two, as threads and as processes

Outcome run_side(Program program, PlainRing* ring, std::uint64_t total, std::size_t buffer_bytes,
                 const auto& tell_port) {
  if (program == Program::plain_ring) {
    tell_port(std::uint16_t{0});
    return plain_ring_receive(*ring, total, buffer_bytes);
  }
  if (program != Program::plain) return hummer_receive(program, buffer_bytes, tell_port);
  std::uint16_t port = 0;
  const int listener = plain_listen(port);
  tell_port(port);
  return plain_receive(listener, total, buffer_bytes);
}

std::uint64_t send_side(Program program, PlainRing* ring, std::uint16_t port, std::uint64_t total,
                        std::size_t buffer_bytes) {
  if (program == Program::plain_ring) return plain_ring_send(*ring, total, buffer_bytes);
  if (program == Program::plain) return plain_send(port, total, buffer_bytes);
  return hummer_send(program, port, total, buffer_bytes);
}

struct Metrics {
  double records_per_second;
  double nanoseconds_per_record;  // of processor time
};

double processor_seconds(const rusage& usage) {
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// A process of its own for each round, so that no thread is left from another.
Metrics measure(Program program, bool processes, std::uint64_t total, std::size_t buffer_bytes) {
  int ports[2], results[2];
  HUMMER_ASSERT(::pipe(ports) == 0 && ::pipe(results) == 0);
  PlainRing* const ring = program == Program::plain_ring ? make_plain_ring(buffer_bytes) : nullptr;
  const pid_t receiver = ::fork();
  if (receiver == 0) {
    std::thread sender;
    std::uint64_t checksum = 0;
    const auto tell_port = [&](std::uint16_t port) {
      if (processes) {
        HUMMER_ASSERT(::write(ports[1], &port, sizeof port) == sizeof port);
      } else {
        sender = std::thread([&checksum, program, ring, port, total, buffer_bytes] {
          checksum = send_side(program, ring, port, total, buffer_bytes);
        });
      }
    };
    Outcome outcome = run_side(program, ring, total, buffer_bytes, tell_port);
    if (processes) {
      HUMMER_ASSERT(::read(results[0], &checksum, sizeof checksum) == sizeof checksum);
    } else {
      sender.join();
    }
    HUMMER_ASSERT(outcome.records == total && outcome.checksum == checksum);
    HUMMER_ASSERT(::write(ports[1], &outcome.seconds, sizeof(double)) == sizeof(double));
    ::_exit(0);
  }
  pid_t sender = -1;
  if (processes) {
    std::uint16_t port = 0;
    HUMMER_ASSERT(::read(ports[0], &port, sizeof port) == sizeof port);
    sender = ::fork();
    if (sender == 0) {
      const std::uint64_t checksum = send_side(program, ring, port, total, buffer_bytes);
      HUMMER_ASSERT(::write(results[1], &checksum, sizeof checksum) == sizeof checksum);
      ::_exit(0);
    }
  }
  double elapsed = 0;
  HUMMER_ASSERT(::read(ports[0], &elapsed, sizeof elapsed) == sizeof elapsed);
  double processor = 0;
  for (const pid_t child : {receiver, sender}) {
    if (child < 0) continue;
    int status = 0;
    rusage usage{};
    ::wait4(child, &status, 0, &usage);
    processor += processor_seconds(usage);
  }
  for (const int end : {ports[0], ports[1], results[0], results[1]}) ::close(end);
  return {static_cast<double>(total) / elapsed, 1e9 * processor / static_cast<double>(total)};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

int run(int argument_count, char** arguments) {
  const std::uint64_t megabytes =
      argument_count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 2000;
  const int rounds = argument_count > 2 ? std::atoi(arguments[2]) : 3;
  std::vector<std::size_t> sizes;
  for (int i = 3; i < argument_count; ++i) {
    sizes.push_back(std::strtoull(arguments[i], nullptr, 10));
  }
  if (sizes.empty()) sizes.push_back(NetworkSettings{}.buffer_size_bytes / 1024);
  const std::uint64_t total = megabytes * 1'000'000 / sizeof(Record);
  std::printf("%-10s %8s %14s %14s %7s %7s %11s %12s\n", "form", "buffer", "plain rec/s",
              "hummer rec/s", "GB/s", "ratio", "plain ns/r", "hummer ns/r");
  struct Form {
    const char* name;
    Program plain;
    Program program;
    bool processes;
  };
  std::vector<Form> forms{{"threads", Program::plain, Program::hummer, false},
                          {"processes", Program::plain, Program::hummer, true},
                          {"ring", Program::plain_ring, Program::hummer_ring, true}};
  if (tls_options().enabled()) {
    forms.push_back({"TLS", Program::plain, Program::hummer_tls, true});
  }
  for (const std::size_t size : sizes) {
    for (const auto& [name, plain_program, program, processes] : forms) {
      std::vector<double> plain, hummer, ratio, plain_time, hummer_time;
      for (int round = 0; round < rounds; ++round) {
        const Metrics theirs = measure(plain_program, processes, total, size * 1024);
        const Metrics ours = measure(program, processes, total, size * 1024);
        plain.push_back(theirs.records_per_second);
        hummer.push_back(ours.records_per_second);
        ratio.push_back(ours.records_per_second / theirs.records_per_second);
        plain_time.push_back(theirs.nanoseconds_per_record);
        hummer_time.push_back(ours.nanoseconds_per_record);
      }
      std::printf("%-10s %4zu KiB %14.0f %14.0f %7.2f %6.0f%% %11.1f %12.1f\n", name, size,
                  median(plain), median(hummer), median(hummer) * sizeof(Record) / 1e9,
                  100 * median(ratio), median(plain_time), median(hummer_time));
      std::fflush(stdout);
    }
  }
  return 0;
}

}  // namespace
}  // namespace hummer

int main(int argument_count, char** arguments) { return hummer::run(argument_count, arguments); }
