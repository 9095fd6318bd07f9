#include "control/checkpoint/checkpoint_session.hpp"

#include <mutex>
#include <utility>
#include <vector>

#include "control/checkpoint/snapshot_writer.hpp"
#include "platform/task.hpp"
#include "platform/wake_event.hpp"

namespace hummer {

class CheckpointSession::State {
 public:
  State(Platform& platform, AttemptCheckpoints::Settings settings, std::string spill_directory,
        std::function<void(SavepointEnd)> on_savepoint)
      : platform_(platform),
        on_savepoint_(std::move(on_savepoint)),
        checkpoints_(settings, platform.now()),
        writer_(platform,
                {.job = settings.describes.job,
                 .tells_passed = settings.options.begins_aligned(),
                 .spill_directory = std::move(spill_directory)},
                [this](SnapshotNews news) { tell(inbox_.news, std::move(news)); }),
        executor_(platform.make_executor({.name = "checkpoints"})) {}

  SnapshotWriter& writer() { return writer_; }
  void wish(SavepointWish wish) { tell(inbox_.wishes, std::move(wish)); }
  void start(Deployment& deployment) {
    deployment_ = &deployment;
    executor_->spawn(run(*this));
  }
  void stop() {
    writer_.stop();
    executor_->stop();
    if (std::exchange(stopped_, true)) return;
    deployment_ = nullptr;
    for (SavepointWish& each : take_inbox().wishes) checkpoints_.wish(std::move(each));
    checkpoints_.over({ErrorCode::cancelled, "the job ended before the savepoint was complete"});
    tell_savepoints();
  }
  const AttemptCheckpoints& checkpoints() const { return checkpoints_; }
  bool all_committed() const { return all_committed_; }

 private:
  struct Inbox {
    std::vector<SnapshotNews> news;
    std::vector<SavepointWish> wishes;
    bool empty() const { return news.empty() && wishes.empty(); }
  };

  template <typename T>
  void tell(std::vector<T>& into, T what) {
    {
      const std::lock_guard lock(mutex_);
      into.push_back(std::move(what));
    }
    event_.notify();
  }
  Inbox take_inbox() {
    const std::lock_guard lock(mutex_);
    return std::exchange(inbox_, {});
  }
  bool inbox_is_empty() {
    const std::lock_guard lock(mutex_);
    return inbox_.empty();
  }

  static Task<void> run(State& self) {
    for (;;) {
      const bool failed = !self.work();
      if (failed) co_return;
      self.event_.prepare_wait();
      if (!self.inbox_is_empty()) {
        self.event_.cancel_wait();
        continue;
      }
      Nanoseconds deadline = self.checkpoints_.next_deadline();
      if (self.waits_for_commits()) deadline = self.platform_.now() + commit_look_ns;
      co_await self.event_.wait_until(deadline);
    }
  }

  // False: the job has failed.
  bool work() {
    Inbox inbox = take_inbox();
    for (SnapshotNews& each : inbox.news) take(std::move(each));
    for (SavepointWish& each : inbox.wishes) checkpoints_.wish(std::move(each));
    // An outcome may make the next thing due.
    for (;;) {
      std::vector<CheckpointOrder> orders =
          checkpoints_.advance(platform_.now(), platform_.wall_time_ms());
      if (orders.empty()) break;
      for (CheckpointOrder& order : orders) {
        const CheckpointOutcome outcome = carry_out(platform_.files(), std::move(order));
        checkpoints_.carried_out(outcome, platform_.now());
        tell_tasks();
      }
    }
    tell_tasks();
    tell_savepoints();
    if (!checkpoints_.failure().ok()) {
      deployment_->fail(checkpoints_.failure());
      return false;
    }
    if (waits_for_commits() && deployment_->committed() >= checkpoints_.to_commit()) {
      all_committed_ = true;
      deployment_->cancel();
    }
    return true;
  }

  bool waits_for_commits() const {
    return checkpoints_.stopped_with() != nullptr && !all_committed_;
  }

  void take(SnapshotNews news) {
    if (news.checkpoint == 0) {
      checkpoints_.ended(news.task);
    } else if (news.passed) {
      checkpoints_.passed(news.checkpoint, news.task);
    } else if (news.status.ok()) {
      checkpoints_.saved(news.checkpoint, news.task, std::move(news.file));
    } else {
      checkpoints_.declined(news.checkpoint, platform_.now(), std::move(news.status));
    }
  }

  void tell_tasks() {
    const AttemptCheckpoints::Begun& begun = checkpoints_.begun();
    // Before the barrier, behind which nothing may follow.
    deployment_->pause_sources_after(begun.stops ? begun.checkpoint : 0);
    // Commits first: the next snapshot may build on what they say is complete.
    if (checkpoints_.to_commit() > told_commit_) {
      told_commit_ = checkpoints_.to_commit();
      deployment_->commit(told_commit_);
    }
    if (begun.checkpoint > told_begun_) {
      told_begun_ = begun.checkpoint;
      writer_.begin(begun.checkpoint, begun.path);
      deployment_->trigger(begun.checkpoint, begun.savepoint, begun.overtakes);
    }
    if (checkpoints_.finish_committed()) deployment_->finish_committed();
  }

  void tell_savepoints() {
    for (SavepointEnd& each : checkpoints_.take_savepoints()) on_savepoint_(std::move(each));
  }

  static constexpr Nanoseconds commit_look_ns = milliseconds(1);

  Platform& platform_;
  const std::function<void(SavepointEnd)> on_savepoint_;
  WakeEvent event_;
  std::mutex mutex_;
  Inbox inbox_;
  Deployment* deployment_ = nullptr;
  AttemptCheckpoints checkpoints_;
  std::uint64_t told_begun_ = 0;
  std::uint64_t told_commit_ = 0;
  bool all_committed_ = false;
  bool stopped_ = false;
  SnapshotWriter writer_;
  std::unique_ptr<Executor> executor_;  // last: stopped before anything it uses goes away
};

CheckpointSession::CheckpointSession(Platform& platform, AttemptCheckpoints::Settings settings,
                                     std::string spill_directory,
                                     std::function<void(SavepointEnd)> on_savepoint)
    : state_(std::make_unique<State>(platform, std::move(settings), std::move(spill_directory),
                                     std::move(on_savepoint))) {}

CheckpointSession::~CheckpointSession() { stop(); }

void CheckpointSession::snapshot_taken(const ExecutionTask& task, TaskSnapshot snapshot) {
  state_->writer().snapshot_taken(task, std::move(snapshot));
}
void CheckpointSession::wish(SavepointWish wish) { state_->wish(std::move(wish)); }
void CheckpointSession::start(Deployment& deployment) { state_->start(deployment); }
void CheckpointSession::stop() { state_->stop(); }
std::uint64_t CheckpointSession::next_number() const { return state_->checkpoints().next_number(); }
std::uint64_t CheckpointSession::completed() const { return state_->checkpoints().completed(); }
std::uint64_t CheckpointSession::newest_checkpoint() const {
  return state_->checkpoints().to_commit();
}
bool CheckpointSession::stopped_by_savepoint() const { return state_->all_committed(); }
const std::string& CheckpointSession::savepoint_path() const {
  return state_->checkpoints().stopped_path();
}

}  // namespace hummer
