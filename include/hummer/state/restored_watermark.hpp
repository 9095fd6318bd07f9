// RestoredWatermark: the least watermark of all subtasks whose pieces an operator restores, each as
// its last piece says. A value.
#pragma once

#include <algorithm>

#include <hummer/batch.hpp>

namespace hummer {

class RestoredWatermark {
 public:
  // That of the next piece; `delta`: it is of the same subtask as the one before. Answers the least
  // so far.
  Timestamp add(bool delta, Timestamp time) {
    if (!delta) others_ = std::min(others_, last_);
    last_ = time;
    return std::min(others_, last_);
  }

 private:
  Timestamp others_ = end_of_time;
  Timestamp last_ = end_of_time;
};

}  // namespace hummer
