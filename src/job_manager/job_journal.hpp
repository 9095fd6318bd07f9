// JobJournal: what a JobManager must know again after its death, in a directory of its own.
//
//   DIR/lock                       who has it; one JobManager at a time
//   DIR/journal.db                 a SQLite database: the cluster (one row) and the jobs
//   DIR/libraries/<hash>.so        job libraries of jobs that have not ended
//
// The cluster's row: its identity (drawn once: whoever numbers jobs here goes on with the numbers),
// the epoch (how often the journal was opened; sessions and attempts of an earlier one are told by
// it) and the highest job number given so far. A job's row: its submission as it came, how
// far it is (JobRecord), and how it ended. It is written when a job is submitted, before an
// attempt begins, when its first checkpoint in a directory is complete, when somebody wants it
// ended, and when it has ended; never for heartbeats or further checkpoints: which is the newest
// says the checkpoint directory, and that there must be one, the journal.
//
// write() is one transaction: after it returned ok() its records survive a power cut; when it
// failed, or the process died in it, either all or none of them are there: none, unless in_doubt()
// says otherwise, which it does where the disk failed at the commit itself. Whoever tells others of
// a change waits for it.
//
// Two JobManagers: the lock keeps a second one away, and without locks there is no journal. Where
// two machines each grant a lock of their own (a network file system that is mounted so), the epoch
// fences: every write, and check_epoch(), looks whether a later opening has counted it up, and from
// then on all writes fail with successor().
//
// Lifecycle: open() reads everything and keeps the lock until destruction. Thread: one at a time;
// calls block for as long as the disk takes. Errors: invalid_configuration (another JobManager has
// the directory, or nobody can lock it; a journal of a newer engine, or no journal), corrupt_file
// (named, with what to do), those of Files.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "job_manager/job_record.hpp"
#include "job_manager/library_files.hpp"
#include "job_manager/sqlite_database.hpp"

namespace hummer {

class JobJournal {
 public:
  static Result<std::unique_ptr<JobJournal>> open(Platform& platform, const std::string& directory);
  ~JobJournal();

  // What was there; once.
  RecordedCluster take_recorded() { return std::move(recorded_); }
  Status write(std::span<const JobRecord> records);
  // Whether that failed so late that its records may be there all the same, now or behind a
  // restart.
  bool in_doubt() const { return in_doubt_; }
  // Whether it is still this one's.
  Status check_epoch();
  // Who has it now, once that was seen; ok(): nobody else.
  const Status& successor() const { return successor_; }
  Result<std::string> read_library(std::uint64_t hash) const { return libraries_.read(hash); }

 private:
  struct Statements;
  JobJournal(Platform& platform, std::string directory);

  Status open();
  Status check_format(bool& is_new);
  Status begin_epoch(bool is_new);
  Status read_jobs();
  Status write_record(const JobRecord& record);
  Status remove_unused_libraries();
  std::string database_path() const { return directory_ + "/journal.db"; }
  Status damaged(const Status& why) const;

  Platform& platform_;
  const std::string directory_;
  std::unique_ptr<FileLock> lock_;
  LibraryFiles libraries_;
  SqliteVfs vfs_;
  SqliteDatabase database_;
  std::unique_ptr<Statements> statements_;
  RecordedCluster recorded_;
  std::uint64_t epoch_ = 0;
  bool in_doubt_ = false;
  Status successor_;
};

}  // namespace hummer
