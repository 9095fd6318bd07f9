// SnapshotPace: when a task may write the next step of its snapshot.
//
// A task that writes one step behind the other leaves what comes meanwhile in its queue, and a
// queue is worked off only as fast as the task has time to spare. So steps get a quarter of the
// task's time: a task that is busy for 70 % of it keeps up with its records.
//
//   if (pace.due(recent_now)) {
//     ...a step, from `began` to `ended`...
//     pace.stepped(began, ended);
//   }
//
// Each step is measured, and the pause behind it is three times as long. Pauses become shorter from
// half of the interval on, that is of the time from the barrier before to this one, and there are
// none behind the whole of it: a snapshot ends. There are none either
//   - for a task that has no time to spare anyway: then a snapshot costs the less the sooner it is
//     written, since what changes before has to be saved;
//   - behind hurry(): somebody waits for the snapshot, such as a table for which there is no room.
// Whoever has nothing else to do asks no pace (StreamTask::step_snapshot_meanwhile).
//
// A value; it is told the time. Where time stands still while there is work, as in a simulation,
// there are no pauses, but steps are taken in turns all the same. Thread: one.
#pragma once

#include <algorithm>

#include "platform/time.hpp"

namespace hummer {

class SnapshotPace {
 public:
  // A snapshot begins. `saturated`: its task has no time to spare.
  void begin(Nanoseconds now, bool saturated) {
    interval_ = began_ == never ? first_interval : std::max<Nanoseconds>(now - began_, 1);
    began_ = next_ = now;
    hurries_ = saturated;
  }
  void hurry() {
    hurries_ = true;
    next_ = began_;
  }
  bool hurries() const { return hurries_; }

  // The next step may come.
  bool due(Nanoseconds now) const { return now >= next_; }
  Nanoseconds next() const { return next_; }

  void stepped(Nanoseconds step_began, Nanoseconds step_ended) {
    const Nanoseconds since = step_ended - began_;
    if (since >= interval_) hurry();
    if (hurries_) return;
    const Nanoseconds pause = pause_of_step * std::max<Nanoseconds>(step_ended - step_began, 0);
    const Nanoseconds half = interval_ - interval_ / 2;
    const double part =
        std::min(static_cast<double>(interval_ - since) / static_cast<double>(half), 1.0);
    next_ = std::min(step_ended + static_cast<Nanoseconds>(static_cast<double>(pause) * part),
                     began_ + interval_);
  }

 private:
  static constexpr Nanoseconds pause_of_step = 3;
  static constexpr Nanoseconds first_interval = milliseconds(1000);

  Nanoseconds began_ = never;
  Nanoseconds interval_ = first_interval;
  Nanoseconds next_ = 0;
  bool hurries_ = false;
};

}  // namespace hummer
