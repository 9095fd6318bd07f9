// Job: what the JobManager knows of one job, and the states that it goes through.
//
//   waiting → deploying → running → finished
//   waiting → stopping (its owner has asked for it), cancelled, failed
//   deploying, running → stopping
//   deploying, running, stopping → committed, cancelling, failing, restarting
//   stopping → finished, cancelled (a part never began)
//   committed → finished
//   cancelling → cancelled, finished (all parts were faster)
//   failing → failed, finished (likewise), restarting
//   restarting → waiting (for the next attempt), cancelling, failing
//
// Each arrow is a row of job_states.cpp, and transition() the only way along it.
//
// The verdict comes when every part of the attempt (job_attempt.hpp) has ended; the root failure is
// the first that is no consequence of another (peer_gone, cancelled, or marked so by the
// TaskManager), the first consequence when there is no other.
//
// With a restart strategy a failure makes it restarting: all parts of the attempt are cancelled as
// when failing, and once they have ended, the strategy's delay has passed and the checkpoint to
// begin with is known, it waits for slots again, with the next attempt's number. Everything that a
// TaskManager says is held against that number, so nothing of an old attempt reaches the new one.
//
// A job that a savepoint stops is `committed` when every sink has committed that: its parts are
// cancelled, while others see it as before, and it has finished.
//
// What must outlive the JobManager is its submission and its JobProgress, and nothing else
// (cluster_recording.cpp).
//
// Pure: slots and TaskManagers are the cluster's business (cluster_state.hpp). Thread: a value.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <hummer/status.hpp>

#include "graph/job_graph.hpp"
#include "job_manager/job_attempt.hpp"
#include "job_manager/job_event.hpp"
#include "job_manager/job_log.hpp"
#include "job_manager/job_record.hpp"
#include "job_manager/restart_policy.hpp"
#include "platform/time.hpp"
#include "protocol/control.pb.h"

namespace hummer {

// Why an attempt failed; for those who look later.
struct AttemptFailure {
  std::uint32_t attempt = 0;
  std::int64_t wall_ms = 0;
  std::string task_manager;
  Status status;
};

// What of it the journal has (job_journal.hpp). Others hear of a change when it is recorded.
struct JobRecording {
  std::string request;         // the submission as it came, until it is recorded
  std::uint64_t changes = 0;   // there have been so many that it must have
  std::uint64_t given = 0;     // so many were given to it
  std::uint64_t recorded = 0;  // and it has so many
  std::uint32_t begun = 0;     // the last attempt that may have begun
  std::string place;           // the directory of the newest checkpoint that it knows of
  bool refused = false;        // the submission could not be recorded: there is no such job
  bool in_doubt = false;       // it could not, and may be there: refused when its end is recorded
  Status refusal;              // why
  std::string trouble;         // why the journal lacks something, when it can't be written

  bool complete() const { return recorded == changes; }
  // Whoever submitted it may be told that it was taken.
  bool taken() const { return recorded > 0 && !in_doubt; }
};

// While the disk is asked for the checkpoint to begin with.
struct CheckpointSearch {
  std::string missing;         // why it waits for its checkpoints, which are all gone
  Nanoseconds ask_at = never;  // when the disk is asked again
};

// The state that others are told.
template <wire::JobState state>
struct Shows {
  static constexpr wire::JobState shown = state;
};

struct Job : JobProgress {
  struct Waiting : Shows<wire::JOB_WAITING> {
    Nanoseconds since;
  };
  struct Placed {
    std::unique_ptr<PlacedAttempt> attempt;
  };
  struct Going : Placed {};
  struct Deploying : Going, Shows<wire::JOB_DEPLOYING> {};
  struct Running : Going, Shows<wire::JOB_RUNNING> {};
  struct Stopping : Going, Shows<wire::JOB_STOPPING> {};
  // All parts of the attempt are to end.
  struct Unwinding : Placed {};
  struct Committed : Unwinding {
    wire::JobState shown;
  };
  struct Cancelling : Unwinding, Shows<wire::JOB_CANCELLING> {};
  struct Failing : Unwinding, Failures, Shows<wire::JOB_FAILING> {};
  struct Restarting : Unwinding, Failures, Restart, Shows<wire::JOB_RESTARTING> {};
  struct Ended {
    wire::JobState before;  // shown until the end is recorded
    std::int64_t wall_ms;
  };
  struct Finished : Ended, Shows<wire::JOB_FINISHED> {};
  struct Failed : Ended, Shows<wire::JOB_FAILED> {
    Status failure;
  };
  struct Cancelled : Ended, Shows<wire::JOB_CANCELLED> {};
  using State = std::variant<Waiting, Deploying, Running, Stopping, Committed, Cancelling, Failing,
                             Restarting, Finished, Failed, Cancelled>;

  // Its state when that is an `S`, or has one as its base; else null.
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
  wire::JobState state() const;
  // Its attempt; null: it waits or has ended.
  PlacedAttempt* placed() const;
  // One of its parts; null: it has ended, or has made room for one of another session.
  JobPart* open_part(std::size_t index, std::uint64_t session);

