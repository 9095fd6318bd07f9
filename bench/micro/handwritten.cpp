// micro_handwritten chain|channel|socket_source|socket_sink|ring_source|ring_sink
//                   [RECORDS [PORT [SEED ADDEND MASK]]]
//
// The same work as the jobs beside it, without an engine: the three loops over materialised
// batches, a ring of batch pointers between two threads, a socket between two processes, and a ring
// in shared memory between two, which is written and read in place; PORT is a part of its name.
//
// timed_chain and so on: every record with its event time, which one more loop finds and which goes
// to where the record goes; each batch has the latest one, its watermark.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernels.hpp"
#include "report.hpp"

namespace micro {
namespace {

struct alignas(64) Values {
  static constexpr bool timed = false;
  std::size_t size = 0;
  alignas(64) std::uint64_t values[batch_records];
};

struct TimedValues : Values {
  static constexpr bool timed = true;
  std::int64_t watermark = INT64_MIN;
  alignas(64) std::int64_t times[batch_records];
};

[[gnu::noinline]] void make_values(Values& batch, std::uint64_t first, std::size_t count,
                                   Make make) {
#pragma GCC unroll 4
  for (std::size_t i = 0; i < count; ++i) batch.values[i] = make(first + i);
  batch.size = count;
}

[[gnu::noinline]] void change_values(const Values& from, Values& to, Change change) {
  const std::size_t count = from.size;
#pragma GCC unroll 4
  for (std::size_t i = 0; i < count; ++i) to.values[i] = change(from.values[i]);
  to.size = count;
}

// The times of the records as they were made go to where the changed ones are.
[[gnu::noinline]] void stamp_values(const Values& from, TimedValues& to, TimeOf time_of,
                                    std::int64_t& latest) {
  const std::size_t count = from.size;
  std::int64_t last = latest;
#pragma GCC unroll 4
  for (std::size_t i = 0; i < count; ++i) {
    to.times[i] = time_of(from.values[i]);
    last = std::max(last, to.times[i]);
  }
  to.watermark = latest = last;
}

[[gnu::noinline]] void add_values(const Values& batch, Checksum& sum) {
  sum.add(batch.values, batch.size);
}

// What the sink of a stream knows at its end.
struct Totals {
  Checksum sum;
  Checksum times;
  std::uint64_t watermarks = 0;
  std::int64_t watermark = INT64_MIN;

  void add(const Values& batch) { add_values(batch, sum); }
  void add(const TimedValues& batch) {
    add_values(batch, sum);
    times.add(batch.times, batch.size);
    if (batch.watermark > watermark) ++watermarks;
    watermark = std::max(watermark, batch.watermark);
  }
  void report_as(const char* name, std::uint64_t total, double seconds, bool timed) const {
    const std::uint64_t hash = timed ? mix(sum.value(), times.value()) : sum.value();
    report(name, total, seconds, hash, watermarks);
  }
};

std::size_t next_count(std::uint64_t done, std::uint64_t total) {
  return static_cast<std::size_t>(std::min<std::uint64_t>(batch_records, total - done));
}

template <typename Batch>
int run_chain(std::uint64_t total, const Parameters& parameters) {
  const Stopwatch watch;
  static Values made;
  static Batch changed;
  Totals totals;
  [[maybe_unused]] std::int64_t latest = INT64_MIN;
  for (std::uint64_t done = 0; done < total;) {
    make_values(made, done, next_count(done, total), {parameters.seed});
    if constexpr (Batch::timed) stamp_values(made, changed, {parameters.seed}, latest);
    change_values(made, changed, {parameters.addend, parameters.mask});
    totals.add(changed);
    done += made.size;
  }
  totals.report_as("chain", total, watch.seconds(), Batch::timed);
  return 0;
}

// Waits between two looks at the ring: a moment, or for the other thread's turn when the machine
// has other work.
class Patience {
 public:
  void wait() {
    if (++waits_ % 1024 == 0) {
      std::this_thread::yield();
    } else {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
  }

 private:
  int waits_ = 0;
};

// Single producer, single consumer; each side keeps the other's index until it runs out. A slot
// holds a batch always: the producer swaps a full one for the used one that the consumer left.
template <typename Batch>
class PointerRing {
 public:
  explicit PointerRing(Batch* batches) {
    for (Slot& slot : slots_) slot.batch = batches++;
  }
  Batch* push(Batch* full) {
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    for (Patience patience; tail - seen_head_ >= ring_batches;) {
      seen_head_ = head_.load(std::memory_order_acquire);
      if (tail - seen_head_ >= ring_batches) patience.wait();
    }
    Batch* used = std::exchange(slots_[tail % ring_batches].batch, full);
    tail_.store(tail + 1, std::memory_order_release);
    return used;
  }
  Batch* pop(Batch* used) {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    for (Patience patience; head == seen_tail_;) {
      seen_tail_ = tail_.load(std::memory_order_acquire);
      if (head == seen_tail_) patience.wait();
    }
    Batch* full = std::exchange(slots_[head % ring_batches].batch, used);
    head_.store(head + 1, std::memory_order_release);
    return full;
  }

