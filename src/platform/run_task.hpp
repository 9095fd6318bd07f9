// run_task: runs a task on an executor and waits for its result on the main thread.
//
// For tests, benchmarks and short commands. Works with both forms of the
// platform: the calling thread blocks, or steps the simulation.
//
// Errors: no result when `deadline` (of platform.now()) passed first or the
// simulation has nothing left to do; then the executor must be stopped before
// what the task refers to goes away.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "platform/platform.hpp"
#include "platform/task.hpp"

namespace hummer {

template <typename T>
struct TaskOutcome {
  std::optional<T> value;
  std::atomic<bool> done{false};
};

template <typename T>
Task<void> store_outcome(Platform& platform, Task<T> task,
                         std::shared_ptr<TaskOutcome<T>> outcome) {
  T value = co_await std::move(task);
  outcome->value.emplace(std::move(value));
  outcome->done.store(true, std::memory_order_release);
  platform.notify_main();
}

template <typename T>
std::optional<T> run_task(Platform& platform, Executor& executor, Task<T> task,
                          Nanoseconds deadline = never) {
  auto outcome = std::make_shared<TaskOutcome<T>>();
  executor.spawn(store_outcome<T>(platform, std::move(task), outcome));
  const RunEnd end =
      platform.run_until([&] { return outcome->done.load(std::memory_order_acquire); }, deadline);
  if (end != RunEnd::satisfied) return std::nullopt;
  return std::move(outcome->value);
}

}  // namespace hummer
