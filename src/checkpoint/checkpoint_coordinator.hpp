// CheckpointCoordinator: when checkpoints of one attempt of a job begin, and when one is complete.
//
// It is told the time and what the tasks said, and says what to do: begin a checkpoint (tell the
// sources), complete it (write the metadata, then tell everyone), or give it up. No disk, clock or
// message in it; the embedded client and the JobManager drive it.
//
//   begin ─ every task's snapshot is durable ─→ to be completed ─ metadata written ─→ complete
//     └──── a task declined, began again, or the timeout passed ─→ given up
//
// Where barriers may overtake (CheckpointOptions::unaligned), but only after an alignment timeout,
// every checkpoint begins aligned; if its barrier has not passed all tasks by then it is given up,
// which is no failure, and the next one begins at once and unaligned. So no task ever changes its
// mind about a barrier: one that unaligned takes the place of an earlier one anyway.
//
// One checkpoint at a time. A task that has ended (its stream did, and its output is out) goes on
// to take part: whoever runs it acknowledges with the snapshot that it took at its end. The final
// checkpoint is the one that begins when all tasks have ended, at once and whatever the interval:
// its completion commits what sinks still hold back.
//
// Thread: a value.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <hummer/checkpointing.hpp>
#include <hummer/status.hpp>

#include "platform/time.hpp"
#include "state/checkpoint_store.hpp"

namespace hummer {

class CheckpointCoordinator {
 public:
  // `tasks`: how many chains run. `first`: number of the first checkpoint, above all that exist.
  CheckpointCoordinator(const CheckpointOptions& options, std::size_t tasks, std::uint64_t first,
                        Nanoseconds now);

  // ---- what happened ----

  // A savepoint as soon as the checkpoint under way is done; false: one waits already. One that
  // fails does not count as a failure of the job's; none begins once all tasks have ended.
  bool request_savepoint();
  // The file of a task (its index among the chains) is durable. Those of other checkpoints are
  // dropped.
  void acknowledged(std::uint64_t checkpoint, std::size_t task, CheckpointFile file);
  // The barrier has passed a task, whose file is not durable yet. Told only where it makes a
  // difference (options.alignment_timeout_ms).
  void passed(std::uint64_t checkpoint, std::size_t task);
  // A task has ended.
  void ended(std::size_t task);
  void declined(std::uint64_t checkpoint, Nanoseconds now, Status why);
  // Some tasks are to begin again. What is under way is given up, which is no failure of the job's;
  // but when its metadata are being written, stored() says what became of it.
  void interrupt(Nanoseconds now, Status why);
  // This one does, with what the newest complete checkpoint holds. REQUIRES: !storing().
  void begins_again(std::size_t task);
  // Of what take_completed() gave.
  void stored(std::uint64_t checkpoint, Nanoseconds now, const Status& status);

  // ---- what is due ----

  struct Begin {
    std::uint64_t checkpoint = 0;
    bool savepoint = false;
    bool unaligned = false;
  };
  std::optional<Begin> take_begin(Nanoseconds now);
  // Files of a checkpoint that every task has acknowledged, in the tasks' order.
  struct Completed {
    std::uint64_t checkpoint = 0;
    bool savepoint = false;
    std::vector<CheckpointFile> files;
  };
  std::optional<Completed> take_completed();
  // Given up, to be removed.
  std::optional<std::uint64_t> take_given_up(Nanoseconds now);
  // Tells more than the tolerated number of failures in a row: the job fails with it.
  const Status& failure() const { return failure_; }
  // Why the last one that was given up was.
  const Status& last_failure() const { return last_failure_; }
  // When to ask again, unless something happens before; 0: at once.
  Nanoseconds next_deadline() const;

  // Between take_completed() and stored().
  bool storing() const { return storing_; }
  bool all_ended() const { return ended_ == files_.size(); }
  // All tasks have ended, and the checkpoint that holds their ends is complete.
  bool final_complete() const { return final_complete_; }
  std::uint64_t last_complete() const { return last_complete_; }
  std::uint64_t completed() const { return completed_; }
  std::uint64_t failed() const { return failed_; }
  Nanoseconds last_duration() const { return last_duration_; }

 private:
  struct Task {
    bool acknowledged = false;
    bool passed = false;  // by the barrier, or acknowledged
    bool ended = false;
    CheckpointFile file;
  };
  bool under_way() const { return current_ != 0; }
  bool may_be_unaligned() const {
    return options_.unaligned && options_.guarantee == Guarantee::exactly_once;
  }
  // It is given up at this time if the barrier has not passed everywhere by then.
  Nanoseconds alignment_deadline() const;
  void give_up(Nanoseconds now, Status why, bool is_failure = true);

  const CheckpointOptions options_;
  std::vector<Task> files_;
  std::size_t ended_ = 0;
  std::size_t acknowledged_ = 0;
  std::size_t passed_ = 0;
  std::uint64_t next_;
  std::uint64_t current_ = 0;  // 0: none under way
  bool current_is_savepoint_ = false;
  bool current_is_final_ = false;
  bool storing_ = false;
  bool unaligned_ = false;       // the one under way
  bool unaligned_next_ = false;  // in the place of one that was given up
  bool savepoint_wanted_ = false;
  std::uint64_t given_up_ = 0;
  Nanoseconds began_ = 0;
  Nanoseconds next_begin_;
  std::uint32_t failures_in_a_row_ = 0;
  Status failure_;
  Status last_failure_;
  bool final_complete_ = false;
  std::uint64_t last_complete_ = 0;
  std::uint64_t completed_ = 0;
  std::uint64_t failed_ = 0;
  Nanoseconds last_duration_ = 0;
};

}  // namespace hummer
