// JournalWriter: the JobJournal behind the JobManager's actor: writes on an executor of its own, so
// that the actor never waits for a disk.
//
// Entries go to the journal in the order in which they were given, as many at once as wait. When
// such a transaction fails each entry is tried alone: one that is at fault takes no other with it.
//
// Lifecycle: from construction to stop(); what has no outcome by then may or may not be in the
// journal. Thread: write, has_outcomes and take_outcomes on the actor's, stop on its owner's.
// Ownership: `on_outcome` (notified after each transaction) outlives it.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "control/job_manager/job_journal.hpp"
#include "platform/task.hpp"
#include "platform/wake_event.hpp"

namespace hummer {

class JournalWriter {
 public:
  struct Outcome {
    std::uint64_t job = 0;
    std::uint64_t change = 0;
    Status status;
  };

  JournalWriter(Platform& platform, std::unique_ptr<JobJournal> journal, WakeEvent& on_outcome);
  ~JournalWriter() { stop(); }
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;

  void write(std::vector<JournalEntry> entries);
  bool has_outcomes() const;
  std::vector<Outcome> take_outcomes();
  void stop();

 private:
  static Task<void> write_all(JournalWriter& self);
  std::vector<JournalEntry> take_waiting();
  void write_together(const std::vector<JournalEntry>& entries);

  const std::unique_ptr<JobJournal> journal_;
  WakeEvent& on_outcome_;
  WakeEvent given_;
  mutable std::mutex mutex_;
  std::vector<JournalEntry> waiting_;
  std::vector<Outcome> outcomes_;
  std::unique_ptr<Executor> executor_;
};

}  // namespace hummer
