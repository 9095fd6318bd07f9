// KeptSignalHandlers: while a library of others is loaded, or makes what it makes, it may put its
// own handlers of signals in place, and so take SIGTERM and SIGBUS away from the process:
// libinfinipath does as it is loaded, below libfabric, whose shm does with its first endpoint.
// (Linux form only.)
//
//   const KeptSignalHandlers handlers;   // as they are now
//   ::dlopen(…)                          // at the end of the block they are so again
//
// Thread: any; one at a time in a program, and in each library that it has loaded.
#pragma once

#include <signal.h>
#include <array>
#include <cstddef>
#include <mutex>

namespace hummer {

class KeptSignalHandlers {
 public:
  KeptSignalHandlers() {
    for (int signal = 1; signal < NSIG; ++signal) {
      Kept& kept = kept_[static_cast<std::size_t>(signal)];
      kept.known = ::sigaction(signal, nullptr, &kept.action) == 0;
    }
  }
  ~KeptSignalHandlers() {
    for (int signal = 1; signal < NSIG; ++signal) {
      const Kept& kept = kept_[static_cast<std::size_t>(signal)];
      struct sigaction now{};
      if (!kept.known || ::sigaction(signal, nullptr, &now) != 0) continue;
      // sa_handler is in the same place.
      if (now.sa_sigaction == kept.action.sa_sigaction && now.sa_flags == kept.action.sa_flags) {
        continue;
      }
      ::sigaction(signal, &kept.action, nullptr);
    }
  }
  KeptSignalHandlers(const KeptSignalHandlers&) = delete;
  KeptSignalHandlers& operator=(const KeptSignalHandlers&) = delete;

 private:
  struct Kept {
    bool known = false;
    struct sigaction action{};
  };

  // Else one would take for the program's what a library has just put there.
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }

  const std::lock_guard<std::mutex> lock_{mutex()};
  std::array<Kept, NSIG> kept_;
};

}  // namespace hummer
