#include "checkpoint/checkpoint_coordinator.hpp"

#include <algorithm>
#include <utility>

namespace hummer {

CheckpointCoordinator::CheckpointCoordinator(const CheckpointOptions& options, std::size_t tasks,
                                             std::uint64_t first, Nanoseconds now)
    : options_(options),
      files_(tasks),
      next_(first),
      next_begin_(options.interval_ms > 0 ? now + milliseconds(options.interval_ms) : never) {}

bool CheckpointCoordinator::request_savepoint() { return !std::exchange(savepoint_wanted_, true); }

void CheckpointCoordinator::acknowledged(std::uint64_t checkpoint, std::size_t task,
                                         CheckpointFile file) {
  Task& at = files_[task];
  if (checkpoint != current_ || !under_way() || at.acknowledged) return;
  passed(checkpoint, task);
  at.acknowledged = true;
  at.file = std::move(file);
  ++acknowledged_;
}

void CheckpointCoordinator::passed(std::uint64_t checkpoint, std::size_t task) {
  if (checkpoint != current_ || !under_way()) return;
  if (!std::exchange(files_[task].passed, true)) ++passed_;
}

Nanoseconds CheckpointCoordinator::alignment_deadline() const {
  const bool waits = under_way() && !storing_ && !unaligned_ && may_be_unaligned() &&
                     !current_is_savepoint_ && passed_ < files_.size();
  return waits ? began_ + milliseconds(options_.alignment_timeout_ms) : never;
}

void CheckpointCoordinator::ended(std::size_t task) {
  if (!std::exchange(files_[task].ended, true)) ++ended_;
  passed(current_, task);
}

void CheckpointCoordinator::begins_again(std::size_t task) {
  HUMMER_ASSERT(!storing_);
  // Behind the final checkpoint it only commits, and its stream ends again with nothing in it.
  if (!final_complete_ && std::exchange(files_[task].ended, false)) --ended_;
}

void CheckpointCoordinator::interrupt(Nanoseconds now, Status why) {
  unaligned_next_ = false;
  if (under_way() && !storing_) give_up(now, std::move(why), false);
}

void CheckpointCoordinator::give_up(Nanoseconds now, Status why, bool is_failure) {
  given_up_ = std::exchange(current_, 0);
  storing_ = false;
  last_failure_ = std::move(why);
  if (is_failure) ++failed_;
  if (current_is_savepoint_) {
    savepoint_wanted_ = false;
  } else if (is_failure && ++failures_in_a_row_ > options_.tolerated_failures && failure_.ok()) {
    failure_ = last_failure_;
  }
  if (next_begin_ != never) {
    next_begin_ = std::max(next_begin_, now + milliseconds(options_.minimum_pause_ms));
  }
}

void CheckpointCoordinator::declined(std::uint64_t checkpoint, Nanoseconds now, Status why) {
  if (!under_way() || checkpoint != current_) return;
  give_up(now, std::move(why));
}

void CheckpointCoordinator::stored(std::uint64_t checkpoint, Nanoseconds now,
                                   const Status& status) {
  if (!storing_ || checkpoint != current_) return;
  if (!status.ok()) {
    give_up(now, status);
    return;
  }
  storing_ = false;
  current_ = 0;
  failures_in_a_row_ = 0;
  ++completed_;
  last_complete_ = checkpoint;
  last_duration_ = now - began_;
  final_complete_ = current_is_final_;
  if (current_is_savepoint_) savepoint_wanted_ = false;
  if (next_begin_ != never) {
    next_begin_ = std::max(next_begin_, now + milliseconds(options_.minimum_pause_ms));
  }
}

std::optional<CheckpointCoordinator::Begin> CheckpointCoordinator::take_begin(Nanoseconds now) {
  if (under_way() || final_complete_ || !failure_.ok()) return std::nullopt;
  const bool by_time = next_begin_ != never && now >= next_begin_;
  if (!by_time && !unaligned_next_ && !savepoint_wanted_ && !all_ended()) return std::nullopt;
  current_ = next_++;
  current_is_savepoint_ = savepoint_wanted_ && !unaligned_next_ && !all_ended();
  unaligned_ = may_be_unaligned() && !current_is_savepoint_ &&
               (unaligned_next_ || options_.alignment_timeout_ms == 0);
  current_is_final_ = all_ended();
  began_ = now;
  if (next_begin_ != never && !unaligned_next_) {
    // Missed ones are not made up for.
    const Nanoseconds interval = milliseconds(options_.interval_ms);
    next_begin_ = std::max(next_begin_ + interval, now + interval / 2);
  }
  unaligned_next_ = false;
  acknowledged_ = 0;
  passed_ = ended_;
  for (Task& task : files_) {
    task.acknowledged = false;
    task.passed = task.ended;
  }
  return Begin{current_, current_is_savepoint_, unaligned_};
}

std::optional<CheckpointCoordinator::Completed> CheckpointCoordinator::take_completed() {
  if (!under_way() || storing_ || acknowledged_ < files_.size()) return std::nullopt;
  storing_ = true;
  Completed completed{current_, current_is_savepoint_, {}};
  for (const Task& task : files_) completed.files.push_back(task.file);
  return completed;
}

std::optional<std::uint64_t> CheckpointCoordinator::take_given_up(Nanoseconds now) {
  if (under_way() && !storing_ && now - began_ >= milliseconds(options_.timeout_ms)) {
    const std::size_t missing = files_.size() - acknowledged_;
    give_up(now,
            {ErrorCode::timed_out,
             "checkpoint " + std::to_string(current_) + ": " + std::to_string(missing) + " of " +
                 std::to_string(files_.size()) + " tasks had not saved their state after " +
                 std::to_string(options_.timeout_ms) + " ms"});
  }
  if (now >= alignment_deadline()) {
    give_up(now,
            {ErrorCode::timed_out, "checkpoint " + std::to_string(current_) +
                                       " was not aligned in time; one that unaligned follows"},
            false);
    unaligned_next_ = true;
  }
  if (given_up_ == 0) return std::nullopt;
  return std::exchange(given_up_, 0);
}

Nanoseconds CheckpointCoordinator::next_deadline() const {
  if (given_up_ != 0) return 0;
  if (final_complete_ || !failure_.ok()) return never;
  if (under_way()) {
    if (storing_) return never;
    return std::min(began_ + milliseconds(options_.timeout_ms), alignment_deadline());
  }
  return unaligned_next_ || savepoint_wanted_ || all_ended() ? 0 : next_begin_;
}

}  // namespace hummer
