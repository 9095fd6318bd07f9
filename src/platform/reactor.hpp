// Reactor: epoll, as far as byte streams and listeners need it.
//
// A descriptor is registered once, edge-triggered, for both directions, so that
// waiting costs no system call: its owner reads or writes until the system
// answers EAGAIN, and then hears of the next edge. No edge is lost between
// EAGAIN and the wait, because edges are reported by poll() only, on the same
// thread. (Linux form only; nothing outside platform/ includes this.)
//
// Thread: the executor's own, except wake(), which is for any thread.
#pragma once

#include <sys/epoll.h>
#include <array>
#include <cstddef>

#include "platform/time.hpp"

namespace hummer {

class ReadinessWatcher {
 public:
  virtual void on_ready(bool readable, bool writable) = 0;

 protected:
  virtual ~ReadinessWatcher() = default;
};

class Reactor {
 public:
  Reactor();
  ~Reactor();
  Reactor(const Reactor&) = delete;
  Reactor& operator=(const Reactor&) = delete;

  // The first call of on_ready says what is ready already.
  void add(int descriptor, ReadinessWatcher& watcher);
  // Before the descriptor is closed. on_ready is not called any more.
  void remove(int descriptor, ReadinessWatcher& watcher);
  bool empty() const { return watched_ == 0; }

  // Calls on_ready for what became ready; waits up to `timeout` (0: not at all, never: for
  // as long as it takes) when there is nothing. True when something was ready.
  bool poll(Nanoseconds timeout);
  void wake();

 private:
  int wait(Nanoseconds timeout);

  int epoll_ = -1;
  int wake_up_ = -1;  // eventfd
  std::size_t watched_ = 0;
  bool has_fine_wait_ = true;  // epoll_pwait2 (Linux 5.11); probed at the first wait
  std::array<epoll_event, 128> events_{};
  int event_count_ = 0;
};

}  // namespace hummer
