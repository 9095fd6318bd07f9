#include "cli/local_workers.hpp"

#include <utility>

#include <fmt/format.h>

namespace hummer {
namespace {

constexpr Nanoseconds registration_patience_ns = seconds(20);
constexpr Nanoseconds registration_look_ns = milliseconds(10);

}  // namespace

Status LocalWorkers::add(TaskManagerOptions options) {
  workers_.push_back(std::make_unique<TaskManager>(platform_, libraries_, std::move(options)));
  return workers_.back()->start();
}

Status LocalWorkers::await_registration(const std::function<bool()>& gives_up) {
  const auto missing = [this]() -> const TaskManager* {
    for (const auto& worker : workers_) {
      if (worker && !worker->registered()) return worker.get();
    }
    return nullptr;
  };
  const auto decided = [&] { return missing() == nullptr || !refusal().ok() || gives_up(); };
  // Nobody wakes this thread for it.
  const Nanoseconds deadline = platform_.now() + registration_patience_ns;
  while (!decided() && platform_.now() < deadline) {
    (void)platform_.run_until(decided, platform_.now() + registration_look_ns);
  }
  HUMMER_TRY(refusal());
  const TaskManager* const late = missing();
  if (late == nullptr || gives_up()) return {};
  return {ErrorCode::timed_out, fmt::format("TaskManager '{}' could not register within {} s",
                                            late->id(), registration_patience_ns / seconds(1))};
}

Status LocalWorkers::refusal() const {
  for (const auto& worker : workers_) {
    if (worker) HUMMER_TRY(worker->refusal());
  }
  return {};
}

void LocalWorkers::stop() {
  for (const auto& worker : workers_) {
    if (worker) worker->stop();
  }
}

}  // namespace hummer
