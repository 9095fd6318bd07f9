#include "job_manager/job_table.hpp"

#include <algorithm>
#include <utility>

namespace hummer {

Job& JobTable::add(std::unique_ptr<Job> job) {
  Job& added = *job;
  if (added.id == 0) added.id = last_id_ + 1;
  HUMMER_ASSERT(!jobs_.contains(added.id));
  last_id_ = std::max(last_id_, added.id);
  by_submission_[added.submission] = added.id;
  wait(added);
  jobs_.emplace(added.id, std::move(job));
  return added;
}

void JobTable::wait(const Job& job) {
  waiting_.insert(job.id);
  by_waiting_since_.emplace(job.as<Job::Waiting>()->since, job.id);
}

void JobTable::no_longer_waiting(const Job& job) {
  waiting_.erase(job.id);
  by_waiting_since_.erase({job.as<Job::Waiting>()->since, job.id});
}

Job* JobTable::waiting_longest() {
  return by_waiting_since_.empty() ? nullptr : find(by_waiting_since_.begin()->second);
}

Job* JobTable::find(std::uint64_t id) {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : found->second.get();
}

Job* JobTable::find_submission(std::uint64_t submission) {
  const auto found = by_submission_.find(submission);
  return found == by_submission_.end() ? nullptr : find(found->second);
}

void JobTable::ended(const Job& job) {
  ended_.push_back(job.id);
  // The one that has just ended stays, or nobody would hear how.
  while (ended_.size() > std::max<std::size_t>(remembered_, 1)) {
    const auto oldest = jobs_.find(ended_.front());
    by_submission_.erase(oldest->second->submission);
    jobs_.erase(oldest);
    forgotten_.push_back(ended_.front());
    ended_.pop_front();
  }
}

}  // namespace hummer
