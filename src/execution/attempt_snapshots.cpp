// Of an attempt: the checkpoints that the JobManager asks for, and what its tasks have saved.
#include <algorithm>
#include <utility>

#include <hummer/codec.hpp>

#include "execution/attempt.hpp"
#include "protocol/graph_messages.hpp"

namespace hummer {

void Attempt::follow(const wire::CheckpointState& checkpoints) {
  const std::lock_guard lock(mutex_);
  checkpoints_ = checkpoints;
  std::erase_if(snapshots_,
                [&](const auto& each) { return each.second.checkpoint() < checkpoints.begun(); });
  tell_tasks();
}

void Attempt::tell_tasks() {
  if (cancelled() || state_ != wire::ATTEMPT_RUNNING || !deployment_ || !writer_) return;
  // Before the barrier, behind which nothing may follow.
  deployment_->pause_sources_after(checkpoints_.stops() ? checkpoints_.begun() : 0);
  // Commits first: the next snapshot may build on what they say is complete.
  if (checkpoints_.committed() > told_commit_) {
    told_commit_ = checkpoints_.committed();
    deployment_->commit(told_commit_);
  }
  if (checkpoints_.begun() > told_begun_) {
    told_begun_ = checkpoints_.begun();
    writer_->begin(told_begun_, checkpoints_.path());
    deployment_->trigger(told_begun_, checkpoints_.savepoint(), checkpoints_.unaligned());
  }
  if (checkpoints_.finished()) deployment_->finish_committed();
}

void Attempt::snapshot_progress(SnapshotProgress news) {
  {
    const std::lock_guard lock(mutex_);
    const auto task = static_cast<std::uint32_t>(news.task);
    const auto known = snapshots_.find(task);
    const std::uint64_t newest = known == snapshots_.end() ? 0 : known->second.checkpoint();
    if (news.checkpoint == 0) {
      ended_tasks_.insert(task);
    } else if (news.checkpoint >= std::max(checkpoints_.begun(), newest)) {
      wire::SnapshotReport& report = snapshots_[task];
      if (newest != news.checkpoint) report.Clear();
      report.set_checkpoint(news.checkpoint);
      report.set_task(task);
      report.set_passed(news.passed);
      if (news.passed) {
        // The file follows.
      } else if (news.status.ok()) {
        std::string bytes;
        ByteWriter out(bytes);
        Codec<CheckpointFile>::encode(news.file, out);
        report.set_file(std::string(out.view()));
      } else {
        to_message(news.status, *report.mutable_failure());
      }
    }
  }
  context_.changed->raise();
}

}  // namespace hummer
