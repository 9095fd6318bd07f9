// CheckpointOptions: whether, how often and where a job's state is saved.
//
//   env.options().checkpoints.directory = "/var/lib/hummer/checkpoints";
//   env.options().checkpoints.interval_ms = 1000;
//
// With a directory and an interval the job takes a checkpoint every interval and, when it fails,
// starts again from the newest one as the restart strategy says. All workers must see the
// directory.
//
// Under back-pressure a barrier waits behind the records that wait. With `unaligned` it overtakes
// them, and they are saved with the checkpoint: it is complete in about the time that it takes to
// write them, however long a sink is stuck, and a restart replays them first. With an
// `alignment_timeout_ms` that is the exception: each one begins aligned, and only when its barrier
// has not reached all tasks after that time, one that overtakes takes its place. Savepoints align
// all the same; so do the checkpoints of a job with a broadcast edge. After a restore at another
// parallelism every record is there once, but of those that were in flight between two operators of
// one chain, later ones of the same key may have come first.
//
// A value; validated when the job is executed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace hummer {

enum class Guarantee {
  // Every record counts once in state and in transactional sinks: inputs wait for each other at a
  // barrier.
  exactly_once,
  // Inputs do not wait: after a restart records may count twice.
  at_least_once,
};

struct CheckpointOptions {
  std::string directory;         // empty: no checkpoints
  std::int64_t interval_ms = 0;  // 0: none by time (savepoints still work)
  Guarantee guarantee = Guarantee::exactly_once;
  bool unaligned = false;                 // of exactly_once: barriers overtake records
  std::int64_t alignment_timeout_ms = 0;  // of unaligned: only after this; 0: at once
  std::int64_t minimum_pause_ms = 0;      // between the end of one and the begin of the next
  std::int64_t timeout_ms = 600'000;      // then it is given up
  // Failed ones in a row; one more fails the job. A full or slow disk is no reason to restart a job
  // that runs, until what a restart would repeat has grown to four intervals.
  std::uint32_t tolerated_failures = 3;
  // Complete ones that are kept: where the newest is damaged, the one before is whole.
  std::uint32_t retained = 3;
  bool keep_at_end = false;  // those of a job that has finished or was stopped
  // How much of large state is written between two batches of records: less keeps records waiting
  // for shorter, more costs the whole less. Within a memory limit at most 1/256 of it, or 64 KiB.
  std::size_t step_bytes = 256 * 1024;
  // Where the first start takes its state from: a checkpoint's or savepoint's directory (…/chk-…),
  // or "latest": the newest complete one in `directory`, if there is any. Empty: a fresh start.
  std::string restore;
  // State of operators that the job no longer has may be dropped.
  bool allow_dropped_state = false;
  // When all checkpoints of a job that had completed one are gone, it begins anew. Otherwise it
  // waits for them on a cluster, and fails embedded.
  bool allow_fresh_start = false;

  bool enabled() const { return !directory.empty(); }
  bool begins_aligned() const { return unaligned && alignment_timeout_ms > 0; }
};

// When a job that failed starts again.
struct RestartStrategy {
  enum class Kind { none, fixed_delay, exponential, failure_rate };
  Kind kind = Kind::none;  // with checkpoints: exponential, unless it is set
  bool is_set = false;
  std::uint32_t attempts = 10;  // fixed_delay: restarts in all
  std::int64_t delay_ms = 100;  // exponential: the first
  std::int64_t longest_delay_ms = 30'000;
  double factor = 2;
  std::int64_t quiet_ms = 60'000;  // exponential: from the start after so long, or a checkpoint
  std::uint32_t failures = 3;      // failure_rate: more within `interval_ms` fail the job
  std::int64_t interval_ms = 60'000;

  static RestartStrategy no_restart() { return {.kind = Kind::none, .is_set = true}; }
  static RestartStrategy fixed_delay(std::uint32_t attempts, std::int64_t delay_ms) {
    return {.kind = Kind::fixed_delay, .is_set = true, .attempts = attempts, .delay_ms = delay_ms};
  }
  static RestartStrategy exponential(std::int64_t first_ms, std::int64_t longest_ms) {
    return {.kind = Kind::exponential,
            .is_set = true,
            .delay_ms = first_ms,
            .longest_delay_ms = longest_ms};
  }
  static RestartStrategy failure_rate(std::uint32_t failures, std::int64_t interval_ms,
                                      std::int64_t delay_ms) {
    return {.kind = Kind::failure_rate,
            .is_set = true,
            .delay_ms = delay_ms,
            .failures = failures,
            .interval_ms = interval_ms};
  }
};

}  // namespace hummer
