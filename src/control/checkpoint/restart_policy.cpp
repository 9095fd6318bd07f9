#include "control/checkpoint/restart_policy.hpp"

#include <algorithm>

namespace hummer {
namespace {

constexpr Nanoseconds milliseconds_ns(std::int64_t ms) { return ms * 1'000'000; }

}  // namespace

std::optional<Nanoseconds> RestartPolicy::failed(Nanoseconds now) {
  const auto again = [&](Nanoseconds delay) {
    ++restarts_;
    last_failure_ = now;
    return delay;
  };
  switch (strategy_.kind) {
    case RestartStrategy::Kind::none: return std::nullopt;
    case RestartStrategy::Kind::fixed_delay:
      if (restarts_ >= strategy_.attempts) return std::nullopt;
      return again(milliseconds_ns(strategy_.delay_ms));
    case RestartStrategy::Kind::exponential: {
      const bool quiet = delay_ == 0 || now - last_failure_ >= milliseconds_ns(strategy_.quiet_ms);
      const auto longer = static_cast<Nanoseconds>(static_cast<double>(delay_) * strategy_.factor);
      delay_ = quiet ? milliseconds_ns(strategy_.delay_ms)
                     : std::min(longer, milliseconds_ns(strategy_.longest_delay_ms));
      return again(delay_);
    }
    case RestartStrategy::Kind::failure_rate:
      recent_.push_back(now);
      while (recent_.front() <= now - milliseconds_ns(strategy_.interval_ms)) recent_.pop_front();
      if (recent_.size() > strategy_.failures) return std::nullopt;
      return again(milliseconds_ns(strategy_.delay_ms));
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
