// WatermarkMerger: one watermark out of those of many inputs.
//
// The merged watermark is the minimum over the inputs that have not ended, and
// never goes back. An input that ended no longer holds it. (Jet's
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
  explicit WatermarkMerger(std::size_t inputs) : inputs_(inputs, no_timestamp) {}

  // Each answers the new merged watermark when it has moved.
  std::optional<Timestamp> watermark(std::size_t input, Timestamp time) {
    if (time <= inputs_[input]) return std::nullopt;
    const bool held_minimum = inputs_[input] == merged_;
    inputs_[input] = time;
    return held_minimum ? advance() : std::nullopt;
  }
  std::optional<Timestamp> ended(std::size_t input) {
    inputs_[input] = end_of_time;
    ++ended_count_;
    return all_ended() ? std::nullopt : advance();
  }
  bool all_ended() const { return ended_count_ == inputs_.size(); }

 private:
  std::optional<Timestamp> advance() {
    const Timestamp least = *std::min_element(inputs_.begin(), inputs_.end());
    if (least <= merged_ || least == end_of_time) return std::nullopt;
    merged_ = least;
    return merged_;
  }

  std::vector<Timestamp> inputs_;
  Timestamp merged_ = no_timestamp;
  std::size_t ended_count_ = 0;
};

}  // namespace hummer
