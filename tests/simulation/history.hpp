// History: what was seen of a simulated cluster, and whether it may have happened.
//
// The client, an observer that no fault strikes, and a look into the TaskManagers tell it what
// they see; each sight is checked against the earlier ones at once. What it finds wrong is kept as
// text, the first of each sort with its time.
//
//   jobs       a job that has ended stays as it ended; one that failed has a reason; a
//              failure that follows from a lost TaskManager names it
//   slots      a slot of a TaskManager is held by one attempt at a time, or by several regions of
//              one job
//   losses     a TaskManager that was killed or cut off is reported lost in time, and a healthy one
//              is alive when all has become stable
//   the end    every job has ended, all slots are free, no attempt is left anywhere
//
// A job is known by its name (unique per submission) and by when it was submitted: a JobManager
// that was restarted knows nothing of what its predecessor did, and may run the same submission.
//
// Thread: that of the simulation.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/job_status.hpp"
#include "protocol/message_stream.hpp"

namespace hummer::cluster_simulation {

struct HeldSlots {
  std::uint64_t job = 0;
  std::uint32_t attempt = 0;
  std::uint32_t region = 0;
  std::vector<int> slots;
};

class History {
 public:
  // Time at which a violation is noted.
  void set_now(Nanoseconds now) { now_ = now; }

  void saw_job(const wire::JobStatus& status);
  // All that a TaskManager runs now. `process`: changes when it is restarted.
  void saw_slots(const std::string& task_manager, int process, const std::vector<HeldSlots>& held);

  // From now on the JobManager can't hear `task_manager`; it has to be lost by `deadline`.
  void cut_off(const std::string& task_manager, Nanoseconds deadline);
  void reachable_again(const std::string& task_manager);
  // The JobManager was killed: it forgets whom it must report.
  void job_manager_died();
  void saw_task_managers(const wire::TaskManagerList& list);

  // When all has become stable.
  void check_end(const wire::JobList& jobs, const wire::TaskManagerList& task_managers,
                 int expected_task_managers);

  void violation(std::string_view sort, std::string text);
  const std::vector<std::string>& violations() const { return violations_; }
  std::map<wire::JobState, std::uint64_t> ended_jobs() const;

 private:
  using JobKey = std::pair<std::string, std::int64_t>;
  void check_failure(const wire::JobStatus& status);

  Nanoseconds now_ = 0;
  std::map<JobKey, wire::JobStatus> jobs_;
  std::map<std::string, Nanoseconds> to_be_lost_;  // deadline
  std::set<std::string, std::less<>> sorts_;
  std::vector<std::string> violations_;
};

}  // namespace hummer::cluster_simulation
