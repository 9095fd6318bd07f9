// Job: what the JobManager knows of one job, and the states that it goes through.
//
//   waiting → deploying → running → finished
//                  │          ├→ stopping → finished (cancelled, where a part never began)
//                  └──────────┼→ cancelling → cancelled (or finished, when all parts were faster)
//                             ├→ failing → failed
//                             └→ restarting → waiting → … with the next attempt
//
// A part is what one TaskManager has of it. The verdict comes when every part has ended; the root
// failure is the first that is no consequence of another (peer_gone, cancelled, or marked so by the
// TaskManager), the first consequence when there is no other.
//
// With a restart strategy a failure makes it restarting: all parts of the attempt are cancelled as
// when failing, and once they have ended, the strategy's delay has passed and the checkpoint to
// begin with is known, it waits for slots again, with the next attempt's number. Everything that a
// TaskManager says is held against that number, so nothing of an old attempt reaches the new one.
//
// Where the job has independent parts (graph/regions.hpp), one that fails begins again alone, as
// long as another one runs: its parts are cancelled and replaced, with the next attempt's number
// and the newest checkpoint, while the job stays in its state. An attempt is a number for all of
// the job, so each is given once; every region knows its own.
//
// A job that a savepoint stops stays in `stopping` until every sink has committed; then its parts
// are cancelled, and it has finished.
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
#include <vector>

#include <hummer/status.hpp>

#include "checkpoint/attempt_checkpoints.hpp"
#include "graph/job_graph.hpp"
#include "job_manager/job_log.hpp"
#include "job_manager/restart_policy.hpp"
#include "job_manager/scheduler.hpp"
#include "job_manager/user_metrics.hpp"
#include "platform/time.hpp"
#include "protocol/control.pb.h"

namespace hummer {

// What a TaskManager has of one region.
struct JobPart {
  std::size_t region = 0;
  std::size_t host = 0;  // index among the job's TaskManagers
  std::uint64_t session = 0;
  std::string task_manager;  // its id
  wire::AttemptState state = wire::ATTEMPT_UNKNOWN;
  bool wanted = false;    // it asks for the deployment
  bool deployed = false;  // the deployment was sent at least once
  bool ended = false;
  bool ran = false;            // it is counted in Job::running_parts
  std::uint64_t named_in = 0;  // sequence of the TaskManager's last state that named it; 0: none
  std::uint64_t log_lines_seen = 0;
  std::uint64_t committed = 0;               // the lowest checkpoint that its tasks have committed
  std::vector<std::string> wanted_listings;  // by uid of a source
  std::vector<std::uint64_t> metrics;        // last report; see Job::metrics
  JobUserMetrics user_metrics;               // the same of the author's functions
  std::vector<std::string> stuck;
};

// Why an attempt failed; for those who look later.
struct AttemptFailure {
  std::uint32_t attempt = 0;
  std::int64_t wall_ms = 0;
  std::string task_manager;
  Status status;
};

// Why something failed: the root is the first failure that does not only follow from another.
struct Failures {
  std::optional<Status> root_failure;
  std::optional<Status> consequence;
  std::string failed_on;  // the TaskManager of that failure

  void add(Status failure, bool is_consequence, const std::string& task_manager);
  // The first of them; ok() when there is none.
  Status first() const;
  void clear_failures() { *this = Failures(); }
};

struct JobRegion : Failures {
  enum class Phase {
    runs,     // or has finished
    failed,   // what follows is not decided yet
    ending,   // its parts are being cancelled
    waiting,  // to begin again
  };
  Phase phase = Phase::runs;
  std::uint32_t attempt = 1;
  bool numbered = false;             // waiting, and `attempt` is that of the next start
  std::vector<std::uint32_t> tasks;  // its chains
  // Checkpoints up to this one were begun without it.
  std::uint64_t checkpoints_before = 0;
  Nanoseconds restart_at = 0;
  Nanoseconds waiting_since = 0;
  std::string restart_reason;
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
  std::string trouble;         // why the journal lacks something, when it can't be written

  bool complete() const { return recorded == changes; }
  // Whoever submitted it may be told that it was taken.
  bool taken() const { return recorded > 0 && !in_doubt; }
};

// How far a job has come.
struct JobProgress {
  std::uint64_t id = 0;
  std::uint32_t attempt = 1;          // the newest that was placed, or will be next
  std::uint64_t next_checkpoint = 1;  // above every number that was used
  // The newest complete checkpoint of this job, or what it was told to begin with; 0: none.
  std::uint64_t newest_checkpoint = 0;
  std::string newest_path;
  // That is a savepoint which has stopped the job: only commits are left.
  bool stopped_by_savepoint = false;
  wire::DesiredState asked = wire::DESIRED_RUN;  // by its owner, last
  std::int64_t submitted_ms = 0;
};

struct Job : JobProgress, Failures {
  JobRecording recording;
  std::uint64_t submission = 0;
  JobGraph graph;
  std::uint64_t library_hash = 0;
  std::uint64_t library_bytes = 0;
  std::vector<std::string> arguments;
  wire::JobOptions options;
  CheckpointOptions checkpoint_options;
  std::string checkpoint_directory;  // of this job; empty: it takes none
  std::uint64_t own_from = 1;        // checkpoints in it with lower numbers are of others
  int least_slots = 1;

