// WatermarkMerger: one watermark out of those of many inputs.
//
// The merged watermark is the minimum over the inputs that have not ended and are
// not inactive, and never goes back. An input that ended no longer holds it; one
// that is inactive doesn't either, until its next batch or watermark. (Jet's
// WatermarkCoalescer is the model: kept out of the task, tested alone.)
//
// Thread: that of the task. Cost: O(inputs) per watermark that could move the minimum.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include <hummer/batch.hpp>

namespace hummer {

class WatermarkMerger {
 public:
  explicit WatermarkMerger(std::size_t inputs) : inputs_(inputs) {}

  // Each answers the new merged watermark when it has moved; the old one again when the first of
  // inputs that all were inactive has become active by a watermark.
  std::optional<Timestamp> watermark(std::size_t index, Timestamp time) {
    const bool wakes = all_inactive();
    active(index);
    Input& input = inputs_[index];
    if (time > input.time) {
      const bool held_minimum = input.time <= merged_;
      input.time = time;
      if (held_minimum) {
        if (const auto moved = advance()) return moved;
      }
    }
    return wakes && merged_ != no_timestamp ? std::optional(merged_) : std::nullopt;
  }
  std::optional<Timestamp> ended(std::size_t index) {
    active(index);
    inputs_[index].ended = true;
    ++ended_count_;
    return all_ended() ? std::nullopt : advance();
  }
  std::optional<Timestamp> inactive(std::size_t index) {
    if (inputs_[index].inactive || inputs_[index].ended) return std::nullopt;
    inputs_[index].inactive = true;
    ++inactive_count_;
    return advance();
  }
  // A batch has come.
  void active(std::size_t index) {
    if (!inputs_[index].inactive) return;
    inputs_[index].inactive = false;
    --inactive_count_;
  }

  bool all_ended() const { return ended_count_ == inputs_.size(); }
  // Nothing holds the watermark, and some inputs have not ended.
  bool all_inactive() const {
    return inactive_count_ > 0 && inactive_count_ + ended_count_ == inputs_.size();
  }

 private:
  struct Input {
    Timestamp time = no_timestamp;
    bool ended = false;
    bool inactive = false;
  };

  std::optional<Timestamp> advance() {
    Timestamp least = end_of_time;
    for (const Input& input : inputs_) {
      if (!input.ended && !input.inactive) least = std::min(least, input.time);
    }
    if (least <= merged_ || least == end_of_time) return std::nullopt;
    merged_ = least;
    return merged_;
  }

  std::vector<Input> inputs_;
  Timestamp merged_ = no_timestamp;
  std::size_t ended_count_ = 0;
  std::size_t inactive_count_ = 0;
};

}  // namespace hummer
