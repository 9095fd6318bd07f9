// Two sides of a measurement that run beside each other, as two processes or as two threads of one.
//
//   Pair pair;
//   pair.run(processes, consumer, producer);
//   pair.report(0)                       // what the first side has found out
//
// Each run has new processes, so that no thread and no socket is left from another; they are forked
// before any thread exists. A side that fails ends its process, and with it this one, with a word
// on standard error.
//
// Thread: the main one.
#pragma once

#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <new>
#include <thread>
#include <type_traits>

#include <hummer/status.hpp>

namespace hummer::net_bench {

// From when it was made.
class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  }
  // Of the processor, by this process.
  double processor_seconds() const { return processor_now() - processor_began_; }

 private:
  static double processor_now() {
    timespec time{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  }

  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  double processor_began_ = processor_now();
};

// What the sides tell each other beside what is measured: ports, keys, that all has come.
class Meeting {
 public:
  explicit Meeting(int socket) : socket_(socket) {}

  template <typename T>
  void tell(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    HUMMER_ASSERT(::send(socket_, &value, sizeof value, MSG_NOSIGNAL) == sizeof value);
  }
  template <typename T>
  T hear() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    HUMMER_ASSERT(::recv(socket_, &value, sizeof value, MSG_WAITALL) == sizeof value);
    return value;
  }
  bool was_told() const {
    pollfd waited{socket_, POLLIN, 0};
    return ::poll(&waited, 1, 0) > 0;
  }

 private:
  int socket_;
};

// Memory that the processes share that are forked from here.
inline void* map_shared(std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  HUMMER_ASSERT(memory != MAP_FAILED);
  return memory;
}

struct RoundTrips {
  static constexpr std::size_t most = 1 << 14;
  std::size_t count = 0;
  std::array<double, most> seconds;

  static std::chrono::steady_clock::time_point now() { return std::chrono::steady_clock::now(); }
  // One that began then.
  void add(std::chrono::steady_clock::time_point began) {
    if (count < most) seconds[count++] = std::chrono::duration<double>(now() - began).count();
  }
};

struct Report {
  std::uint64_t records = 0;  // that have come
  std::uint64_t sum = 0;      // of these
  // From the first records to the last, without what it took to connect.
  double seconds = 0;
  double processor_seconds = 0;
  RoundTrips one, full;  // of a record, and of a full buffer

  void stop(const Stopwatch& stopwatch) {
    seconds = stopwatch.seconds();
    processor_seconds = stopwatch.processor_seconds();
  }
};

class Pair {
 public:
  using Side = std::function<void(Meeting&, Report&)>;

  Pair() : reports_(static_cast<Report*>(map_shared(2 * sizeof(Report)))) {}
  ~Pair() { ::munmap(reports_, 2 * sizeof(Report)); }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  const Report& report(std::size_t side) const { return reports_[side]; }

  void run(bool processes, const Side& first, const Side& second) {
    for (std::size_t side = 0; side < 2; ++side) new (reports_ + side) Report();
    int sockets[2];
    HUMMER_ASSERT(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
    std::array<pid_t, 2> children{-1, -1};
    const auto begin = [&](std::size_t side, const auto& body) {
      children[side] = ::fork();
      HUMMER_ASSERT(children[side] >= 0);
      if (children[side] != 0) return;
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::alarm(longest_seconds);
      body();
      ::_exit(0);
    };
    const auto run_side = [&](std::size_t number, const Side& side) {
      Meeting meeting(sockets[number]);
      side(meeting, reports_[number]);
    };
    std::fflush(nullptr);
    if (processes) {
      begin(0, [&] { run_side(0, first); });
      begin(1, [&] { run_side(1, second); });
    } else {
      begin(0, [&] {
        std::thread other([&] { run_side(1, second); });
        run_side(0, first);
        other.join();
      });
    }
    for (const int socket : sockets) ::close(socket);
    for (const pid_t child : children) {
      if (child >= 0) wait_for_one();
    }
  }

 private:
  static constexpr unsigned longest_seconds = 600;

  static void wait_for_one() {
    int status = 0;
    HUMMER_ASSERT(::waitpid(-1, &status, 0) > 0);
    if (status == 0) return;
    // The other one may wait for ever for what does not come; it ends with this process.
    std::fprintf(stderr, "net_bench: a side of a measurement failed (%s %d)\n",
                 WIFEXITED(status) ? "exit code" : "signal",
                 WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    std::exit(1);
  }

  Report* const reports_;
};

}  // namespace hummer::net_bench
