// The plain programs of net_bench: blocking sockets, and a ring in shared memory; and the loops
// over these, and over libfabric (net_fabric_bench.hpp), that stand beside Hummer's channel.
//
// An End is one side of a connection that carries buffers both ways:
//
//   char* room()                  of a buffer; waits until there is some
//   void send(bytes, more)        what was written there; `more`: the next follows at once
//   const char* receive(bytes)    waits until so many have come, which were sent as one
//   void release()                what was received has been read
//   void finish(meeting)          behind the last call; the other side calls it too
//
// Thread: one at a time. What goes wrong ends the process.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include <hummer/network_settings.hpp>

#include "net/net_pair_bench.hpp"

namespace hummer::net_bench {

// As many as a channel of Hummer has.
inline const std::uint64_t slots = static_cast<std::uint64_t>(NetworkSettings{}.credits);

struct Work {
  std::size_t buffer_bytes = 0;
  std::size_t batch_records = 0;  // in which tasks hand records on
  std::uint64_t records = 0;      // to be carried, one way
  // Or to and fro, a record and a full buffer so many times each.
  std::uint32_t trips_of_one = 0;
  std::uint32_t trips_of_full = 0;
  std::uint64_t records_in_full = 0;

  std::uint64_t records_to_and_fro() const {
    return trips_of_one + trips_of_full * records_in_full;
  }
};

template <typename Ready>
void spin_until(const Ready& ready) {
  for (int spins = 0; !ready(); ++spins) {
    if (spins > 1000) ::sched_yield();
  }
}

class PlainSocket {
 public:
  PlainSocket(Meeting& meeting, bool listens, const Work& work)
      : out_(work.buffer_bytes), in_(work.buffer_bytes) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    socket_ = ::socket(AF_INET, SOCK_STREAM, 0);
    if (listens) {
      const int listener = socket_;
      HUMMER_ASSERT(::bind(listener, any, length) == 0 && ::listen(listener, 1) == 0);
      HUMMER_ASSERT(::getsockname(listener, any, &length) == 0);
      meeting.tell(address.sin_port);
      socket_ = ::accept(listener, nullptr, nullptr);
      HUMMER_ASSERT(socket_ >= 0);
      ::close(listener);
    } else {
      address.sin_port = meeting.hear<in_port_t>();
      HUMMER_ASSERT(::connect(socket_, any, length) == 0);
    }
    const int on = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  ~PlainSocket() { ::close(socket_); }
  PlainSocket(const PlainSocket&) = delete;
  PlainSocket& operator=(const PlainSocket&) = delete;

  char* room() { return out_.data(); }
  void send(std::size_t bytes, bool /*more*/) {
    const char* at = out_.data();
    while (bytes > 0) {
      const ssize_t put = ::send(socket_, at, bytes, MSG_NOSIGNAL);
      HUMMER_ASSERT(put > 0);
      at += put;
      bytes -= static_cast<std::size_t>(put);
    }
  }
  const char* receive(std::size_t bytes) {
    char* at = in_.data();
    while (bytes > 0) {
      const ssize_t got = ::recv(socket_, at, bytes, 0);
      HUMMER_ASSERT(got > 0);
      at += got;
      bytes -= static_cast<std::size_t>(got);
    }
    return in_.data();
  }
  void release() {}
  void finish(Meeting&) {}

 private:
  int socket_;
  std::vector<char> out_, in_;
};

// In memory that both processes see; one way. Each side looks at the other's count when what it
// knows of it does not suffice.
struct PlainRing {
  alignas(64) std::atomic<std::uint64_t> written{0};  // slots
  alignas(64) std::atomic<std::uint64_t> read{0};
  alignas(4096) char slots[1];  // the first of them

  static std::size_t bytes(std::size_t buffer_bytes) {
    return sizeof(PlainRing) + net_bench::slots * buffer_bytes;
  }
  static PlainRing* make(std::size_t buffer_bytes) {
    return new (map_shared(bytes(buffer_bytes))) PlainRing();
  }
};

struct PlainRings {
  explicit PlainRings(std::size_t buffer_bytes_)
      : buffer_bytes(buffer_bytes_),
        way{PlainRing::make(buffer_bytes_), PlainRing::make(buffer_bytes_)} {}
  ~PlainRings() {
    for (PlainRing* ring : way) ::munmap(ring, PlainRing::bytes(buffer_bytes));
  }
  PlainRings(const PlainRings&) = delete;
  PlainRings& operator=(const PlainRings&) = delete;

