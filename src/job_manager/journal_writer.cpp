#include "job_manager/journal_writer.hpp"

#include <iterator>
#include <utility>

namespace hummer {
namespace {

constexpr Nanoseconds look_interval_ns = seconds(1);

}  // namespace

JournalWriter::JournalWriter(Platform& platform, std::unique_ptr<JobJournal> journal,
                             WakeEvent& on_outcome)
    : journal_(std::move(journal)),
      on_outcome_(on_outcome),
      executor_(platform.make_executor({.name = "journal"})) {
  executor_->spawn(write_all(*this));
}

void JournalWriter::stop() { executor_->stop(); }

void JournalWriter::write(std::vector<JournalEntry> entries) {
  {
    const std::scoped_lock lock(mutex_);
    waiting_.insert(waiting_.end(), std::make_move_iterator(entries.begin()),
                    std::make_move_iterator(entries.end()));
  }
  given_.notify();
}

bool JournalWriter::has_news() const {
  const std::scoped_lock lock(mutex_);
  return !outcomes_.empty() || successor_is_news_;
}

std::vector<JournalOutcome> JournalWriter::take_outcomes() {
  const std::scoped_lock lock(mutex_);
  successor_is_news_ = false;
  return std::exchange(outcomes_, {});
}

std::vector<JournalEntry> JournalWriter::take_waiting() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(waiting_, {});
}

Status JournalWriter::successor() const {
  const std::scoped_lock lock(mutex_);
  return successor_;
}

void JournalWriter::look_for_successor() {
  if (!successor().ok()) return;
  // What can't be read now is looked at again.
  (void)journal_->check_epoch();
  if (journal_->successor().ok()) return;
  {
    const std::scoped_lock lock(mutex_);
    successor_ = journal_->successor();
    successor_is_news_ = true;
  }
  on_outcome_.notify();
}

Task<void> JournalWriter::write_all(JournalWriter& self) {
  while (true) {
    self.given_.prepare_wait();
    const std::vector<JournalEntry> entries = self.take_waiting();
    if (entries.empty()) {
      const Nanoseconds next_look = self.executor_->now() + look_interval_ns;
      const bool given = co_await self.given_.wait_until(next_look);
      if (!given) self.look_for_successor();
      continue;
    }
    self.given_.cancel_wait();
    self.write_together(entries);
    self.on_outcome_.notify();
  }
}

void JournalWriter::write_together(const std::vector<JournalEntry>& entries) {
  std::vector<JobRecord> records;
  for (const JournalEntry& entry : entries) records.push_back(entry.record);
  const Status together = journal_->write(records);
  const bool all_in_doubt = journal_->in_doubt();
  std::vector<JournalOutcome> outcomes;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const bool again = !together.ok() && entries.size() > 1;
    JournalOutcome& outcome = outcomes.emplace_back();
    outcome.job = entries[i].record.job;
    outcome.change = entries[i].change;
    outcome.status = again ? journal_->write({&records[i], 1}) : together;
    outcome.in_doubt = !outcome.status.ok() && (all_in_doubt || journal_->in_doubt());
  }
  const std::scoped_lock lock(mutex_);
  successor_is_news_ |= successor_.ok() && !journal_->successor().ok();
  successor_ = journal_->successor();
  outcomes_.insert(outcomes_.end(), std::make_move_iterator(outcomes.begin()),
                   std::make_move_iterator(outcomes.end()));
}

}  // namespace hummer