 private:
  struct alignas(64) Slot {
    Batch* batch;
  };
  alignas(64) std::atomic<std::uint64_t> tail_{0};
  std::uint64_t seen_head_ = 0;
  alignas(64) std::atomic<std::uint64_t> head_{0};
  std::uint64_t seen_tail_ = 0;
  Slot slots_[ring_batches];
};

template <typename Batch>
int run_channel(std::uint64_t total, const Parameters& parameters) {
  const Stopwatch watch;
  static Values made;
  static Batch batches[ring_batches + 2];
  static PointerRing<Batch> ring(batches + 2);
  Totals totals;
  std::thread consumer([&] {
    Batch* batch = &batches[0];
    for (std::uint64_t done = 0; done < total; done += batch->size) {
      batch = ring.pop(batch);
      totals.add(*batch);
    }
  });
  Batch* batch = &batches[1];
  [[maybe_unused]] std::int64_t latest = INT64_MIN;
  for (std::uint64_t done = 0; done < total; done += made.size) {
    make_values(made, done, next_count(done, total), {parameters.seed});
    if constexpr (Batch::timed) stamp_values(made, *batch, {parameters.seed}, latest);
    change_values(made, *batch, {parameters.addend, parameters.mask});
    batch = ring.push(batch);
  }
  consumer.join();
  totals.report_as("channel", total, watch.seconds(), Batch::timed);
  return 0;
}

[[noreturn]] void fail(const char* call) {
  std::perror(call);
  std::exit(1);
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int connect_to(std::uint16_t port) {
  const int on = 1;
  const sockaddr_in address = loopback(port);
  int socket = -1;
  for (int tries = 0;; ++tries) {
    socket = ::socket(AF_INET, SOCK_STREAM, 0);
    if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) break;
    ::close(socket);
    if (tries == 1000) fail("connect");
    ::usleep(10'000);
  }
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket;
}

void send_all(int socket, const void* bytes, std::size_t size) {
  const char* at = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t put = ::send(socket, at, size, MSG_NOSIGNAL);
    if (put <= 0) fail("send");
    at += put;
    size -= static_cast<std::size_t>(put);
  }
}

int accept_on(std::uint16_t port) {
  const int on = 1;
  const sockaddr_in address = loopback(port);
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    fail("bind");
  }
  if (::listen(listener, 1) != 0) fail("listen");
  const int socket = ::accept(listener, nullptr, nullptr);
  if (socket < 0) fail("accept");
  return socket;
}

constexpr int looks_before_sleep = 100;

// What has come, at least a byte.
std::size_t receive(int socket, char* bytes, std::size_t room) {
  ssize_t got = -1;
  // Going to sleep and being woken costs more than a few looks.
  for (int looks = 0; got < 0 && looks < looks_before_sleep; ++looks) {
    got = ::recv(socket, bytes, room, MSG_DONTWAIT);
  }
  if (got < 0) got = ::recv(socket, bytes, room, 0);
  if (got <= 0) fail("recv");
  return static_cast<std::size_t>(got);
}

int run_socket_source(std::uint64_t total, std::uint16_t port, const Parameters& parameters) {
  const int socket = connect_to(port);
  const MakeRecord make{static_cast<std::uint32_t>(parameters.seed)};
  std::vector<Record> buffer(socket_buffer_bytes / sizeof(Record));
  for (std::uint64_t done = 0; done < total;) {
    const std::size_t count = std::min<std::uint64_t>(buffer.size(), total - done);
    for (std::size_t i = 0; i < count; ++i) buffer[i] = make(done + i);
    send_all(socket, buffer.data(), count * sizeof(Record));
    done += count;
  }
  ::close(socket);
  return 0;
}

int run_socket_sink(std::uint64_t total, std::uint16_t port) {
  const int socket = accept_on(port);
  RecordChecksum sum;
  std::vector<Record> buffer(socket_buffer_bytes / sizeof(Record));
  Stopwatch watch;
  // Whole records as they come; the piece of one behind them stays for the next call.
  std::size_t have = 0;
  char* bytes = reinterpret_cast<char*>(buffer.data());
  for (std::uint64_t done = 0; done < total;) {
    const std::size_t got = receive(socket, bytes + have, buffer.size() * sizeof(Record) - have);
    if (done == 0 && have == 0) watch = Stopwatch();
    have += got;
    const std::size_t count = have / sizeof(Record);
    sum.add(buffer.data(), count);
    done += count;
    have -= count * sizeof(Record);
    std::memmove(bytes, bytes + count * sizeof(Record), have);
  }
  report("tcp", total, watch.seconds(), sum.value());
  return 0;
}

// What is sent at once: the watermark behind the records, their times, the records.
struct TimedRecords {
  static constexpr std::size_t most = socket_buffer_bytes / (sizeof(Record) + sizeof(std::int64_t));
  static std::size_t count(std::uint64_t done, std::uint64_t total) {
    return static_cast<std::size_t>(std::min<std::uint64_t>(most, total - done));
  }
  std::int64_t watermark = INT64_MIN;
  std::int64_t times[most];
  Record records[most];
};

int run_timed_socket_source(std::uint64_t total, std::uint16_t port, const Parameters& parameters) {
  const int socket = connect_to(port);
  const MakeRecord make{static_cast<std::uint32_t>(parameters.seed)};
  static TimedRecords block;
  for (std::uint64_t done = 0; done < total;) {
    const std::size_t count = TimedRecords::count(done, total);
    for (std::size_t i = 0; i < count; ++i) {
      block.records[i] = make(done + i);
      block.times[i] = TimeOfRecord{}(block.records[i]);
      block.watermark = std::max(block.watermark, block.times[i]);
    }
    send_all(socket, &block, sizeof block);
    done += count;
  }
  ::close(socket);
  return 0;
}

int run_timed_socket_sink(std::uint64_t total, std::uint16_t port) {
  const int socket = accept_on(port);
  RecordChecksum sum;
  Checksum times;
  std::uint64_t watermarks = 0;
  std::int64_t watermark = INT64_MIN;
  static TimedRecords block;
  Stopwatch watch;
  for (std::uint64_t done = 0; done < total;) {
    char* const bytes = reinterpret_cast<char*>(&block);
    std::size_t have = receive(socket, bytes, sizeof block);
    if (done == 0) watch = Stopwatch();
    while (have < sizeof block) have += receive(socket, bytes + have, sizeof block - have);
    const std::size_t count = TimedRecords::count(done, total);
    sum.add(block.records, count);
    times.add(block.times, count);
    watermarks += block.watermark > watermark;
    watermark = std::max(watermark, block.watermark);
    done += count;
  }
  report("tcp", total, watch.seconds(), mix(sum.value(), times.value()), watermarks);
  return 0;
}

// Slots of the size of the socket programs' buffers, as many as a channel has credits.
struct SharedRing {
  static constexpr std::uint64_t slots = 16;
  static constexpr std::size_t slot_records = socket_buffer_bytes / sizeof(Record);

