// Poller: something an executor looks at when it has nothing (else) to do.
//
// For sources of work that cannot call WakeEvent::notify(), such as a ring in
// shared memory or a completion queue. Registered with Executor::add_poller.
// While coroutines run, poll() is called between rounds of resumes; while the
// executor is idle it is called in the spin loop. A parked executor calls
// nothing, so a poller whose peer can wake it arms that in prepare_park(); one
// that can't needs an executor with busy_poll.
//
// Thread: the executor's own. Must not block; must not throw.
#pragma once

namespace hummer {

class Poller {
 public:
  virtual ~Poller() = default;

  // True when it found work (posted a coroutine or notified an event).
  virtual bool poll() = 0;

  // Called before the executor parks. Arms whatever wakes it and looks once
  // more; false keeps the executor awake. after_park() follows in either case.
  virtual bool prepare_park() { return true; }
  virtual void after_park() {}
};

}  // namespace hummer
