#include "simulation/history.hpp"

#include <tuple>

#include <fmt/format.h>

namespace hummer::cluster_simulation {
namespace {

constexpr std::size_t history_violations_maximum = 20;

std::string describe(const wire::JobStatus& status) {
  std::string text = fmt::format("job {} '{}' version {}: {}", status.job(), status.name(),
                                 status.version(), job_state_name(status.state()));
  if (status.has_failure()) {
    text += fmt::format(" (E{} {})", status.failure().code(), status.failure().message());
  }
  return text;
}

}  // namespace

void History::violation(std::string_view sort, std::string text) {
  if (!sorts_.emplace(sort).second || violations_.size() >= history_violations_maximum) return;
  violations_.push_back(
      fmt::format("{:.6f} s: {}: {}", static_cast<double>(now_) / 1e9, sort, text));
}

void History::saw_job(const wire::JobStatus& status) {
  if (status.state() == wire::JOB_UNKNOWN) violation("job without a state", describe(status));
  const JobKey key(status.name(), status.submitted_ms());
  const auto [found, is_new] = jobs_.try_emplace(key, status);
  if (is_new) {
    check_failure(status);
    return;
  }
  wire::JobStatus& known = found->second;
  // A late answer may tell of an earlier version.
  if (status.version() < known.version()) return;
  if (has_ended(known.state()) &&
      (status.state() != known.state() || status.failure().code() != known.failure().code() ||
       status.failure().message() != known.failure().message())) {
    violation("an ended job changed", describe(known) + " became " + describe(status));
  }
  if (status.version() == known.version() && status.state() != known.state()) {
    violation("two states of one version", describe(known) + " and " + describe(status));
  }
  if (status.job() != known.job()) {
    violation("one submission, two jobs", describe(known) + " and " + describe(status));
  }
  known = status;
  check_failure(status);
}

void History::check_failure(const wire::JobStatus& status) {
  if (status.state() == wire::JOB_FINISHED && status.failure().code() != 0) {
    violation("finished with a failure", describe(status));
  }
  if (status.state() != wire::JOB_FAILED) return;
  const std::string& message = status.failure().message();
  if (status.failure().code() == 0 || message.empty()) {
    violation("failed without a reason", describe(status));
    return;
  }
  // Everything that fails a job here is its own mistake, too few slots, or a TaskManager that
  // could not be reached: by its name or its address (10.0.0.N).
  const auto code = static_cast<ErrorCode>(status.failure().code());
  // Whether bytes could be damaged is known to who damages them.
  const bool damaged =
      code == ErrorCode::protocol_error && (message.find("damaged") != std::string::npos ||
                                            message.find("bad magic") != std::string::npos);
  if (code == ErrorCode::internal || (code == ErrorCode::protocol_error && !damaged)) {
    violation("failed by a mistake of the engine", describe(status));
  }
  if (code == ErrorCode::user_function_failed || code == ErrorCode::not_enough_slots) return;
  if (message.find("tm") == std::string::npos && message.find("10.0.0.") == std::string::npos &&
      message.find("slot") == std::string::npos) {
    violation("a failure names no TaskManager", describe(status));
  }
}

void History::saw_slots(const std::string& task_manager, int process,
                        const std::vector<HeldSlots>& held) {
  std::map<int, std::vector<const HeldSlots*>> holders;
  std::set<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>> attempts;
  for (const HeldSlots& one : held) {
    if (!attempts.emplace(one.job, one.attempt, one.region).second) {
      violation("an attempt runs twice", fmt::format("job {} region {} attempt {} on {}", one.job,
                                                     one.region, one.attempt, task_manager));
    }
    for (const int slot : one.slots) {
      for (const HeldSlots* other : holders[slot]) {
        if (other->job == one.job && other->region != one.region) continue;
        violation("a slot is held twice",
                  fmt::format(
                      "slot {} of {} (process {}) by job {} attempt {} and job {} attempt {}", slot,
                      task_manager, process, other->job, other->attempt, one.job, one.attempt));
      }
      holders[slot].push_back(&one);
    }
  }
}

void History::cut_off(const std::string& task_manager, Nanoseconds deadline) {
  to_be_lost_.try_emplace(task_manager, deadline);
}

void History::reachable_again(const std::string& task_manager) { to_be_lost_.erase(task_manager); }

void History::job_manager_died() { to_be_lost_.clear(); }

void History::saw_task_managers(const wire::TaskManagerList& list) {
  for (const wire::TaskManagerStatus& one : list.task_managers()) {
    if (one.lost() && one.reason().empty()) {
      violation("lost without a reason", one.id());
    }
    if (one.lost()) continue;
    const auto due = to_be_lost_.find(one.id());
    if (due == to_be_lost_.end() || now_ < due->second) continue;
    violation("not reported lost",
              fmt::format("{} was to be lost by {:.3f} s; its heartbeat is {} ms old", one.id(),
                          static_cast<double>(due->second) / 1e9, one.heartbeat_age_ms()));
  }
}

void History::check_end(const wire::JobList& jobs, const wire::TaskManagerList& task_managers,
                        int expected_task_managers) {
  for (const wire::JobStatus& job : jobs.jobs()) {
    saw_job(job);
    if (!has_ended(job.state())) {
      violation("a job never ended", describe(job) + " " + job.reason());
    }
  }
  int alive = 0;
  std::string all;
  for (const wire::TaskManagerStatus& one : task_managers.task_managers()) {
    alive += one.lost() ? 0 : 1;
    all += fmt::format(" {}{}", one.id(), one.lost() ? " (lost: " + one.reason() + ")" : "");
    if (!one.lost() && one.slots_free() != one.slots()) {
      violation("slots are not free at the end",
                fmt::format("{}: {} of {}", one.id(), one.slots_free(), one.slots()));
    }
    if (!one.lost() && one.jobs_size() > 0) {
      violation("a TaskManager has jobs at the end", fmt::format("{}: {}", one.id(), one.jobs(0)));
    }
  }
  if (alive != expected_task_managers) {
    violation("TaskManagers are missing at the end",
              fmt::format("{} of {} alive:{}", alive, expected_task_managers, all));
  }
}

std::map<wire::JobState, std::uint64_t> History::ended_jobs() const {
  std::map<wire::JobState, std::uint64_t> ended;
  for (const auto& [key, status] : jobs_) ++ended[status.state()];
  return ended;
}

}  // namespace hummer::cluster_simulation