  alignas(64) std::atomic<std::uint64_t> written;  // slots
  alignas(64) std::atomic<std::uint64_t> read;
  alignas(64) std::uint64_t counts[slots];
  alignas(4096) Record records[slots][slot_records];
};

std::string ring_name(std::uint16_t port) { return "/micro-ring-" + std::to_string(port); }

// Whoever comes first makes it; a new one is all zero, which is an empty ring.
SharedRing* open_ring(std::uint16_t port) {
  const int file = ::shm_open(ring_name(port).c_str(), O_RDWR | O_CREAT, 0600);
  if (file < 0 || ::ftruncate(file, sizeof(SharedRing)) != 0) fail("shm_open");
  void* memory = ::mmap(nullptr, sizeof(SharedRing), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) fail("mmap");
  ::close(file);
  return static_cast<SharedRing*>(memory);
}

template <typename Ready>
void look_until(const Ready& ready) {
  for (int looks = 0; !ready(); ++looks) {
    if (looks > looks_before_sleep) ::sched_yield();
  }
}

int run_ring_source(std::uint64_t total, std::uint16_t port, const Parameters& parameters) {
  SharedRing& ring = *open_ring(port);
  const MakeRecord make{static_cast<std::uint32_t>(parameters.seed)};
  std::uint64_t slot = 0;
  for (std::uint64_t done = 0; done < total; ++slot) {
    look_until(
        [&] { return slot - ring.read.load(std::memory_order_acquire) < SharedRing::slots; });
    Record* records = ring.records[slot % SharedRing::slots];
    const std::size_t count = std::min<std::uint64_t>(SharedRing::slot_records, total - done);
    for (std::size_t i = 0; i < count; ++i) records[i] = make(done + i);
    ring.counts[slot % SharedRing::slots] = count;
    ring.written.store(slot + 1, std::memory_order_release);
    done += count;
  }
  return 0;
}

int run_ring_sink(std::uint64_t total, std::uint16_t port) {
  SharedRing& ring = *open_ring(port);
  RecordChecksum sum;
  look_until([&] { return ring.written.load(std::memory_order_acquire) > 0; });
  ::shm_unlink(ring_name(port).c_str());
  const Stopwatch watch;
  std::uint64_t slot = 0;
  for (std::uint64_t done = 0; done < total; ++slot) {
    look_until([&] { return ring.written.load(std::memory_order_acquire) > slot; });
    const std::uint64_t count = ring.counts[slot % SharedRing::slots];
    sum.add(ring.records[slot % SharedRing::slots], count);
    ring.read.store(slot + 1, std::memory_order_release);
    done += count;
  }
  report("shm", total, watch.seconds(), sum.value());
  return 0;
}

int run(int argument_count, char** arguments) {
  const auto number = [&](int i, std::uint64_t otherwise) {
    return argument_count > i ? std::strtoull(arguments[i], nullptr, 10) : otherwise;
  };
  const std::string program = argument_count > 1 ? arguments[1] : "";
  const std::uint64_t total = number(2, 1'000'000'000);
  const auto port = static_cast<std::uint16_t>(number(3, 7003));
  const Parameters defaults;
  const Parameters parameters{number(4, defaults.seed), number(5, defaults.addend),
                              number(6, defaults.mask)};
  if (program == "chain") return run_chain<Values>(total, parameters);
  if (program == "channel") return run_channel<Values>(total, parameters);
  if (program == "socket_source") return run_socket_source(total, port, parameters);
  if (program == "socket_sink") return run_socket_sink(total, port);
  if (program == "ring_source") return run_ring_source(total, port, parameters);
  if (program == "ring_sink") return run_ring_sink(total, port);
  if (program == "timed_chain") return run_chain<TimedValues>(total, parameters);
  if (program == "timed_channel") return run_channel<TimedValues>(total, parameters);
  if (program == "timed_socket_source") return run_timed_socket_source(total, port, parameters);
  if (program == "timed_socket_sink") return run_timed_socket_sink(total, port);
  std::fprintf(stderr,
               "usage: micro_handwritten [timed_]chain|channel|socket_source|socket_sink "
               "[RECORDS [PORT [SEED ADDEND MASK]]]\n"
               "       micro_handwritten ring_source|ring_sink [RECORDS [PORT [SEED]]]\n");
  return 2;
}

}  // namespace
}  // namespace micro

int main(int argument_count, char** arguments) { return micro::run(argument_count, arguments); }
