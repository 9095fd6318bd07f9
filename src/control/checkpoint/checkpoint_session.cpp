#include "control/checkpoint/checkpoint_session.hpp"

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

#include "control/checkpoint/checkpoint_coordinator.hpp"
#include "platform/task.hpp"
#include "platform/wake_event.hpp"

namespace hummer {
namespace {

// The first byte of a piece: whether it was written behind the end of the stream.
constexpr char piece_goes_on = 0;
constexpr char piece_ended = 1;

}  // namespace

CheckpointMetadata describe_job(const JobGraph& job, const ExecutionGraph& execution,
                                std::uint64_t job_number) {
  CheckpointMetadata metadata;
  metadata.job = job_number;
  metadata.job_name = job.job_name;
  metadata.fingerprint = job.fingerprint;
  for (const JobVertex& vertex : job.vertices) {
    const auto parallelism =
        static_cast<std::uint32_t>(execution.parallelism[static_cast<std::size_t>(vertex.id)]);
    for (const ChainedOperator& chained : vertex.chain) {
      metadata.operators.push_back({chained.uid, chained.name,
                                    static_cast<std::uint32_t>(vertex.id), parallelism,
                                    static_cast<std::uint32_t>(chained.key_groups)});
    }
  }
  return metadata;
}

Status check_restorable(const CheckpointMetadata& metadata, const JobGraph& job,
                        bool allow_dropped) {
  for (const CheckpointOperator& saved : metadata.operators) {
    const ChainedOperator* found = nullptr;
    for (const JobVertex& vertex : job.vertices) {
      for (const ChainedOperator& chained : vertex.chain) {
        if (chained.uid == saved.uid) found = &chained;
      }
    }
    if (found == nullptr) {
      if (allow_dropped || saved.key_groups == 0) continue;
      return {ErrorCode::invalid_graph,
              "checkpoint " + std::to_string(metadata.id) + " holds state of operator '" +
                  saved.name + "' (uid '" + saved.uid +
                  "'), which the job no longer has: give an operator that uid, or allow the state "
                  "to be dropped"};
    }
    const auto groups = static_cast<std::uint32_t>(found->key_groups);
    if (saved.key_groups != 0 && groups != saved.key_groups) {
      return {ErrorCode::invalid_graph,
              "operator '" + found->name + "' has " + std::to_string(groups) +
                  " key groups, and its state in checkpoint " + std::to_string(metadata.id) +
                  " has " + std::to_string(saved.key_groups) +
                  ": set its maximum parallelism to that"};
    }
  }
  return {};
}

Result<std::shared_ptr<const RestoredState>> load_state(Files& files, const std::string& path,
                                                        const CheckpointMetadata& metadata) {
  auto state = std::make_shared<RestoredState>();
  state->checkpoint = metadata.id;
  std::vector<CheckpointFile> ordered = metadata.files;
  std::sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) {
    return std::pair(a.vertex, a.subtask) < std::pair(b.vertex, b.subtask);
  });
  for (const CheckpointFile& file : ordered) {
    HUMMER_TRY(CheckpointStore::read_file(
        files, path, metadata, file, [&](std::string_view uid, std::string_view piece) -> Status {
          if (piece.empty() || (piece[0] != piece_goes_on && piece[0] != piece_ended)) {
            return {ErrorCode::corrupt_file, "snapshot file '" + path + "/" + file.name +
                                                 "': the piece '" + std::string(uid) +
                                                 "' does not say whether it had ended"};
          }
          state->pieces[std::string(uid)].push_back(
              {std::string(uid), std::string(piece.substr(1)), piece[0] == piece_ended});
          return {};
        }));
  }
  return std::shared_ptr<const RestoredState>(std::move(state));
}

class CheckpointSession::State {
 public:
  State(Platform& platform, CheckpointOptions options, CheckpointMetadata job,
        const ExecutionGraph& execution, std::uint64_t first)
      : platform_(platform),
        options_(std::move(options)),
        job_(std::move(job)),
        store_(platform.files(), options_.directory),
        executor_(platform.make_executor({.name = "checkpoints"})),
        coordinator_(options_, chains_of(execution), first, platform.now()),
        last_pieces_(chains_of(execution)),
        acknowledged_(chains_of(execution), false) {}

  void take(const ExecutionTask& task, TaskSnapshot snapshot) {
    {
      const std::lock_guard lock(mutex_);
      inbox_.push_back({task, std::move(snapshot)});
    }
    event_.notify();
  }

  void start(Deployment& deployment) {
    deployment_ = &deployment;
    executor_->spawn(run());
  }
  void stop() {
    executor_->stop();
    deployment_ = nullptr;
  }

  std::atomic<std::uint64_t> completed{0};
  std::atomic<std::uint64_t> last_complete{0};
  std::atomic<std::uint64_t> highest_begun{0};

 private:
  struct Taken {
    ExecutionTask task;
    TaskSnapshot snapshot;
  };

  // Chains have the first ids: their number is the id.
  static std::size_t chains_of(const ExecutionGraph& execution) {
    return static_cast<std::size_t>(
        std::count_if(execution.tasks.begin(), execution.tasks.end(),
                      [](const ExecutionTask& task) { return task.kind == TaskKind::chain; }));
  }

  Task<void> run() {
    for (;;) {
      std::vector<Taken> taken = take_inbox();
      for (Taken& each : taken) handle(std::move(each));
      work();
      event_.prepare_wait();
      if (!inbox_is_empty()) {
        event_.cancel_wait();
        continue;
      }
      co_await event_.wait_until(coordinator_.next_deadline());
    }
  }