  const std::size_t buffer_bytes;
  PlainRing* const way[2];
};

class PlainRingEnd {
 public:
  PlainRingEnd(const PlainRings& rings, bool is_first)
      : buffer_bytes_(rings.buffer_bytes),
        out_(*rings.way[is_first ? 0 : 1]),
        in_(*rings.way[is_first ? 1 : 0]) {}

  char* room() {
    if (sent_ - read_there_ == slots) {
      spin_until([&] {
        read_there_ = out_.read.load(std::memory_order_acquire);
        return sent_ - read_there_ < slots;
      });
    }
    return out_.slots + sent_ % slots * buffer_bytes_;
  }
  void send(std::size_t /*bytes*/, bool /*more*/) {
    out_.written.store(++sent_, std::memory_order_release);
  }
  const char* receive(std::size_t /*bytes*/) {
    if (written_there_ == received_) {
      spin_until([&] {
        written_there_ = in_.written.load(std::memory_order_acquire);
        return written_there_ != received_;
      });
    }
    return in_.slots + received_ % slots * buffer_bytes_;
  }
  void release() { in_.read.store(++received_, std::memory_order_release); }
  void finish(Meeting&) {}

 private:
  const std::size_t buffer_bytes_;
  PlainRing& out_;
  PlainRing& in_;
  std::uint64_t sent_ = 0, read_there_ = 0;
  std::uint64_t received_ = 0, written_there_ = 0;
};

// --- the loops

template <typename Records, typename End>
void produce(End& end, const Work& work, Report& report) {
  const std::uint64_t most = work.buffer_bytes / Records::bytes;
  const Stopwatch stopwatch;
  for (std::uint64_t sent = 0; sent < work.records;) {
    const std::size_t count = std::min(most, work.records - sent);
    Records::fill(end.room(), count, static_cast<std::uint32_t>(sent));
    sent += count;
    end.send(count * Records::bytes, sent < work.records);
  }
  report.stop(stopwatch);
}

template <typename Records, typename End>
void consume(End& end, const Work& work, Report& report) {
  const std::uint64_t most = work.buffer_bytes / Records::bytes;
  typename Records::Sums sums;
  Stopwatch stopwatch;
  for (std::uint64_t read = 0; read < work.records;) {
    const std::size_t count = std::min(most, work.records - read);
    const char* records = end.receive(count * Records::bytes);
    if (read == 0) stopwatch = {};
    sums.add(records, count);
    end.release();
    read += count;
  }
  report.stop(stopwatch);
  report.records = work.records;
  report.sum = sums.value();
}

// The first side sends, and measures.
template <typename Records, typename End>
void go_to_and_fro(End& end, bool is_first, const Work& work, Report& report) {
  typename Records::Sums sums;
  std::uint64_t sent = 0;
  const auto carry = [&](std::uint32_t trips, std::size_t count, RoundTrips& measured) {
    const auto send = [&] {
      Records::fill(end.room(), count, static_cast<std::uint32_t>(sent));
      sent += count;
      end.send(count * Records::bytes, false);
    };
    const auto receive = [&] {
      sums.add(end.receive(count * Records::bytes), count);
      end.release();
    };
    for (std::uint32_t trip = 0; trip < trips; ++trip) {
      const auto start = RoundTrips::now();
      if (is_first) send();
      receive();
      if (!is_first) send();
      // The first few find caches and connections cold.
      if (is_first && trip >= trips / 10) measured.add(start);
    }
  };
  carry(work.trips_of_one, 1, report.one);
  carry(work.trips_of_full, work.records_in_full, report.full);
  report.records = sent;
  report.sum = sums.value();
}

// A whole side: the consumer is the first one, and listens; to and fro it is the one that measures.
template <typename Records, typename End>
void run_plain(End& end, Meeting& meeting, bool is_first, const Work& work, Report& report) {
  if (work.trips_of_one > 0) {
    go_to_and_fro<Records>(end, is_first, work, report);
  } else if (is_first) {
    consume<Records>(end, work, report);
  } else {
    produce<Records>(end, work, report);
  }
  end.finish(meeting);
}

}  // namespace hummer::net_bench
