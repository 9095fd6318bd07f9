// JournalWriter: the JobJournal behind the JobManager's actor: writes on an executor of its own, so
// that the actor never waits for a disk.
//
// Entries go to the journal in the order in which they were given, as many at once as wait. When
// such a transaction fails each entry is tried alone: one that is at fault takes no other with it.
//
// Between writes it looks every second whether another JobManager has taken the journal over; once
// one has, nothing is written any more, and successor() says so.
//
// Lifecycle: from construction to stop(); what has no outcome by then may or may not be in the
// journal. Thread: write, has_news, take_outcomes and successor on the actor's, stop on its
// owner's. Ownership: `on_outcome` (notified after each transaction) outlives it.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "job_manager/job_journal.hpp"
#include "platform/task.hpp"
#include "platform/wake_event.hpp"

namespace hummer {

class JournalWriter {
 public:
  JournalWriter(Platform& platform, std::unique_ptr<JobJournal> journal, WakeEvent& on_outcome);
  ~JournalWriter() { stop(); }
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;

  void write(std::vector<JournalEntry> entries);
  // Outcomes, or a successor that take_outcomes() has not been called after.
  bool has_news() const;
  std::vector<JournalOutcome> take_outcomes();
  Status successor() const;
  void stop();

 private:
  static Task<void> write_all(JournalWriter& self);
  std::vector<JournalEntry> take_waiting();
  void write_together(const std::vector<JournalEntry>& entries);
  void look_for_successor();

  const std::unique_ptr<JobJournal> journal_;
  WakeEvent& on_outcome_;
  WakeEvent given_;
  mutable std::mutex mutex_;
  std::vector<JournalEntry> waiting_;
  std::vector<JournalOutcome> outcomes_;
  Status successor_;
  bool successor_is_news_ = false;
  std::unique_ptr<Executor> executor_;
};

}  // namespace hummer
