// micro_handwritten chain|channel|socket_source|socket_sink [RECORDS [PORT [SEED ADDEND MASK]]]
//
// The same work as the jobs beside it, without an engine: the three loops over materialised
// batches, a ring of batch pointers between two threads, and a socket between two processes.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
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
  std::size_t size = 0;
  alignas(64) std::uint64_t values[batch_records];
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

[[gnu::noinline]] void add_values(const Values& batch, Checksum& sum) {
  sum.add(batch.values, batch.size);
}

std::size_t next_count(std::uint64_t done, std::uint64_t total) {
  return static_cast<std::size_t>(std::min<std::uint64_t>(batch_records, total - done));
}

int run_chain(std::uint64_t total, const Parameters& parameters) {
  const Stopwatch watch;
  static Values made, changed;
  Checksum sum;
  for (std::uint64_t done = 0; done < total;) {
    make_values(made, done, next_count(done, total), {parameters.seed});
    change_values(made, changed, {parameters.addend, parameters.mask});
    add_values(changed, sum);
    done += made.size;
  }
  report("chain", total, watch.seconds(), sum.value());
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
class PointerRing {
 public:
  explicit PointerRing(Values* batches) {
    for (Slot& slot : slots_) slot.batch = batches++;
  }
  Values* push(Values* full) {
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    for (Patience patience; tail - seen_head_ >= ring_batches;) {
      seen_head_ = head_.load(std::memory_order_acquire);
      if (tail - seen_head_ >= ring_batches) patience.wait();
    }
    Values* used = std::exchange(slots_[tail % ring_batches].batch, full);
    tail_.store(tail + 1, std::memory_order_release);
    return used;
  }
  Values* pop(Values* used) {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    for (Patience patience; head == seen_tail_;) {
      seen_tail_ = tail_.load(std::memory_order_acquire);
      if (head == seen_tail_) patience.wait();
    }
    Values* full = std::exchange(slots_[head % ring_batches].batch, used);
    head_.store(head + 1, std::memory_order_release);
    return full;
  }

 private:
  struct alignas(64) Slot {
    Values* batch;
  };
  alignas(64) std::atomic<std::uint64_t> tail_{0};
  std::uint64_t seen_head_ = 0;
  alignas(64) std::atomic<std::uint64_t> head_{0};
  std::uint64_t seen_tail_ = 0;
  Slot slots_[ring_batches];
};

int run_channel(std::uint64_t total, const Parameters& parameters) {
  const Stopwatch watch;
  static Values made;
  static Values batches[ring_batches + 2];
  static PointerRing ring(batches + 2);
  Checksum sum;
  std::thread consumer([&] {
    Values* batch = &batches[0];
    for (std::uint64_t done = 0; done < total; done += batch->size) {
      batch = ring.pop(batch);
      add_values(*batch, sum);
    }
  });
  Values* batch = &batches[1];
  for (std::uint64_t done = 0; done < total; done += made.size) {
    make_values(made, done, next_count(done, total), {parameters.seed});
    change_values(made, *batch, {parameters.addend, parameters.mask});
    batch = ring.push(batch);
  }
  consumer.join();
  report("channel", total, watch.seconds(), sum.value());
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

int run_socket_source(std::uint64_t total, std::uint16_t port, const Parameters& parameters) {
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
  const MakeRecord make{static_cast<std::uint32_t>(parameters.seed)};
  std::vector<Record> buffer(socket_buffer_bytes / sizeof(Record));
  for (std::uint64_t done = 0; done < total;) {
    const std::size_t count = std::min<std::uint64_t>(buffer.size(), total - done);
    for (std::size_t i = 0; i < count; ++i) buffer[i] = make(done + i);
    const char* at = reinterpret_cast<const char*>(buffer.data());
    for (std::size_t left = count * sizeof(Record); left > 0;) {
      const ssize_t put = ::send(socket, at, left, MSG_NOSIGNAL);
      if (put <= 0) fail("send");
      at += put;
      left -= static_cast<std::size_t>(put);
    }
    done += count;
  }
  ::close(socket);
  return 0;
}

constexpr int looks_before_sleep = 100;

int run_socket_sink(std::uint64_t total, std::uint16_t port) {
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
  RecordChecksum sum;
  std::vector<Record> buffer(socket_buffer_bytes / sizeof(Record));
  Stopwatch watch;
  // Whole records as they come; the piece of one behind them stays for the next call.
  std::size_t have = 0;
  char* bytes = reinterpret_cast<char*>(buffer.data());
  for (std::uint64_t done = 0; done < total;) {
    const std::size_t room = buffer.size() * sizeof(Record) - have;
    ssize_t got = -1;
    // Going to sleep and being woken costs more than a few looks.
    for (int looks = 0; got < 0 && looks < looks_before_sleep; ++looks) {
      got = ::recv(socket, bytes + have, room, MSG_DONTWAIT);
    }
    if (got < 0) got = ::recv(socket, bytes + have, room, 0);
    if (got <= 0) fail("recv");
    if (done == 0 && have == 0) watch = Stopwatch();
    have += static_cast<std::size_t>(got);
    const std::size_t count = have / sizeof(Record);
    sum.add(buffer.data(), count);
    done += count;
    have -= count * sizeof(Record);
    std::memmove(bytes, bytes + count * sizeof(Record), have);
  }
  report("tcp", total, watch.seconds(), sum.value());
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
  if (program == "chain") return run_chain(total, parameters);
  if (program == "channel") return run_channel(total, parameters);
  if (program == "socket_source") return run_socket_source(total, port, parameters);
  if (program == "socket_sink") return run_socket_sink(total, port);
  std::fprintf(stderr,
               "usage: micro_handwritten chain|channel|socket_source|socket_sink "
               "[RECORDS [PORT [SEED ADDEND MASK]]]\n");
  return 2;
}

}  // namespace
}  // namespace micro

int main(int argument_count, char** arguments) { return micro::run(argument_count, arguments); }