  std::vector<Taken> take_inbox() {
    const std::lock_guard lock(mutex_);
    return std::exchange(inbox_, {});
  }
  bool inbox_is_empty() {
    const std::lock_guard lock(mutex_);
    return inbox_.empty();
  }

  void handle(Taken taken) {
    const auto chain = static_cast<std::size_t>(taken.task.id);
    if (taken.snapshot.epoch != 0) {
      if (taken.snapshot.epoch == current_) save(taken.task, taken.snapshot.pieces);
      return;
    }
    last_pieces_[chain] = {taken.task, {0, std::move(taken.snapshot.pieces)}};
    coordinator_.ended(chain);
    if (current_ != 0) save_last(chain);
  }

  // A task that has ended has state to the end.
  void save_last(std::size_t chain) {
    const Taken& last = *last_pieces_[chain];
    save(last.task, last.snapshot.pieces);
  }

  void save(const ExecutionTask& task, const std::vector<SnapshotPiece>& pieces) {
    const auto chain = static_cast<std::size_t>(task.id);
    if (acknowledged_[chain]) return;
    acknowledged_[chain] = true;
    Result<CheckpointFile> file = write(task, pieces);
    if (file.ok()) {
      coordinator_.acknowledged(current_, chain, std::move(*file));
    } else {
      coordinator_.declined(current_, platform_.now(), file.status());
    }
  }

  Result<CheckpointFile> write(const ExecutionTask& task,
                               const std::vector<SnapshotPiece>& pieces) {
    CheckpointFile file;
    file.vertex = static_cast<std::uint32_t>(task.vertex);
    file.subtask = static_cast<std::uint32_t>(task.subtask);
    file.name = CheckpointStore::file_name(file.vertex, file.subtask);
    SnapshotFileHead head;
    head.job = job_.job;
    head.checkpoint = current_;
    head.vertex = file.vertex;
    head.subtask = file.subtask;
    head.parallelism = static_cast<std::uint32_t>(task.parallelism);
    auto writer = SnapshotFileWriter::create(platform_.files(),
                                             store_.path_of(current_) + "/" + file.name, head);
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

  void work() {
    if (const auto given_up = coordinator_.take_given_up(platform_.now())) drop(*given_up);
    complete();
    if (!coordinator_.failure().ok()) {
      deployment_->fail(coordinator_.failure());
      return;
    }
    const auto begin = coordinator_.take_begin(platform_.now());
    if (!begin) return;
    current_ = begin->checkpoint;
    highest_begun.store(current_, std::memory_order_release);
    std::fill(acknowledged_.begin(), acknowledged_.end(), false);
    if (Status status = store_.begin(current_); !status.ok()) {
      coordinator_.declined(current_, platform_.now(), std::move(status));
      event_.notify();
      return;
    }
    deployment_->trigger(current_);
    for (std::size_t chain = 0; chain < last_pieces_.size(); ++chain) {
      if (last_pieces_[chain]) save_last(chain);
    }
    complete();
  }

  void complete() {
    const auto done = coordinator_.take_completed();
    if (!done) return;
    CheckpointMetadata metadata = job_;
    metadata.id = done->checkpoint;
    metadata.savepoint = done->savepoint;
    metadata.completed_ms = platform_.wall_time_ms();
    metadata.files = done->files;
    const Status status = store_.complete(metadata);
    current_ = 0;
    coordinator_.stored(done->checkpoint, platform_.now(), status);
    event_.notify();
    if (!status.ok()) return;
    completed.fetch_add(1, std::memory_order_relaxed);
    last_complete.store(done->checkpoint, std::memory_order_release);
    deployment_->commit(done->checkpoint);
    if (coordinator_.final_complete()) deployment_->finish_committed();
    // What can't be removed now is removed after the next one.
    (void)store_.retain(std::max<std::uint32_t>(options_.retained, 1));
  }

  void drop(std::uint64_t checkpoint) {
    if (current_ == checkpoint) current_ = 0;
    (void)store_.remove(checkpoint);
  }

  Platform& platform_;
  const CheckpointOptions options_;
  const CheckpointMetadata job_;
  CheckpointStore store_;
  WakeEvent event_;
  std::mutex mutex_;
  std::vector<Taken> inbox_;
  std::unique_ptr<Executor> executor_;
  Deployment* deployment_ = nullptr;
  CheckpointCoordinator coordinator_;
  std::uint64_t current_ = 0;                      // the checkpoint under way; 0: none
  std::vector<std::optional<Taken>> last_pieces_;  // of tasks that have ended
  std::vector<bool> acknowledged_;                 // for the checkpoint under way
};

CheckpointSession::CheckpointSession(Platform& platform, CheckpointOptions options,
                                     CheckpointMetadata job, const ExecutionGraph& execution,
                                     std::uint64_t first)
    : state_(std::make_shared<State>(platform, std::move(options), std::move(job), execution,
                                     first)) {}

CheckpointSession::~CheckpointSession() { stop(); }

void CheckpointSession::snapshot_taken(const ExecutionTask& task, TaskSnapshot snapshot) {
  state_->take(task, std::move(snapshot));
}
void CheckpointSession::start(Deployment& deployment) { state_->start(deployment); }
void CheckpointSession::stop() { state_->stop(); }
std::uint64_t CheckpointSession::completed() const {
  return state_->completed.load(std::memory_order_relaxed);
}
std::uint64_t CheckpointSession::highest_begun() const {
  return state_->highest_begun.load(std::memory_order_acquire);
}
std::uint64_t CheckpointSession::last_complete() const {
  return state_->last_complete.load(std::memory_order_acquire);
}

}  // namespace hummer