  wire::JobState state = wire::JOB_WAITING;
  wire::JobState state_before_end = wire::JOB_UNKNOWN;
  std::vector<AttemptFailure> failures;  // of its attempts, the newest few
  std::uint64_t version = 1;             // changes with every change
  Nanoseconds waiting_since = 0;
  std::int64_t started_ms = 0;  // of the first attempt
  std::int64_t ended_ms = 0;

  std::uint32_t slots = 0;
  std::vector<int> parallelism;        // by vertex; empty: not placed yet
  std::vector<Placement::Part> hosts;  // the TaskManagers, as in deployment.task_managers
  std::vector<JobRegion> regions;
  std::vector<JobPart> parts;
  std::size_t open_parts = 0;
  std::size_t running_parts = 0;  // also those that have ended since
  std::size_t finished_parts = 0;
  bool undeployed_swept = false;  // parts that never got the deployment were ended
  wire::Deployment deployment;    // but for the receiver's index
  // Of the run, by uid: what each source reads, as the first that looked has seen it, or as the
  // checkpoint has it that the run began with.
  std::map<std::string, std::string> listings;
  // Sums over the parts: per vertex tasks running and finished, busy and
  // back-pressured percent, then three per operator.
  std::vector<std::uint64_t> metrics;
  JobUserMetrics user_metrics;  // of one that has ended; else its parts have them
  JobLog log{10000};

  // The attempt's checkpoints; null: the job takes none, or nothing runs.
  std::unique_ptr<AttemptCheckpoints> checkpoints;
  std::uint64_t checkpoints_completed = 0;
  std::uint64_t checkpoints_failed = 0;  // of the attempts before
  // Of the newest complete one, since the JobManager was started.
  Nanoseconds newest_duration = 0;
  std::uint64_t newest_written_bytes = 0;
  bool commits_done = false;  // after the savepoint that stops it
  // The newest lies where the journal knew of none: the first in a directory, or the savepoint that
  // stops the job. Until the journal has this change of it, sinks commit up to the one before, or
  // the next JobManager could begin without what somebody has seen.
  std::uint64_t place_change = 0;
  std::uint64_t committed_before = 0;
  std::vector<SavepointRequest> savepoint_requests;  // for when it runs
  std::vector<SavepointEnd> savepoint_ends;          // the last few
  RestartPolicy restarts{RestartStrategy::no_restart()};
  Nanoseconds restart_at = 0;  // of restarting
  std::string restart_reason;
  bool finding_checkpoint = false;  // the checkpoint to begin with is not known yet
  std::string missing;  // why it waits for its checkpoints, which are all gone; empty: it doesn't
  Nanoseconds find_checkpoint_at = never;   // of missing: when the disk is asked again
  std::uint64_t superseded_checkpoint = 0;  // see OperatorContext::superseded_epoch
  bool verify_files = false;                // the last attempt could not read its state
  // Its checkpoint directory, or another that it named, does not answer.
  std::string disk_hangs;  // which, and in what; empty: it answers
  Nanoseconds disk_hangs_for = 0;

  // Its checkpoints are among those of other jobs and runs.
  bool shares_directory() const {
    return !checkpoint_directory.empty() && checkpoint_directory == checkpoint_options.directory;
  }
  bool ended() const { return state >= wire::JOB_FINISHED && state <= wire::JOB_CANCELLED; }
  // Or ended.
  bool ending() const { return state >= wire::JOB_CANCELLING && state <= wire::JOB_CANCELLED; }
  // All parts of the attempt are to end.
  bool unwinding() const { return ending() || state == wire::JOB_RESTARTING || commits_done; }
  // Its end, which is told when it is recorded: no restart may undo what somebody was told.
  bool told_ended() const { return ended() && recording.complete(); }
  wire::JobState told_state() const { return ended() && !told_ended() ? state_before_end : state; }
  // A region is between two attempts while others go on.
  bool has_region_out() const;
  // Whether what the newest checkpoint holds may not become visible yet.
  bool commit_waits() const { return recording.recorded < place_change; }
  // What the TaskManager of a part is told.
  wire::DesiredState desired_state(const JobPart& part) const;
  // ok() unless failed.
  Status failure() const;
};

// What a report changed.
struct PartChange {
  bool state = false;  // of the part or the job
  bool ended = false;  // the part
};

// Takes over a report of `part`, which has not ended.
PartChange report_part(Job& job, JobPart& part, const wire::AttemptReport& report,
                       std::int64_t wall_ms);
// The part has ended without a report.
void fail_part(Job& job, JobPart& part, Status failure, bool consequence);
void cancel_part(Job& job, JobPart& part);
// Whether starting again could help, as far as the failure is known.
bool may_restart(const Failures& failures);
// A new part in the place of one that has ended, of a region that begins again.
void replace_part(Job& job, JobPart& part, std::uint64_t session, std::string task_manager);
// From restarting, when all parts have ended, to waiting with the next attempt.
void prepare_next_attempt(Job& job, Nanoseconds now);
// Adds why this attempt of it, or of a region of it, fails to `failures`.
void remember_failure(Job& job, std::uint32_t attempt, const Failures& why, std::int64_t wall_ms);
// Gives the verdict when all parts have ended; true when it did. REQUIRES: was placed.
bool conclude(Job& job, std::int64_t wall_ms);
// Ends a job that has no open part.
void end_job(Job& job, wire::JobState state, std::int64_t wall_ms);

// Without the reason of waiting.
void describe(const Job& job, bool with_vertices, bool with_graph, wire::JobStatus& into);

}  // namespace hummer
