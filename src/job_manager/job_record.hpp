// JobRecord: what must survive of a job when the JobManager dies, and what one that comes after it
// finds (job_journal.hpp says when it is written).
//
// Thread: values.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <hummer/status.hpp>

#include "protocol/control.pb.h"

namespace hummer {

// How far a job has come.
struct JobProgress {
  std::uint64_t submission = 0;
  std::int64_t submitted_ms = 0;
  wire::DesiredState asked = wire::DESIRED_RUN;  // by its owner, last
  std::uint64_t next_checkpoint = 1;             // above every number that was used
  // The newest complete checkpoint of this job, or what it was told to begin with; 0: none.
  std::uint64_t newest_checkpoint = 0;
  std::string newest_path;
  // That is a savepoint which has stopped the job: only commits are left.
  bool stopped_by_savepoint = false;

  // That of the newest checkpoint, with its slash.
  std::string newest_directory() const {
    return newest_path.substr(0, newest_path.find_last_of('/') + 1);
  }
};

// Newer checkpoints than the one that it names may be in the job's directory.
struct JobRecord : JobProgress {
  std::uint64_t job = 0;
  // A serialized wire::SubmitJob, when the job is new; empty: as it was recorded.
  std::string request;
  std::uint64_t library_hash = 0;                   // 0: none, or a program's own
  std::shared_ptr<const std::string> library = {};  // its bytes, when the job is new
  std::uint32_t attempt = 0;                        // the last that may have begun; 0: none
  wire::JobState state = wire::JOB_WAITING;         // how it ended; waiting: it has not
  std::int64_t started_ms = 0;
  std::int64_t ended_ms = 0;
  Status failure = {};
  bool forgotten = false;  // nothing of it is kept any more

  bool ended() const { return state >= wire::JOB_FINISHED && state <= wire::JOB_CANCELLED; }
};

struct RecordedCluster {
  std::uint64_t identity = 0;
  std::uint64_t epoch = 0;      // of this opening, from 1
  std::uint64_t last_job = 0;   // the highest number given
  std::vector<JobRecord> jobs;  // by number, with their requests
};

// A record on its way to the journal.
struct JournalEntry {
  JobRecord record;
  std::uint64_t change = 0;  // of the job: what its giver knows the entry by
};

// What came of one.
struct JournalOutcome {
  std::uint64_t job = 0;
  std::uint64_t change = 0;
  Status status = {};
  bool in_doubt = false;  // it failed, and may be in the journal all the same
};

}  // namespace hummer
