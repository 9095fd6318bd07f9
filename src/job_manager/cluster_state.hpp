// ClusterState: the JobManager's mind. TaskManagers, jobs, libraries, and the rules between
// them (docs/design/0002-cluster.md, "Control: states instead of commands").
//
// It is told what happened (a registration, a state, a lost connection, the time, a client's
// desired_state) and says afterwards what is due: whose state must be sent, which sessions have
// ended. No coroutine, stream or clock inside, so it tests without threads.
//
// Checkpoints and restarts (cluster_checkpoints.cpp): an AttemptCheckpoints per attempt decides,
// its orders to the disk come out of take_orders(), and their outcomes back by carried_out().
//
// Regions (cluster_regions.cpp, graph/regions.hpp): where the failure of one lets others go on, it
// begins again in the slots that it had, which the job keeps meanwhile; for a TaskManager that is
// gone another one is taken that has as many free. When there is none and the whole job would find
// slots, the whole job restarts.
//
// Blocking edges (cluster_files.cpp): regions that read files begin when those that write them have
// finished; who has which files is known by session, part and attempt, and TaskManagers are told
// which of them are still read. A job with such edges keeps its slots to its end, since what has
// finished may have to begin again.
//
// Order of jobs: first come, first served, as far as slots allow. A job that doesn't fit lets
// later, smaller ones pass for a quarter of the slot timeout; after that, if the TaskManagers there
// are could hold it, nobody passes it any more, so that the small ones do not starve it; it is
// served, or fails at its slot timeout, and so blocks nobody for ever. A job that needs more slots
// than there are in all never blocks anyone.
//
// Thread: a value.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "job_manager/job_manager.hpp"
#include "job_manager/job_recorder.hpp"
#include "job_manager/job_table.hpp"
#include "job_manager/library_store.hpp"
#include "job_manager/scheduler.hpp"
#include "job_manager/worker_table.hpp"

namespace hummer {

class ClusterState {
 public:
  explicit ClusterState(const JobManagerOptions& options);

  // ---- the journal (with a state directory) ----
  // What an earlier JobManager left, before anything else; `libraries` has those that were read.
  // Jobs that had not begun wait again. The others go on with the next attempt and their newest
  // checkpoint, as after a failure, if their restart strategy allows that; else they have failed.
  void recover(RecordedCluster recorded, std::map<std::uint64_t, Result<std::string>> libraries,
               Moment at);
  // What must be written now; each has an outcome some time.
  std::vector<JournalEntry> take_entries_due() { return recorder_.take_due(jobs_, libraries_); }
  void recorded(const JournalOutcome& outcome, Moment at);

  // ---- TaskManagers ----
  struct Refused {
    Status why;
    bool may_retry = false;
  };
  // The session, or why not.
  std::uint64_t register_worker(const wire::Registration& registration, std::string address,
                                Moment at, Refused& refused);
  // False when it was dropped: another session, or overtaken.
  bool take_state(std::uint64_t session, const wire::TaskManagerState& state, Moment at);
  void connection_ended(std::uint64_t session, const Status& why, Moment at);

  // ---- clients ----
  // A job that waits for slots; the existing one for a known submission. It may be told when its
  // recording is complete.
  Result<std::uint64_t> submit(wire::SubmitJob request, Moment at);
  // not_found. An ended job stays as it is.
  Status end(std::uint64_t job, wire::DesiredState desired_state, Moment at);

  // Empty: not yet. Else the savepoint's path, or why there is none.
  std::optional<Result<std::string>> savepoint(Job& job, const wire::TakeSavepoint& request,
                                               Moment at);

  // ---- checkpoints ----
  // To be carried out in this order, elsewhere; each once.
  std::vector<CheckpointOrder> take_orders();
  void carried_out(const CheckpointOutcome& outcome, Moment at);
  // All orders that have been under way for long now, again and again while there are some.
  void orders_hang(const std::vector<HungOrder>& orders);

  // ---- time ----
  // Lost TaskManagers, jobs that waited too long, slots for those that wait.
  void advance(Moment at);
  Nanoseconds next_deadline() const;  // of advance()

  // ---- what is due ----
  // Sessions whose state must be sent; each once.
  std::vector<std::uint64_t> take_states_due();
  // Fills in what the TaskManager should have. REQUIRES: a live session.
  void state_for(std::uint64_t session, wire::JobManagerState& into);
  // Sessions that ended here and whose connections must be closed.
  std::vector<std::uint64_t> take_ended_sessions();
  // Whether a job has changed its state since the last call: who waits for that looks again.
  bool take_job_changes();
  // Whether any of these, or advance(), has something to do now.
  bool work_due() const {
    return schedule_due_ || jobs_changed_ || !due_.empty() || !ended_sessions_.empty() ||
           !orders_.empty() || recorder_.is_due();
  }

  WorkerTable& workers() { return workers_; }
  JobTable& jobs() { return jobs_; }
  LibraryStore& libraries() { return libraries_; }
  // Why it waits; empty when it doesn't.
  std::string waiting_reason(const Job& job) const;
  std::uint64_t lost() const { return lost_; }

