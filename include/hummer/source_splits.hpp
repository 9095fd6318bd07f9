// SourceSplits: the parts of its input that one subtask of a source reads, such as the partitions
// of a log, or files.
//
// A split has an order of its own, and a pace: of two partitions that one subtask reads, one may be
// an hour ahead of the other. A watermark over their records together would call those of the
// slower one late. So the source says which split a batch is of (SourceOutput::split), and
// assign_timestamps, where it is fused with the source, keeps a generator for each: its watermark
// is the least of those of the splits that count. One that is idle or has ended does not count; one
// that begins behind the others does not move the watermark back, its older records are late.
// Between the two may stand operators that keep splits (map, filter, flat_map, lines); behind an
// exchange or a chain that was cut, all that comes to a subtask counts as one split.
//
// Names: a number, the same in all attempts and at every parallelism. Split `id` belongs to subtask
// id % parallelism, so numbers from 0 on are dealt out evenly.
//
// What is said of a split takes effect when the records before it are through the chain:
// apply_changes().
//
// Lifecycle: of the chain; filled by the source from restore on. Thread: that of the task. Cost: a
// look-up per run of records of a split; with an alignment a lock per call of the source.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <hummer/batch.hpp>
#include <hummer/watermarks.hpp>

namespace hummer {

using SplitId = std::uint64_t;

class SourceSplits {
 public:
  SourceSplits(int subtask, int parallelism)
      : subtask_(static_cast<SplitId>(subtask)), parallelism_(static_cast<SplitId>(parallelism)) {}

  // ---- for the source ----

  bool owns(SplitId id) const { return id % parallelism_ == subtask_; }
  // This subtask reads it from now on. False: it is another one's, or was read to its end. Again
  // for a known one: nothing happens.
  bool begin(SplitId id) {
    if (!owns(id)) return false;
    const auto [at, is_new] = numbers_.try_emplace(id, static_cast<SplitNumber>(splits_.size()));
    if (is_new) {
      splits_.push_back({.id = id});
      open_.push_back(at->second);
    }
    return !splits_[at->second].finished;
  }
  // No record of it comes any more.
  void finish(SplitId id) {
    Split& split = splits_[number(id)];
    if (split.finished) return;
    split.finished = true;
    changes_.push_back({number(id), State::finished});
  }
  // Nothing of it is at hand, and that may last: it does not count until its next record.
  void set_idle(SplitId id) {
    const SplitNumber at = number(id);
    if (splits_[at].finished || splits_[at].said_idle) return;
    splits_[at].said_idle = true;
    changes_.push_back({at, State::idle});
  }
  // It is too far ahead of the others of its alignment.
  bool paused(SplitId id) const { return paused(splits_[number(id)]); }
  bool is_finished(SplitId id) const { return splits_[number(id)].finished; }
  // All that were begun, also finished ones, in that order.
  std::size_t size() const { return splits_.size(); }
  SplitId id(SplitNumber number) const { return splits_[number].id; }
  // REQUIRES: it was begun.
  SplitNumber number(SplitId id) const {
    const auto found = numbers_.find(id);
    HUMMER_ASSERT(found != numbers_.end() && "the split was begun");
    return found->second;
  }
  // Records of it follow.
  void activate(SplitNumber number) {
    if (!splits_[number].said_idle) return;
    splits_[number].said_idle = false;
    splits_[number].state = State::active;
    std::erase_if(changes_, [&](const Change& change) { return change.number == number; });
  }

  // ---- for the chain and the operators behind ----

  // REQUIRES: all records that the source has given are through.
  void apply_changes() {
    if (alignment_) {
      for (const SplitNumber number : open_) splits_[number].was_paused |= paused(splits_[number]);
    }
    for (const Change& change : changes_) {
      splits_[change.number].state = change.state;
      if (change.state == State::finished) std::erase(open_, change.number);
    }
    changes_.clear();
    limit_ = alignment_ ? time_after(alignment_->lowest(), ahead_ms_) : end_of_time;
  }
  // Something waits for apply_changes().
  bool changed() const { return !changes_.empty(); }
  // Those that have not ended.
  const std::vector<SplitNumber>& open() const { return open_; }
  bool counts(SplitNumber number) const { return splits_[number].state == State::active; }
  // Of those that count; end_of_time: none does.
  template <typename WatermarkOf>
  Timestamp lowest(WatermarkOf&& watermark_of) const {
    Timestamp lowest = end_of_time;
    for (const SplitNumber number : open_) {
      if (counts(number)) lowest = std::min<Timestamp>(lowest, watermark_of(number));
    }
    return lowest;
  }
  // Whether it has been paused since the last call: then it had to wait, and was not idle.
  bool take_was_paused(SplitNumber number) {
    return std::exchange(splits_[number].was_paused, false) || paused(splits_[number]);
  }
  // How far each has come, and how far it may.
  void set_watermark(SplitNumber number, Timestamp time) { splits_[number].watermark = time; }
  Timestamp watermark(SplitNumber number) const { return splits_[number].watermark; }
  void align(const WatermarkAlignment& group, std::int64_t most_ahead_ms) {
    alignment_ = group;
    ahead_ms_ = most_ahead_ms;
  }

 private:
  enum class State : std::uint8_t { active, idle, finished };
  struct Split {
    SplitId id = 0;
    State state = State::active;
    bool finished = false;  // what the source has said; `state` follows
    bool said_idle = false;
    bool was_paused = false;
    Timestamp watermark = no_timestamp;
  };
  struct Change {
    SplitNumber number;
    State state;
  };

  bool paused(const Split& split) const {
    return split.watermark != no_timestamp && split.watermark > limit_;
  }

  const SplitId subtask_;
  const SplitId parallelism_;
  std::vector<Split> splits_;
  std::unordered_map<SplitId, SplitNumber> numbers_;
  std::vector<SplitNumber> open_;
  std::vector<Change> changes_;
  std::optional<WatermarkAlignment> alignment_;
  std::int64_t ahead_ms_ = 0;
  Timestamp limit_ = end_of_time;
};

}  // namespace hummer
