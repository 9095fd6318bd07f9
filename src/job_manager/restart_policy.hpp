// RestartPolicy: whether and when a job that failed starts again (RestartStrategy, applied).
//
// Strategies that would begin again for ever (exponential, failure_rate) end all the same where a
// function of the author's fails again and again at one place: no other end is to be expected. The
// place is what the failure's message names: an operator, and a line, an offset or an index. Where
// that is only a number of the attempt's own records, a checkpoint that was completed meanwhile
// makes it another place. They also end where the job was asked to stop: it begins again, soon, to
// finish what it has done, but only a few times.
//
// Pure: told of failures and the time. Thread: a value.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include <hummer/checkpointing.hpp>
#include <hummer/status.hpp>

#include "platform/time.hpp"

namespace hummer {

class RestartPolicy {
 public:
  explicit RestartPolicy(const RestartStrategy& strategy) : strategy_(strategy) {}

  // How long to wait before the next start; nothing: the job has failed for good.
  std::optional<Nanoseconds> failed(Nanoseconds now, const Status& failure = {},
                                    bool stops = false);
  // A checkpoint was completed since the last failure: the next one is no repetition of it.
  void made_progress();
  // The failure, and that it was the last of several at its place, if that is why the job ends.
  Status last(const Status& failure) const;
  std::uint32_t restarts() const { return restarts_; }

 private:
  RestartStrategy strategy_;
  bool is_without_limit() const;
  std::optional<Nanoseconds> next_delay(Nanoseconds now);

  std::uint32_t restarts_ = 0;
  std::string place_;              // of the last failure of a function
  bool place_is_lasting_ = false;  // it means the same in another attempt
  std::uint32_t failures_there_ = 0;
  int failures_of_stop_ = 0;  // since it was asked to stop
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