 private:
  // About `job`, in the process's log.
  void log(LogLevel level, const Job& job, const std::string& text) const;
  // Those who watch it are to look again.
  void changed(Job& job);
  // The only TaskManager is in this process.
  bool is_local() const { return options_.local != nullptr; }
  void recover_job(const JobRecord& record, const Status& library, Moment at);
  bool must_answer(const Worker& worker, const wire::TaskManagerState& state, Moment at) const;
  void refuse(Job& job, Status why, bool in_doubt, Moment at);
  void mark_due(Worker& worker);
  // Of every TaskManager with an open part.
  void mark_due(const Job& job);
  void lose(Worker& worker, Status why, Moment at);
  void part_ended(Job& job, const JobPart& part);
  // After anything that may have ended parts: cancels those that never began, gives the verdict.
  void conclude_or_advance(Job& job, Moment at);
  void sweep_undeployed(Job& job, std::size_t region);
  void job_ended(Job& job);
  // One that waits ends so.
  void end_waiting(Job& job, JobEvent how, Moment at);
  void fail_waiting(Job& job, Status why, Moment at);
  void schedule(Moment at);
  void deploy(Job& job, Placement placement, Moment at);
  void occupy_slots(const Job& job, const Placement::Part& host);
  void release_slots(Job& job, std::size_t host);
  // The part is on its TaskManager from now on.
  void hold(const Job& job, std::size_t part);
  // A job that waits, from a request that makes sense.
  Result<std::unique_ptr<Job>> make_job(wire::SubmitJob request, Moment at) const;

  // cluster_regions.cpp
  // After anything that may have failed or ended parts.
  void look_at_regions(Job& job, Moment at);
  void region_failed(Job& job, std::size_t region, Moment at);
  void fail_with(Job& job, Failures why, Moment at);
  // Those that wait, when their time has come.
  void begin_regions(Moment at);
  void begin_regions(Job& job, Moment at);
  bool find_successors(Job& job, const std::vector<std::size_t>& regions, Moment at);
  void begin_region(Job& job, std::size_t region, Moment at);
  void begin_part(Job& job, std::size_t part);

  // cluster_files.cpp
  void await_inputs(Job& job, Moment at);
  // Those that wait and may begin, as far as what they read goes.
  std::vector<bool> regions_with_inputs(Job& job, Moment at);
  // Whether all that the region reads has finished and is there; what is not begins again.
  bool request_inputs(Job& job, std::size_t region, Moment at);
  // Before its first start, by the bytes that it will read; not while others get the placement.
  bool waits_to_be_narrowed(const Job& job, std::size_t region) const;
  void narrow_region(Job& job, std::size_t region);
  // What its next start leaves alone.
  bool stays(const Job& job, const JobPart& part);
  bool is_there(const PlacedAttempt& placed, const JobPart& part);
  bool never_begins(const Job& job) const;
  void take_lost_files(Job& job, const wire::AttemptReport& report);
  void readers_begin_anew(Job& job, std::size_t region);
  void name_sources(const PlacedAttempt& placed, const JobPart& part, wire::Deployment& into) const;
  void name_kept(std::uint64_t session, wire::JobManagerState& into);
  void drop_files(Job& job);

  // cluster_checkpoints.cpp
  void take_listings(Job& job, JobPart& part, const wire::AttemptReport& report);
  void take_snapshots(Job& job, const wire::AttemptReport& report, Moment at);
  // What is due of its checkpoints, or of its restart.
  void advance(Job& job, Moment at);
  void advance_all(Moment at);
  void advance_by(Nanoseconds time) { next_advance_ = std::min(next_advance_, time); }
  void begin_checkpoints(Job& job, Moment at);
  void end_checkpoints(Job& job, const Status& why);
  void keep_savepoints(Job& job, std::vector<SavepointEnd> ends);
  void look_at_commits(Job& job, Moment at);
  // After the first failure of an attempt: whether it begins again.
  void consider_restart(Job& job, Moment at);
  void restart_all(Job& job, Restart restart, Moment at);
  // Asks the disk for the checkpoint to begin with.
  void find_checkpoint(Job& job, std::string restore);
  void checkpoint_found(Job& job, const CheckpointOutcome& outcome, Moment at);
  void cannot_begin(Job& job, Status why, Moment at);
  // Waits until they are there again.
  void miss_checkpoints(Job& job, CheckpointSearch search, Moment at);
  // Of a job that has finished, and whose end is recorded.
  void clear_checkpoints(const Job& job);

  const JobManagerOptions& options_;
  std::uint64_t first_version_ = 1;  // of jobs; above all that an earlier JobManager told
  JobRecorder recorder_;
  WorkerTable workers_;
  JobTable jobs_;
  LibraryStore libraries_;
  std::vector<std::uint64_t> due_;
  std::vector<std::uint64_t> ended_sessions_;
  std::vector<CheckpointOrder> orders_;
  std::set<std::uint64_t> advancing_;  // jobs that take checkpoints, or are to begin again
  Nanoseconds next_advance_ = never;
  std::set<std::uint64_t> regional_;    // jobs with regions that wait
  std::set<std::uint64_t> with_files_;  // jobs with blocking edges that are placed
  std::set<std::uint64_t> hung_;        // jobs whose disk does not answer
  bool schedule_due_ = false;
  bool jobs_changed_ = false;
  std::uint64_t lost_ = 0;
};

}  // namespace hummer
