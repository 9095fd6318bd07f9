// The journal's side of the cluster: what it must have, and what it brings back.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "job_manager/cluster_state.hpp"

namespace hummer {
namespace {

constexpr Nanoseconds retry_pause_ns = seconds(1);

std::string directory_of(const std::string& path) {
  return path.substr(0, path.find_last_of('/') + 1);
}

}  // namespace

void ClusterState::record(Job& job) {
  if (job.recording.refused) return;
  ++job.recording.changes;
  if (has_journal()) {
    entries_due_.insert(job.id);
  } else {
    job.recording.recorded = job.recording.changes;
  }
}

std::vector<JournalEntry> ClusterState::take_entries_due() {
  std::vector<JournalEntry> entries;
  for (const std::uint64_t id : jobs_.take_forgotten()) {
    if (!has_journal()) continue;
    JournalEntry& entry = entries.emplace_back();
    entry.record.job = id;
    entry.record.forgotten = true;
  }
  for (const std::uint64_t id : std::exchange(entries_due_, {})) {
    Job* job = jobs_.find(id);
    if (job == nullptr) continue;
    job->recording.place = directory_of(job->newest_path);
    job->recording.given = job->recording.changes;
    JournalEntry& entry = entries.emplace_back();
    entry.change = job->recording.changes;
    JobRecord& record = entry.record;
    static_cast<JobProgress&>(record) = *job;
    record.job = job->id;
    record.attempt = job->recording.begun;
    record.started_ms = job->started_ms;
    if (const Job::Ended* ended = job->as<Job::Ended>()) {
      record.state = job->state();
      record.ended_ms = ended->wall_ms;
      record.failure = job->failure();
    }
    if (job->recording.recorded > 0) continue;
    record.request = job->recording.request;
    if (job->library_bytes == 0) continue;
    record.library_hash = job->library_hash;
    // Nobody runs a job that has ended: its end needs no library, and no room for one.
    if (!job->ended() && libraries_.complete(job->library_hash)) {
      record.library = libraries_.bytes(job->library_hash);
    }
  }
  return entries;
}

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
  entries_failed_.insert(outcome.job);
  retry_at_ = std::min(retry_at_, at.now + retry_pause_ns);
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
  record(job);
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
  job.recording.place = directory_of(record.newest_path);
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
    if (!job.checkpoint_directory.empty() && !job.stopped_by_savepoint) find_checkpoint(job, {});
  }
}

}  // namespace hummer
