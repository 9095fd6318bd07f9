// WatermarkMerger: one watermark out of those of many inputs, and whether any of them is active.
//
// The merged watermark is the minimum over the inputs that have not ended and are
// not inactive, and never goes back. An input that ended no longer holds it; one
// that is inactive doesn't either, until it says that it is active, or its next watermark does.
// When none is left that holds it, it goes on to the latest of all, so that it is the same in
// whatever order they have become inactive.
//
// Records say nothing: what an operator emits by its own timer, or as the late result of a call,
// comes behind an inactive input, too, and nobody would say again that it still is one. (Flink's
// StatusWatermarkValve has the rule; Jet's WatermarkCoalescer is the model of the class: kept out
// of the task, tested alone.)
//
// Thread: that of the task. Cost: O(inputs) per watermark that could move the minimum.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <hummer/batch.hpp>

namespace hummer {

class WatermarkMerger {
 public:
  explicit WatermarkMerger(std::size_t inputs) : inputs_(inputs) {}

  // What has come by an input.
  void watermark(std::size_t index, Timestamp time) {
    active(index);
    Input& input = inputs_[index];
    if (time <= input.time) return;
    const bool held_minimum = input.time <= merged_;
    input.time = time;
    if (held_minimum) advance();
  }
  void ended(std::size_t index) {
    active(index);
    inputs_[index].ended = true;
    ++ended_count_;
    if (!all_ended()) advance();
  }
  void inactive(std::size_t index) {
    if (inputs_[index].inactive || inputs_[index].ended) return;
    inputs_[index].inactive = true;
    ++inactive_count_;
    advance();
  }
  void active(std::size_t index) {
    if (!inputs_[index].inactive) return;
    inputs_[index].inactive = false;
    --inactive_count_;
  }

  // What the merged input has to say next: a watermark, inactive or active; none: nothing, for now.
  Control next() {
    if (merged_ > said_) {
      said_ = merged_;
      said_inactive_ = false;
      return Control::watermark(said_);
    }
    if (all_inactive() == said_inactive_ || all_ended()) return {};
    said_inactive_ = !said_inactive_;
    return said_inactive_ ? Control::inactive() : Control::active();
  }

  bool all_ended() const { return ended_count_ == inputs_.size(); }

  // The input whose watermark is the least, or `none` where those that hold it are equal.
  static constexpr std::size_t none = SIZE_MAX;
  std::size_t furthest_behind() const {
    std::size_t behind = none;
    bool differ = false;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (inputs_[i].ended || inputs_[i].inactive) continue;
      if (behind != none) differ |= inputs_[i].time != inputs_[behind].time;
      if (behind == none || inputs_[i].time < inputs_[behind].time) behind = i;
    }
    return differ ? behind : none;
  }

 private:
  struct Input {
    Timestamp time = no_timestamp;
    bool ended = false;
    bool inactive = false;
  };

  // Nothing holds the watermark, and some inputs have not ended.
  bool all_inactive() const {
    return inactive_count_ > 0 && inactive_count_ + ended_count_ == inputs_.size();
  }
  void advance() {
    Timestamp least = end_of_time;
    Timestamp latest = no_timestamp;
    for (const Input& input : inputs_) {
      latest = std::max(latest, input.time);
      if (!input.ended && !input.inactive) least = std::min(least, input.time);
    }
    const Timestamp time = all_inactive() ? latest : least;
    if (time != end_of_time) merged_ = std::max(merged_, time);
  }

  std::vector<Input> inputs_;
  Timestamp merged_ = no_timestamp;
  std::size_t ended_count_ = 0;
  std::size_t inactive_count_ = 0;
  Timestamp said_ = no_timestamp;
  bool said_inactive_ = false;
};

}  // namespace hummer
