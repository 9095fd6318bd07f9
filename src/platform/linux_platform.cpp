// The Linux form of the platform; see platform.hpp.
#include <poll.h>
#include <sched.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>

#include <csignal>
#include <utility>

#include "platform/linux_executor.hpp"
#include "platform/linux_memory.hpp"
#include "platform/linux_network.hpp"
#include "platform/linux_shared_memory.hpp"
#include "platform/linux_signal_watch.hpp"
#include "platform/platform.hpp"
#include "platform/routed_files.hpp"

namespace hummer {
namespace {

bool fill_from_kernel(std::span<char> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = ::getrandom(bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
  return true;
}

std::uint64_t random_seed() {
  char bytes[sizeof(std::uint64_t)];
  std::uint64_t seed = static_cast<std::uint64_t>(linux_now());
  if (fill_from_kernel(bytes)) std::memcpy(&seed, bytes, sizeof(seed));
  return seed;
}

class LinuxRandom final : public Random {
 public:
  LinuxRandom() : Random(random_seed()) {}
  void fill(std::span<char> bytes) override {
    if (!fill_from_kernel(bytes)) Random::fill(bytes);
  }
};

int usable_processors() {
  cpu_set_t cores;
  if (::sched_getaffinity(0, sizeof(cores), &cores) == 0) {
    const int count = CPU_COUNT(&cores);
    if (count > 0) return count;
  }
  const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? static_cast<int>(online) : 1;
}

class LinuxPlatform final : public Platform {
 public:
  explicit LinuxPlatform(LinuxPlatformOptions options)
      : running_(std::make_shared<RunningCount>()), files_(options.guard_mappings) {
    running_->processors = usable_processors();
  }

  std::unique_ptr<Executor> make_executor(ExecutorOptions options) override {
    return std::make_unique<LinuxExecutor>(std::move(options), running_);
  }

  Executor& background() override {
    const std::lock_guard lock(background_mutex_);
    if (background_ == nullptr) background_ = make_executor({.name = "background"});
    return *background_;
  }

  Files& files() override { return files_; }
  Network& network() override { return network_; }
  SharedMemory& shared_memory() override { return shared_memory_; }
  Random& random() override { return random_; }
  Nanoseconds now() const override { return linux_now(); }
  std::int64_t wall_time_ms() const override { return linux_wall_time_ms(); }
  int processors() const override { return running_->processors; }

  Result<std::uint64_t> raise_descriptor_limit(std::uint64_t wanted) override {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
      return Status(ErrorCode::io_error,
                    std::string("cannot read the limit of open files: ") + std::strerror(errno));
    }
    if (limit.rlim_cur >= wanted) return std::uint64_t{limit.rlim_cur};
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = std::min<rlim_t>(wanted, limit.rlim_max);
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return std::uint64_t{before};
    return std::uint64_t{limit.rlim_cur};
  }

  MemoryGiven memory_given() const override { return linux_memory_given(); }
  std::size_t resident_bytes() const override {
    // /proc is missing on some kernels; the peak is then the best there is.
    if (std::FILE* file = std::fopen("/proc/self/statm", "re")) {
      long total = 0, resident = 0;
      const int fields = std::fscanf(file, "%ld %ld", &total, &resident);
      std::fclose(file);
      if (fields == 2) return static_cast<std::size_t>(resident * ::sysconf(_SC_PAGESIZE));
    }
    rusage usage{};
    if (::getrusage(RUSAGE_SELF, &usage) != 0) return 0;
    return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
  }

  bool is_terminal(int stream) const override { return ::isatty(stream) == 1; }

  Status write_standard(int stream, std::string_view text) override {
    HUMMER_ASSERT(stream == 1 || stream == 2);
    std::lock_guard lock(standard_mutex_);
    while (!text.empty()) {
      const ssize_t put = ::write(stream, text.data(), text.size());
      if (put >= 0) {
        text.remove_prefix(static_cast<std::size_t>(put));
      } else if (errno == EAGAIN) {  // someone made the terminal or pipe non-blocking
        pollfd wait{stream, POLLOUT, 0};
        ::poll(&wait, 1, -1);
      } else if (errno != EINTR) {
        const ErrorCode code = errno == ENOSPC ? ErrorCode::disk_full : ErrorCode::io_error;
        return {code, std::string("cannot write to standard ") +
                          (stream == 1 ? "output: " : "error: ") + std::strerror(errno)};
      }
    }
    return {};
  }

  std::unique_ptr<SignalWatch> watch_signals(Hangup hangup) override {
    return make_linux_signal_watch(*this, hangup);
  }

  RunEnd run_until(const std::function<bool()>& predicate, Nanoseconds deadline) override {
    while (true) {
      // Taken before the predicate looks, so that a change after its look is not slept over.
      std::uint64_t seen = 0;
      {
        std::lock_guard lock(main_mutex_);
        seen = main_changes_;
      }
      if (predicate()) return RunEnd::satisfied;
      std::unique_lock lock(main_mutex_);
      const auto changed = [&] { return main_changes_ != seen; };
      if (deadline == never) {
        main_wake_up_.wait(lock, changed);
        continue;
      }
      const Nanoseconds left = deadline - linux_now();
      if (left <= 0) return RunEnd::timed_out;
      main_wake_up_.wait_for(lock, std::chrono::nanoseconds(left), changed);
    }
  }

  void notify_main() override {
    {
      std::lock_guard lock(main_mutex_);
      ++main_changes_;
    }
    main_wake_up_.notify_all();
  }

 private:
  std::shared_ptr<RunningCount> running_;
  RoutedFiles files_;
  LinuxRandom random_;
  LinuxNetwork network_{files_, random_};
  LinuxSharedMemory shared_memory_;
  std::mutex standard_mutex_;
  std::mutex main_mutex_;
  std::condition_variable main_wake_up_;
  std::uint64_t main_changes_ = 0;
  std::mutex background_mutex_;
  std::unique_ptr<Executor> background_;  // goes first; null: nobody has asked for it
};

}  // namespace

std::unique_ptr<Platform> make_linux_platform(LinuxPlatformOptions options) {
  // A reader that went away is a result of the write (EPIPE), not the end of the process. A
  // handler that the program has set itself stays.
  struct sigaction current{};
  if (options.ignore_broken_pipes && ::sigaction(SIGPIPE, nullptr, &current) == 0 &&
      current.sa_handler == SIG_DFL) {
    ::signal(SIGPIPE, SIG_IGN);
  }
  return std::make_unique<LinuxPlatform>(options);
}

}  // namespace hummer