  std::uint64_t id = 0;
  std::uint32_t attempt = 1;  // the newest that was placed, or will be next
  JobRecording recording;
  JobGraph graph;
  std::uint64_t library_hash = 0;
  std::uint64_t library_bytes = 0;
  std::vector<std::string> arguments;
  wire::JobOptions options;
  CheckpointOptions checkpoint_options;
  std::string checkpoint_directory;  // of this job; empty: it takes none
  std::uint64_t own_from = 1;        // checkpoints in it with lower numbers are of others
  int least_slots = 1;

  std::vector<AttemptFailure> failures;  // of its attempts, the newest few
  std::uint64_t version = 1;             // changes with every change
  std::int64_t started_ms = 0;           // of the first attempt

  // Of the attempt that was placed last, also after its end.
  std::uint32_t slots = 0;
  std::vector<int> parallelism;  // by vertex; empty: not placed yet
  std::vector<int> planned;      // the same before any vertex was narrowed
  // By vertex: what it reads in shuffle files, where it was narrowed for that.
  std::vector<std::uint64_t> shuffle_bytes;
  std::vector<std::uint32_t> starts;  // of each chain as planned, by number
  // Sums over the parts: per vertex tasks running and finished, busy and
  // back-pressured percent, then three per operator.
  std::vector<std::uint64_t> metrics;
  // Of the run, by uid: what each source reads, as the first that looked has seen it, or as the
  // checkpoint has it that the run began with.
  std::map<std::string, std::string> listings;
  JobUserMetrics user_metrics;  // of one that has ended; else its parts have them
  JobLog log{10000};

  std::uint64_t checkpoints_completed = 0;
  std::uint64_t checkpoints_failed = 0;  // of the attempts before
  // Of the newest complete one, since the JobManager was started.
  Nanoseconds newest_duration = 0;
  std::uint64_t newest_written_bytes = 0;
  // The newest lies where the journal knew of none: the first in a directory, or the savepoint that
  // stops the job. Until the journal has this change of it, sinks commit up to the one before, or
  // the next JobManager could begin without what somebody has seen.
  std::uint64_t place_change = 0;
  std::uint64_t committed_before = 0;
  std::vector<SavepointRequest> savepoint_requests;  // for when it runs
  std::vector<SavepointEnd> savepoint_ends;          // the last few
  RestartPolicy restarts{RestartStrategy::no_restart()};
  // As it waits to be placed or to begin again; what it finds counts also when it is cancelled
  // then.
  std::optional<CheckpointSearch> search;
  std::uint64_t superseded_checkpoint = 0;  // see OperatorContext::superseded_epoch
  bool verify_files = false;                // the last attempt could not read its state
  // Its checkpoint directory, or another that it named, does not answer.
  std::string disk_hangs;  // which, and in what; empty: it answers
  Nanoseconds disk_hangs_for = 0;

  // Its checkpoints are among those of other jobs and runs.
  bool shares_directory() const {
    return !checkpoint_directory.empty() && checkpoint_directory == checkpoint_options.directory;
  }
  bool ended() const { return is<Ended>(); }
  // Its end, which is told when it is recorded: no restart may undo what somebody was told.
  bool told_ended() const { return ended() && recording.complete(); }
  wire::JobState told_state() const;
  // Whether what the newest checkpoint holds may not become visible yet.
  bool commit_waits() const { return recording.recorded < place_change; }
  // What the TaskManager of a part is told. REQUIRES: placed.
  wire::DesiredState desired_state(const JobPart& part) const;
  // ok() unless failed.
  Status failure() const;

 private:
  friend void transition(Job& job, JobEvent event, Moment at);
  State state_;
};

// The only way from one state to the next. REQUIRES: the diagram above has it.
void transition(Job& job, JobEvent event, Moment at);

// Takes over a report of `part`, which has not ended. True: the state of the part or the job is
// new.
bool report_part(Job& job, JobPart& part, const wire::AttemptReport& report, Moment at);
// The part has ended without a report.
void fail_part(Job& job, JobPart& part, Status failure, bool consequence, Moment at);
void end_part(Job& job, JobPart& part, wire::AttemptState state);
// Whether starting again could help, as far as the failure is known.
bool may_restart(const Failures& failures);
// A new part in the place of one that has ended, of a region that begins again.
void replace_part(Job& job, JobPart& part, std::uint64_t session, std::string task_manager);
// Adds why this attempt of it, or of a region of it, fails to `failures`.
void remember_failure(Job& job, std::uint32_t attempt, const Failures& why, std::int64_t wall_ms);

// The number that a chain of the job's would have if no vertex were narrowed.
std::size_t planned_number(const Job& job, std::uint32_t chain);

// Without the reason of waiting.
void describe(const Job& job, bool with_vertices, bool with_graph, wire::JobStatus& into);

}  // namespace hummer
