#include "state/background_run.hpp"

#include <exception>
#include <utility>

namespace hummer {
namespace {

constexpr Nanoseconds pause_for_operator = 20'000;

}  // namespace

void BackgroundRun::begin(Platform& platform, std::shared_ptr<BackgroundRun> run) {
  platform.background().spawn(BackgroundRun::run(std::move(run)));
}

Task<void> BackgroundRun::run(std::shared_ptr<BackgroundRun> self) {
  Executor& executor = co_await current_executor();
  for (;;) {
    if (self->operators_waiting_.load(std::memory_order_relaxed) > 0) {
      co_await sleep_for(pause_for_operator);
      continue;
    }
    const Nanoseconds begun = executor.now();
    if (!self->work()) co_return;
    const bool hurries = self->hurries_.load(std::memory_order_relaxed);
    co_await sleep_for(hurries ? 0 : executor.now() - begun);
  }
}

bool BackgroundRun::work() {
  const std::lock_guard lock(mutex_);
  return !taken_over_ && step();
}

// A mutex alone would be had by the background again and again: steps follow each other at once.
std::unique_lock<std::mutex> BackgroundRun::lock_next() {
  operators_waiting_.fetch_add(1, std::memory_order_relaxed);
  std::unique_lock lock(mutex_);
  operators_waiting_.fetch_sub(1, std::memory_order_relaxed);
  return lock;
}

void BackgroundRun::step_here() {
  const std::unique_lock lock = lock_next();
  (void)step();
}

bool BackgroundRun::try_step_here() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock.owns_lock()) (void)step();
  return lock.owns_lock();
}

void BackgroundRun::finish_here() {
  const std::unique_lock lock = lock_next();
  taken_over_ = true;
  while (step()) {
  }
}

void BackgroundRun::cancel() {
  const std::unique_lock lock = lock_next();
  over_ = true;
  let_go(true);
}

Result<Run> BackgroundRun::result() {
  const std::lock_guard lock(mutex_);
  HUMMER_ASSERT(result_.has_value());
  return *result_;
}

bool BackgroundRun::step() {
  if (over_) return false;
  Status status;
  std::optional<Run> written;
  try {
    status = write_some(written);
  } catch (const std::exception& thrown) {  // by the user's aggregate or codec
    status = Status(ErrorCode::user_function_failed, thrown.what());
  } catch (...) {
    status = Status(ErrorCode::user_function_failed, "something unknown was thrown");
  }
  if (status.ok() && !written) return true;
  over_ = true;
  result_ = status.ok() ? Result<Run>(std::move(*written)) : Result<Run>(std::move(status));
  let_go(false);
  finished_.store(true, std::memory_order_release);
  return false;
}

}  // namespace hummer
