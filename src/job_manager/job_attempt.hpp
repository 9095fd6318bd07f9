// PlacedAttempt: an attempt of a job that has its slots: the regions and parts of it.
//
// A part is what one TaskManager has of one region. Where the job has independent regions
// (graph/regions.hpp), one that fails begins again alone, as long as another one runs: its parts
// are cancelled and replaced, with the next attempt's number and the newest checkpoint, while the
// job stays in its state.
//
//   runs → failed → ending → waiting → runs
//   runs → waiting (it has finished, and what it has left is lost)
//
// Where blocking edges lead into a region it waits first, until all that it reads has finished.
// Parts that have finished stay where files of theirs are read, or the subtasks of their region
// have nothing to do with each other: who begins again begins only what is lost. But when a part
// does, the parts that have read what it had left before do, too, if their region begins again: of
// its subtasks none may have read what others have not.
//
// An attempt is a number for all of the job, so each is given once; every region knows its own.
//
// Pure; thread: values.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "checkpoint/attempt_checkpoints.hpp"
#include "graph/regions.hpp"
#include "job_manager/job_event.hpp"
#include "job_manager/scheduler.hpp"
#include "job_manager/user_metrics.hpp"
#include "protocol/control.pb.h"

namespace hummer {

struct JobPart {
  std::size_t region = 0;
  std::size_t host = 0;  // index among the job's TaskManagers
  std::uint64_t session = 0;
  std::string task_manager;   // its id
  std::uint32_t attempt = 0;  // of the region, as it began
  bool begun = true;          // else its region waits for the first time
  bool lost = false;          // it has finished, and its files are gone or of no use
  wire::AttemptState state = wire::ATTEMPT_UNKNOWN;
  bool wanted = false;         // it asks for the deployment
  bool deployed = false;       // the deployment was sent at least once
  bool ran = false;            // it is counted in PlacedAttempt::running_parts
  std::uint64_t named_in = 0;  // sequence of the TaskManager's last state that named it; 0: none
  std::uint64_t log_lines_seen = 0;
  std::uint64_t committed = 0;               // the lowest checkpoint that its tasks have committed
  std::vector<std::string> wanted_listings;  // by uid of a source
  std::vector<std::uint64_t> metrics;        // last report; see Job::metrics
  JobUserMetrics user_metrics;               // the same of the author's functions
  std::vector<std::string> stuck;
  std::map<std::uint32_t, std::uint64_t> written;  // bytes in its shuffle files, by edge

  bool ended() const { return state >= wire::ATTEMPT_FINISHED; }
  bool has_result() const { return state == wire::ATTEMPT_FINISHED && !lost; }
};

class JobRegion {
 public:
  struct Runs {};               // or has finished
  struct Failed : Failures {};  // what follows is not decided yet
  // Its parts are being cancelled.
  struct Ending : Failures, Restart {};
  // To begin again.
  struct Waiting : Restart {
    Nanoseconds since = 0;
    bool numbered = false;  // `attempt` is that of the next start
  };
  using State = std::variant<Runs, Failed, Ending, Waiting>;

  std::uint32_t attempt = 1;
  std::vector<std::uint32_t> tasks;       // its chains
  std::vector<std::uint32_t> task_hosts;  // where each of them is
  RegionLinks links;
  // Checkpoints up to this one were begun without it.
  std::uint64_t checkpoints_before = 0;

  template <class S>
  S* as() {
    return state_as<S>(state_);
  }
  template <class S>
  const S* as() const {
    return state_as<S>(state_);
  }
  template <class S>
  bool is() const {
    return as<S>() != nullptr;
  }

 private:
  friend void transition(JobRegion& region, JobEvent event, Moment at);
  State state_;
};

// The only way from one state to the next. REQUIRES: the diagram above has it.
void transition(JobRegion& region, JobEvent event, Moment at);

struct PlacedAttempt {
  std::vector<Placement::Part> hosts;  // the TaskManagers, as in deployment.task_managers
  std::vector<JobRegion> regions;
  std::vector<JobPart> parts;
  std::size_t open_parts = 0;
  std::size_t running_parts = 0;  // also those that have ended since
  std::size_t finished_parts = 0;
  bool undeployed_swept = false;  // parts that never got the deployment were ended
  wire::Deployment deployment;    // but for the receiver's index
  // Null: the job takes none, or they are over.
  std::unique_ptr<AttemptCheckpoints> checkpoints;

  // The job has blocking edges.
  bool has_files = false;

  // A region is between two attempts while others go on, or waits for what it reads.
  bool has_region_out() const;
  // All parts that have begun so far run, at least.
  bool all_run() const;
};

}  // namespace hummer
