// The journal's side of the cluster: what came of its entries, and what it brings back.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "job_manager/cluster_state.hpp"

namespace hummer {

void ClusterState::recorded(const JournalOutcome& outcome, Moment at) {
  Job* job = jobs_.find(outcome.job);
  if (job == nullptr || job->recording.refused) return;
  JobRecording& recording = job->recording;
  jobs_changed_ = true;
  ++job->version;
  if (outcome.status.ok()) {
    const bool commit_waited = job->commit_waits();
    recording.recorded = std::max(recording.recorded, outcome.change);
    recording.refused = recording.in_doubt && recording.complete();
    recording.request.clear();
    recording.trouble.clear();
    schedule_due_ = true;
    if (commit_waited && !job->commit_waits()) mark_due(*job);
    if (job->told_ended()) clear_checkpoints(*job);
    return;
  }
  if (recording.recorded == 0 && !recording.in_doubt) {
    const bool others_under_way = recording.given > outcome.change;
    return refuse(
        *job, outcome.status.with_context("the job was not taken, its journal can't be written"),
        outcome.in_doubt || others_under_way, at);
  }
  if (recording.trouble.empty()) {
    log(LogLevel::error, *job,
        "the journal can't be written, tried again each second: " + outcome.status.to_string());
  }
  recording.trouble = "the JobManager's journal can't be written: " + outcome.status.message();
  recorder_.try_again(*job, at.now);
}

// A submission that may be in the journal all the same would run when the JobManager starts again,
// beside the one that its owner submits in its place. So nobody hears that it was refused before
// its end is there too.
void ClusterState::refuse(Job& job, Status why, bool in_doubt, Moment at) {
  job.recording.in_doubt = in_doubt;
  job.recording.refused = !in_doubt;
  job.recording.refusal = why;
  if (!in_doubt) job.recording.recorded = job.recording.changes;
  if (job.is<Job::Waiting>()) return fail_waiting(job, std::move(why), at);
  if (Job::Failed* failed = job.as<Job::Failed>()) failed->failure = std::move(why);
  recorder_.record(job);
}

void ClusterState::recover(RecordedCluster recorded,
                           std::map<std::uint64_t, Result<std::string>> libraries, Moment at) {
  jobs_.number_above(recorded.last_job);
  workers_.number_above(recorded.epoch << 32);
  first_version_ = (recorded.epoch << 32) + 1;
  std::map<std::uint64_t, Status> read;
  for (auto& [hash, bytes] : libraries) {
    read[hash] = bytes.status();
    if (bytes.ok()) libraries_.put(hash, std::move(*bytes));
  }
  for (const JobRecord& record : recorded.jobs) recover_job(record, read[record.library_hash], at);
}

void ClusterState::recover_job(const JobRecord& record, const Status& library, Moment at) {
  wire::SubmitJob request;
  Result<std::unique_ptr<Job>> made(
      Status(ErrorCode::corrupt_file, "the submission in the journal is no message"));
  if (request.ParseFromString(record.request)) made = make_job(std::move(request), at);
  const Status unusable = made.status();
  if (!made.ok()) made = std::make_unique<Job>();
  Job& job = **made;
  static_cast<JobProgress&>(job) = record;
  job.id = record.job;
  job.version = first_version_;
  job.recording.begun = record.attempt;
  job.attempt = std::max(record.attempt, 1u);
  job.recording.place = job.newest_directory();
  job.recording.changes = job.recording.recorded = 1;
  jobs_.add(std::move(*made));
  if (record.ended()) {
    job.started_ms = record.started_ms;
    jobs_.no_longer_waiting(job);
    JobEvent how = job_event::Finishes{};
    if (record.state == wire::JOB_CANCELLED) how = job_event::Cancels{};
    if (record.state == wire::JOB_FAILED) how = job_event::Fails{Failures(record.failure)};
    transition(job, std::move(how), {.wall_ms = record.ended_ms});
    jobs_.ended(job);
    return;
  }
  log(LogLevel::info, job,
      fmt::format("'{}' is taken over from an earlier JobManager; {}", job.graph.job_name,
                  record.attempt > 0 ? fmt::format("attempt {} had begun", record.attempt)
                                     : "it had not begun"));
  if (job.library_bytes > 0 && library.ok()) libraries_.hold(job.library_hash);
  const bool held = job.library_bytes > 0 && library.ok();
  if (!held) job.library_bytes = 0;  // nothing to release
  schedule_due_ = true;
  if (record.asked == wire::DESIRED_CANCEL) {
    end_waiting(job, job_event::Cancels{}, at);
  } else if (!unusable.ok()) {
    fail_waiting(job, unusable, at);
  } else if (!library.ok()) {
    fail_waiting(job, library, at);
  } else if (record.attempt == 0) {
    if (!job.checkpoint_options.restore.empty())
      find_checkpoint(job, job.checkpoint_options.restore);
  } else if (!job.restarts.failed(at.now)) {
    fail_waiting(
        job,
        Status(ErrorCode::peer_gone,
               "the JobManager was started again while the job ran, and the job has no "
               "restart strategy; submit it again, with checkpoints or a restart strategy"),
        at);
  } else {
    ++job.attempt;
    if (has_blocking_edges(job.graph)) {
      log(LogLevel::warning, job,
          fmt::format("'{}' begins at its beginning: which of its files there were went with the "
                      "earlier JobManager",
                      job.graph.job_name));
    }
    if (!job.checkpoint_directory.empty() && !job.stopped_by_savepoint) find_checkpoint(job, {});
  }
}

}  // namespace hummer
