// RestartPolicy: whether and when a job that failed starts again (RestartStrategy, applied).
//
// Pure: told of failures and the time. Thread: a value.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include <hummer/checkpointing.hpp>
#include <hummer/status.hpp>

#include "platform/time.hpp"

namespace hummer {

class RestartPolicy {
 public:
  explicit RestartPolicy(const RestartStrategy& strategy) : strategy_(strategy) {}

  // How long to wait before the next start; nothing: the job has failed for good.
  std::optional<Nanoseconds> failed(Nanoseconds now);
  // A checkpoint was completed since the last failure: the next one is no repetition of it.
  void made_progress() { delay_ = 0; }
  std::uint32_t restarts() const { return restarts_; }

 private:
  RestartStrategy strategy_;
  std::uint32_t restarts_ = 0;
  Nanoseconds last_failure_ = 0;
  Nanoseconds delay_ = 0;           // exponential: the last one; 0: begin with the first
  std::deque<Nanoseconds> recent_;  // failure_rate
};

// What holds when the author said nothing: with checkpoints exponential from 100 ms to 30 s, else
// none.
RestartStrategy effective_strategy(const RestartStrategy& strategy, bool checkpoints);

// Whether another start may end otherwise: mistakes in graph or options stay what they are, and so
// do input files that are not those that the run began with.
bool may_restart_after(const Status& failure);

}  // namespace hummer
