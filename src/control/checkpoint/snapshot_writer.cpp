#include "control/checkpoint/snapshot_writer.hpp"

#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "control/checkpoint/restored_state.hpp"
#include "platform/task.hpp"
#include "platform/wake_event.hpp"
#include "state/snapshot_file.hpp"

namespace hummer {

class SnapshotWriter::State {
 public:
  State(Platform& platform, std::uint64_t job, std::function<void(SnapshotNews)> tell)
      : platform_(platform),
        job_(job),
        tell_(std::move(tell)),
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
  void stop() { executor_->stop(); }

 private:
  struct Taken {
    ExecutionTask task;
    TaskSnapshot snapshot;
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
    if (begun) saved_.clear();
    for (Taken& each : taken) keep(std::move(each));
    for (auto& [task, each] : waiting_) {
      if (each.snapshot.epoch == current_) save(each);
    }
    std::erase_if(waiting_,
                  [&](const auto& each) { return each.second.snapshot.epoch <= current_; });
    if (current_ == 0) return;
    for (const auto& [task, each] : ended_) save(each);
  }

  void keep(Taken taken) {
    const int task = taken.task.id;
    if (taken.snapshot.epoch != 0) {
      waiting_[task] = std::move(taken);
      return;
    }
    ended_[task] = std::move(taken);
    tell_({0, static_cast<std::size_t>(task), {}, {}});
  }

  void save(const Taken& taken) {
    if (!saved_.insert(taken.task.id).second) return;
    SnapshotNews news;
    news.checkpoint = current_;
    news.task = static_cast<std::size_t>(taken.task.id);
    Result<CheckpointFile> file = write(taken.task, taken.snapshot.pieces);
    if (file.ok()) {
      news.file = std::move(*file);
    } else {
      news.status = file.status();
    }
    tell_(std::move(news));
  }

  Result<CheckpointFile> write(const ExecutionTask& task,
                               const std::vector<SnapshotPiece>& pieces) {
    CheckpointFile file;
    file.vertex = static_cast<std::uint32_t>(task.vertex);
    file.subtask = static_cast<std::uint32_t>(task.subtask);
    file.name = CheckpointStore::file_name(file.vertex, file.subtask);
    SnapshotFileHead head;
    head.job = job_;
    head.checkpoint = current_;
    head.vertex = file.vertex;
    head.subtask = file.subtask;
    head.parallelism = static_cast<std::uint32_t>(task.parallelism);
    auto writer = SnapshotFileWriter::create(platform_.files(), directory_ + "/" + file.name, head);
    if (!writer.ok()) return writer.status();
    for (const SnapshotPiece& piece : pieces) {
      HUMMER_TRY(writer->add(piece.uid, (piece.ended ? piece_ended : piece_goes_on) + piece.bytes));
    }
    const Result<SnapshotFileSummary> summary = writer->finish();
    if (!summary.ok()) return summary.status();
    file.bytes = summary->bytes;
    file.hash = summary->hash;
    return file;
  }

  Platform& platform_;
  const std::uint64_t job_;
  const std::function<void(SnapshotNews)> tell_;
  WakeEvent event_;
  std::mutex mutex_;
  std::vector<Taken> inbox_;
  std::uint64_t newest_ = 0;
  std::string path_;
  // Of the own executor.
  std::uint64_t current_ = 0;  // the checkpoint under way; 0: none so far
  std::string directory_;      // where its files go
  std::set<int> saved_;        // tasks that have written theirs
  std::map<int, Taken> waiting_;
  std::map<int, Taken> ended_;
  std::unique_ptr<Executor> executor_;  // last: stopped before anything it uses goes away
};

SnapshotWriter::SnapshotWriter(Platform& platform, std::uint64_t job,
                               std::function<void(SnapshotNews)> tell)
    : state_(std::make_unique<State>(platform, job, std::move(tell))) {}
SnapshotWriter::~SnapshotWriter() { stop(); }
void SnapshotWriter::snapshot_taken(const ExecutionTask& task, TaskSnapshot snapshot) {
  state_->take(task, std::move(snapshot));
}
void SnapshotWriter::begin(std::uint64_t checkpoint, std::string path) {
  state_->begin(checkpoint, std::move(path));
}
void SnapshotWriter::stop() { state_->stop(); }

}  // namespace hummer
