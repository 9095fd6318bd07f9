#include "checkpoint/snapshot_writer.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "checkpoint/last_snapshot.hpp"
#include "checkpoint/snapshot_files.hpp"
#include "platform/task.hpp"
#include "platform/wake_event.hpp"

namespace hummer {
class SnapshotWriter::State {
 public:
  State(Platform& platform, Settings settings, std::function<void(SnapshotProgress)> tell)
      : platform_(platform),
        settings_(std::move(settings)),
        tell_(std::move(tell)),
        files_(platform.files(), settings_.job, settings_.attempt, platform.random(),
               settings_.memory),
        executor_(platform.make_executor({.name = "snapshots"})) {
    executor_->spawn(run(*this));
  }

  void take(const ExecutionTask& task, TaskSnapshot snapshot) {
    {
      const std::lock_guard lock(mutex_);
      inbox_.push_back({task, std::move(snapshot)});
    }
    event_.notify();
  }
  void begin(std::uint64_t checkpoint, std::string path) {
    {
      const std::lock_guard lock(mutex_);
      if (checkpoint <= newest_) return;
      newest_ = checkpoint;
      path_ = std::move(path);
    }
    event_.notify();
  }
  void cancel() { cancelled_.store(true, std::memory_order_release); }
  void stop() { executor_->stop(); }

 private:
  struct Taken {
    ExecutionTask task;
    TaskSnapshot snapshot;
  };
  struct Ended {
    ExecutionTask task;
    LastSnapshot snapshot;
  };

  static Task<void> run(State& self) {
    for (;;) {
      self.work();
      self.event_.prepare_wait();
      if (self.has_work()) {
        self.event_.cancel_wait();
        continue;
      }
      co_await self.event_.wait();
    }
  }

  bool cancelled() const { return cancelled_.load(std::memory_order_acquire); }
  bool has_work() {
    const std::lock_guard lock(mutex_);
    return !inbox_.empty() || newest_ > current_;
  }

  void work() {
    std::vector<Taken> taken;
    bool begun = false;
    {
      const std::lock_guard lock(mutex_);
      taken = std::exchange(inbox_, {});
      begun = newest_ > current_;
      if (begun) current_ = newest_;
      directory_ = path_;
    }
    if (begun) {
      saved_.clear();
      unflushed_.clear();
    }
    for (Taken& each : taken) keep(std::move(each));
    while (!waiting_.empty() && waiting_.front().snapshot.epoch <= current_) {
      if (waiting_.front().snapshot.epoch == current_) save(waiting_.front());
      waiting_.front().snapshot.give_back();
      waiting_.pop_front();
    }
    if (current_ == 0) return;
    for (const auto& [task, each] : ended_) save_last(each);
  }

  // Barriers come in the order of their checkpoints, so the oldest snapshots are in front.
  void keep(Taken taken) {
    const int task = taken.task.id;
    if (taken.snapshot.epoch != 0) {
      if (settings_.tells_passed) {
        SnapshotProgress news;
        news.checkpoint = taken.snapshot.epoch;
        news.task = static_cast<std::size_t>(task);
        news.passed = true;
        tell_(std::move(news));
      }
      const auto after = std::find_if(waiting_.rbegin(), waiting_.rend(), [&](const Taken& each) {
        return each.snapshot.epoch <= taken.snapshot.epoch;
      });
      waiting_.insert(after.base(), std::move(taken));
      return;
    }
    LastSnapshot& last =
        ended_.try_emplace(task, Ended{taken.task, {platform_, settings_.spill_directory}})
            .first->second.snapshot;
    last.add(std::move(taken.snapshot));
    if (!last.complete()) return;
    SnapshotProgress news;
    news.task = static_cast<std::size_t>(task);
    tell_(std::move(news));
  }

  // The next part of what a task has saved; news when it was the last.
  void save(const Taken& taken) {
    if (cancelled() || saved_.contains(taken.task.id)) return;
    auto file = files_.add(writer_of(taken.task), current_, directory_, taken.snapshot);
    if (!file.ok()) return saved(taken.task, file.status());
    if (*file) saved(taken.task, std::move(**file));
  }
  void save_last(const Ended& ended) {
    if (cancelled() || saved_.contains(ended.task.id) || !ended.snapshot.complete()) return;
    saved(ended.task, ended.snapshot.write(files_, writer_of(ended.task), current_, directory_));
  }
  static SnapshotFiles::Writer writer_of(const ExecutionTask& task) {
    return {.vertex = static_cast<std::uint32_t>(task.vertex),
            .subtask = static_cast<std::uint32_t>(task.subtask),
            .parallelism = static_cast<std::uint32_t>(task.parallelism)};
  }
  void saved(const ExecutionTask& task, Result<CheckpointFile> file) {
    saved_.insert(task.id);
    SnapshotProgress news;
    news.checkpoint = current_;
    news.task = static_cast<std::size_t>(task.id);
    if (!file.ok()) {
      news.status = file.status();
      return tell_(std::move(news));
    }
    news.file = std::move(*file);
    if (!files_.merges()) return tell_(std::move(news));
    unflushed_.push_back(std::move(news));
    if (saved_.size() < settings_.tasks || cancelled()) return;
    const Status durable = files_.flush();
    for (SnapshotProgress& each : std::exchange(unflushed_, {})) {
      each.status = durable;
      tell_(std::move(each));
    }
  }

  Platform& platform_;
  const Settings settings_;
  const std::function<void(SnapshotProgress)> tell_;
  WakeEvent event_;
  std::atomic<bool> cancelled_{false};
  std::mutex mutex_;
  std::vector<Taken> inbox_;
  std::uint64_t newest_ = 0;
  std::string path_;
  // Of the own executor.
  SnapshotFiles files_;
  std::uint64_t current_ = 0;                // the checkpoint under way; 0: none so far
  std::string directory_;                    // where its files go
  std::set<int> saved_;                      // tasks that have written theirs
  std::vector<SnapshotProgress> unflushed_;  // of those, in an object store, that are not durable
  std::deque<Taken> waiting_;                // parts of snapshots, oldest first
  std::map<int, Ended> ended_;
  std::unique_ptr<Executor> executor_;  // last: stopped before anything it uses goes away
};

SnapshotWriter::SnapshotWriter(Platform& platform, Settings settings,
                               std::function<void(SnapshotProgress)> tell)
    : state_(std::make_unique<State>(platform, std::move(settings), std::move(tell))) {}
SnapshotWriter::~SnapshotWriter() { stop(); }
void SnapshotWriter::snapshot_taken(const ExecutionTask& task, TaskSnapshot snapshot) {
  state_->take(task, std::move(snapshot));
}
void SnapshotWriter::begin(std::uint64_t checkpoint, std::string path) {
  state_->begin(checkpoint, std::move(path));
}
void SnapshotWriter::cancel() { state_->cancel(); }
void SnapshotWriter::stop() { state_->stop(); }

}  // namespace hummer
