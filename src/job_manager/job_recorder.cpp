#include "job_manager/job_recorder.hpp"

#include <algorithm>
#include <utility>

namespace hummer {

void JobRecorder::record(Job& job) {
  if (job.recording.refused) return;
  ++job.recording.changes;
  if (has_journal_) {
    due_.insert(job.id);
  } else {
    job.recording.recorded = job.recording.changes;
  }
}

void JobRecorder::try_again(const Job& job, Nanoseconds now) {
  constexpr Nanoseconds pause = seconds(1);
  failed_.insert(job.id);
  retry_at_ = std::min(retry_at_, now + pause);
}

void JobRecorder::advance(Nanoseconds now) {
  if (now < retry_at_) return;
  due_.merge(failed_);
  retry_at_ = never;
}

std::vector<JournalEntry> JobRecorder::take_due(JobTable& jobs, LibraryStore& libraries) {
  std::vector<JournalEntry> entries;
  for (const std::uint64_t id : jobs.take_forgotten()) {
    if (!has_journal_) continue;
    JournalEntry& entry = entries.emplace_back();
    entry.record.job = id;
    entry.record.forgotten = true;
  }
  for (const std::uint64_t id : std::exchange(due_, {})) {
    Job* job = jobs.find(id);
    if (job == nullptr) continue;
    job->recording.place = job->newest_directory();
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
    if (!job->ended() && libraries.complete(job->library_hash)) {
      record.library = libraries.bytes(job->library_hash);
    }
  }
  return entries;
}

}  // namespace hummer
