// RestoredWatermark: where event time goes on in a subtask that has earlier state. A value.
//
// At the same parallelism a subtask has its input and its keys again, and goes on with the
// watermark of its own piece: a lower one would let in what was late before, and open windows that
// have gone out. At another one nobody knows whose input it has now (splits move,
// hummer/source_splits.hpp), and its keys are those of several: it goes on with the least of all,
// behind which no record is late. What comes for a key of a subtask that was ahead (the subtasks of
// an unaligned checkpoint may differ) and would have been late there, is then let in.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <hummer/operator.hpp>

namespace hummer {

class RestoredWatermark {
 public:
  // That of the next piece; `delta`: it is of the same subtask as the one before. REQUIRES: pieces
  // of all subtasks come, in their order.
  void add(Timestamp time, bool delta = false) {
    if (delta && !of_subtasks_.empty()) {
      of_subtasks_.back() = time;
    } else {
      of_subtasks_.push_back(time);
    }
  }
  bool known() const { return !of_subtasks_.empty(); }
  // Whether the piece that was added last is this subtask's where pieces are dealt out.
  bool last_falls_to(const OperatorContext& context) const {
    const auto parallelism = static_cast<std::size_t>(context.parallelism());
    return (of_subtasks_.size() - 1) % parallelism == static_cast<std::size_t>(context.subtask());
  }
  // REQUIRES: known().
  Timestamp of(const OperatorContext& context) const {
    if (of_subtasks_.size() == static_cast<std::size_t>(context.parallelism())) {
      return of_subtasks_[static_cast<std::size_t>(context.subtask())];
    }
    return *std::min_element(of_subtasks_.begin(), of_subtasks_.end());
  }

 private:
  std::vector<Timestamp> of_subtasks_;
};

}  // namespace hummer
