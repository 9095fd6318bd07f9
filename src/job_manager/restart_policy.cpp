#include "job_manager/restart_policy.hpp"

#include <algorithm>
#include <utility>

namespace hummer {
namespace {

constexpr std::uint32_t failures_at_one_place_max = 5;
constexpr int failures_of_stop_max = 4;
constexpr Nanoseconds longest_delay_of_stop = seconds(1);

// "function of operator 'map' (subtask 0) failed at logs/may.txt, line 12 (byte 345)"; see
// ChainDriver. What the exception said may differ each time.
std::string place_of(const Status& failure) {
  if (failure.code() != ErrorCode::user_function_failed) return {};
  const std::string& message = failure.message();
  const std::size_t begin = message.find("function ");
  const std::size_t at = message.find(" failed at ", begin == message.npos ? 0 : begin);
  if (begin == message.npos || at == message.npos) return {};
  return message.substr(begin, message.find(": ", at) - begin);
}

}  // namespace

void RestartPolicy::made_progress() {
  delay_ = 0;
  if (!place_is_lasting_) failures_there_ = 0;
}

Status RestartPolicy::last(const Status& failure) const {
  if (failures_there_ < failures_at_one_place_max || place_of(failure) != place_) return failure;
  // What makes keys belongs to no operator, so no policy is asked.
  const bool is_of_edge = place_.starts_with("function behind operator");
  return {failure.code(),
          failure.message() + " (the job has failed there " + std::to_string(failures_there_) +
              " times, and no checkpoint has got beyond it: mend the function or the record, or " +
              (is_of_edge ? "keep such records from it with a filter ahead of it)"
                          : "let such records go with on_failure(...))")};
}

bool RestartPolicy::is_without_limit() const {
  return strategy_.kind == RestartStrategy::Kind::exponential ||
         strategy_.kind == RestartStrategy::Kind::failure_rate;
}

std::optional<Nanoseconds> RestartPolicy::failed(Nanoseconds now, const Status& failure,
                                                 bool stops) {
  if (stops && is_without_limit()) {
    if (++failures_of_stop_ >= failures_of_stop_max) return std::nullopt;
    const std::optional<Nanoseconds> delay = failed(now, failure);
    return delay ? std::optional(std::min(*delay, longest_delay_of_stop)) : std::nullopt;
  }
  std::string place = place_of(failure);
  // An outage in between is no progress.
  if (place.empty()) return next_delay(now);
  failures_there_ = place == place_ ? failures_there_ + 1 : 1;
  place_is_lasting_ = !place.ends_with(" of its input") && !place.ends_with(" of its output");
  place_ = std::move(place);
  if (is_without_limit() && failures_there_ >= failures_at_one_place_max) return std::nullopt;
  return next_delay(now);
}

std::optional<Nanoseconds> RestartPolicy::next_delay(Nanoseconds now) {
  const auto again = [&](Nanoseconds delay) {
    ++restarts_;
    last_failure_ = now;
    return delay;
  };
  switch (strategy_.kind) {
    case RestartStrategy::Kind::none: return std::nullopt;
    case RestartStrategy::Kind::fixed_delay:
      if (restarts_ >= strategy_.attempts) return std::nullopt;
      return again(milliseconds(strategy_.delay_ms));
    case RestartStrategy::Kind::exponential: {
      const bool quiet = delay_ == 0 || now - last_failure_ >= milliseconds(strategy_.quiet_ms);
      const auto longer = static_cast<Nanoseconds>(static_cast<double>(delay_) * strategy_.factor);
      delay_ = quiet ? milliseconds(strategy_.delay_ms)
                     : std::min(longer, milliseconds(strategy_.longest_delay_ms));
      return again(delay_);
    }
    case RestartStrategy::Kind::failure_rate:
      recent_.push_back(now);
      while (recent_.front() <= now - milliseconds(strategy_.interval_ms)) recent_.pop_front();
      if (recent_.size() > strategy_.failures) return std::nullopt;
      return again(milliseconds(strategy_.delay_ms));
  }
  return std::nullopt;
}

RestartStrategy effective_strategy(const RestartStrategy& strategy, bool checkpoints) {
  if (strategy.is_set || !checkpoints) return strategy;
  RestartStrategy exponential = strategy;
  exponential.kind = RestartStrategy::Kind::exponential;
  exponential.is_set = true;
  return exponential;
}

bool may_restart_after(const Status& failure) {
  switch (failure.code()) {
    case ErrorCode::invalid_argument:
    case ErrorCode::invalid_configuration:
    case ErrorCode::invalid_graph:
    case ErrorCode::file_changed: return false;
    default: return true;
  }
}

}  // namespace hummer
