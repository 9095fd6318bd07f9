// JobRecorder: which jobs have changes that the journal lacks, and when it is given them.
//
// A job's changes are counted in its JobRecording; an entry has all of them. What could not be
// written is due again a second later, and what came of an entry is the cluster's business
// (cluster_recording.cpp). Without a journal every change is recorded at once.
//
// Pure: time is given. Thread: a value.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "job_manager/job_table.hpp"
#include "job_manager/library_store.hpp"

namespace hummer {

class JobRecorder {
 public:
  explicit JobRecorder(bool has_journal) : has_journal_(has_journal) {}

  bool has_journal() const { return has_journal_; }
  // The journal must have what has changed.
  void record(Job& job);
  // Its last entry could not be written.
  void try_again(const Job& job, Nanoseconds now);
  // What must be written now; each has an outcome some time.
  std::vector<JournalEntry> take_due(JobTable& jobs, LibraryStore& libraries);
  bool is_due() const { return !due_.empty(); }
  void advance(Nanoseconds now);
  Nanoseconds next_deadline() const { return retry_at_; }

 private:
  const bool has_journal_;
  std::set<std::uint64_t> due_;
  std::set<std::uint64_t> failed_;  // due again at retry_at_
  Nanoseconds retry_at_ = never;
};

}  // namespace hummer
