// JobTable: all jobs by number, in the order of submission, and those that wait for slots.
//
// Ended jobs are remembered up to a limit, the oldest forgotten first.
// Pure; thread: a value. A Job& is good until the job has ended and another one ends.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "job_manager/job.hpp"

namespace hummer {

class JobTable {
 public:
  // `first`: the number of the first job.
  JobTable(std::size_t remembered, std::uint64_t first)
      : remembered_(remembered), last_id_(first - 1) {}

  // Numbers go on above this one.
  void number_above(std::uint64_t last_id) { last_id_ = last_id; }
  // Gives it its number, unless it has one that none here has, and lets it wait.
  Job& add(std::unique_ptr<Job> job);
  // Null when there is none (any more).
  Job* find(std::uint64_t id);
  Job* find_submission(std::uint64_t submission);
  // Both REQUIRE: it is waiting.
  void wait(const Job& job);
  void no_longer_waiting(const Job& job);
  // The job that has waited longest; null: none waits.
  Job* waiting_longest();
  // Once, when it has ended; may forget the oldest ended one.
  void ended(const Job& job);
  // Those that were forgotten since the last call.
  std::vector<std::uint64_t> take_forgotten() { return std::exchange(forgotten_, {}); }

  const std::map<std::uint64_t, std::unique_ptr<Job>>& all() const { return jobs_; }
  const std::set<std::uint64_t>& waiting() const { return waiting_; }
  std::size_t live() const { return jobs_.size() - ended_.size(); }

 private:
  const std::size_t remembered_;
  std::uint64_t last_id_;
  std::map<std::uint64_t, std::unique_ptr<Job>> jobs_;
  std::unordered_map<std::uint64_t, std::uint64_t> by_submission_;
  std::set<std::uint64_t> waiting_;
  std::set<std::pair<Nanoseconds, std::uint64_t>> by_waiting_since_;
  std::deque<std::uint64_t> ended_;
  std::vector<std::uint64_t> forgotten_;
};

}  // namespace hummer
