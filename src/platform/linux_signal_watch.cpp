#include "platform/linux_signal_watch.hpp"

#include <semaphore.h>
#include <unistd.h>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <thread>

#include <hummer/status.hpp>

#include "platform/platform.hpp"

namespace hummer {
namespace {

// Global, since a handler gets nothing but the signal's number, and may still run on another thread
// while a watch ends.
struct Received {
  std::atomic<int> signal{0};
  std::atomic<bool> hangup{false};
  std::atomic<bool> watched{false};
  sem_t wake_up{};
};
Received received_signals;

static_assert(std::atomic<int>::is_always_lock_free);

void on_signal(int signal) {
  const int saved_errno = errno;
  int none = 0;
  if (signal == SIGHUP) {
    received_signals.hangup.store(true);
  } else if (!received_signals.signal.compare_exchange_strong(none, signal)) {
    ::_exit(128 + signal);
  }
  ::sem_post(&received_signals.wake_up);
  errno = saved_errno;
}

class LinuxSignalWatch final : public SignalWatch {
 public:
  LinuxSignalWatch(Platform& platform, Hangup hangup) {
    received_signals.signal = 0;
    received_signals.hangup = false;
    HUMMER_ASSERT(::sem_init(&received_signals.wake_up, 0, 0) == 0);
    thread_ = std::thread([this, &platform] {
      while (!ending_.load(std::memory_order_acquire)) {
        if (::sem_wait(&received_signals.wake_up) == 0) platform.notify_main();
      }
    });
    for (Watched& watched : watched_) {
      if (watched.signal == SIGHUP && hangup == Hangup::as_always) continue;
      struct sigaction action{};
      action.sa_handler = &on_signal;
      ::sigemptyset(&action.sa_mask);
      action.sa_flags = SA_RESTART;
      ::sigaction(watched.signal, nullptr, &watched.before);
      watched.taken = watched.before.sa_handler == SIG_DFL;
      if (watched.taken) ::sigaction(watched.signal, &action, nullptr);
    }
  }

  ~LinuxSignalWatch() override {
    for (const Watched& watched : watched_) {
      if (watched.taken) ::sigaction(watched.signal, &watched.before, nullptr);
    }
    ending_.store(true, std::memory_order_release);
    ::sem_post(&received_signals.wake_up);
    thread_.join();
    received_signals.watched = false;
  }

  int received() const override { return received_signals.signal.load(); }
  bool take_hangup() override { return received_signals.hangup.exchange(false); }

 private:
  struct Watched {
    int signal;
    struct sigaction before{};
    bool taken = false;
  };
  std::array<Watched, 3> watched_{Watched{SIGINT}, Watched{SIGTERM}, Watched{SIGHUP}};
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

}  // namespace

std::unique_ptr<SignalWatch> make_linux_signal_watch(Platform& platform, Hangup hangup) {
  if (received_signals.watched.exchange(true)) return std::make_unique<DeafSignalWatch>();
  return std::make_unique<LinuxSignalWatch>(platform, hangup);
}

}  // namespace hummer
