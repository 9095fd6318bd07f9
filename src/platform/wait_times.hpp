// WaitTimes: how long somebody has waited so far, for something to do or for others to take what it
// has; the rest of its time it was busy.
//
// One writer, which brings its own reading of the clock; readers on any thread see a wait that goes
// on too. A version number (a seqlock) keeps a reader from half of a change: what is read never
// goes back.
#pragma once

#include <atomic>
#include <cstdint>

#include "platform/time.hpp"

namespace hummer {

class WaitTimes {
 public:
  struct Spent {
    Nanoseconds idle_ns = 0;     // nothing to do
    Nanoseconds stalled_ns = 0;  // others were to move first
  };

  // Writer. `stalled`: what for.
  void begin(Nanoseconds now, bool stalled) { write(now, stalled, 0); }
  // REQUIRES: begun.
  void end(Nanoseconds now) {
    const Nanoseconds since = since_.load(std::memory_order_relaxed);
    write(none, false, now > since ? now - since : 0);
  }

  // Any thread.
  Spent spent(Nanoseconds now) const {
    for (;;) {
      const std::uint32_t before = version_.load(std::memory_order_acquire);
      Spent spent{idle_ns_.load(std::memory_order_relaxed),
                  stalled_ns_.load(std::memory_order_relaxed)};
      const Nanoseconds since = since_.load(std::memory_order_relaxed);
      const bool stalled = stalled_.load(std::memory_order_relaxed);
      std::atomic_thread_fence(std::memory_order_acquire);
      if (before % 2 != 0 || version_.load(std::memory_order_relaxed) != before) continue;
      if (since != none && now > since) {
        (stalled ? spent.stalled_ns : spent.idle_ns) += now - since;
      }
      return spent;
    }
  }

 private:
  static constexpr Nanoseconds none = -1;

  // What `waited` adds to is what the last begin() said.
  void write(Nanoseconds since, bool stalled, Nanoseconds waited) {
    const std::uint32_t version = version_.load(std::memory_order_relaxed);
    version_.store(version + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    std::atomic<Nanoseconds>& sum =
        stalled_.load(std::memory_order_relaxed) ? stalled_ns_ : idle_ns_;
    if (waited != 0) {
      sum.store(sum.load(std::memory_order_relaxed) + waited, std::memory_order_relaxed);
    }
    since_.store(since, std::memory_order_relaxed);
    stalled_.store(stalled, std::memory_order_relaxed);
    version_.store(version + 2, std::memory_order_release);
  }

  std::atomic<std::uint32_t> version_{0};
  std::atomic<bool> stalled_{false};
  std::atomic<Nanoseconds> since_{none};
  std::atomic<Nanoseconds> idle_ns_{0};
  std::atomic<Nanoseconds> stalled_ns_{0};
};

}  // namespace hummer
