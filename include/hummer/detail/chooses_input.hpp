// ChoosesInput: an operator at the head of a chain that knows its channels, and from which of them
// the next element has to come.
//
// What merges sorted inputs is the case: it can't go on without the next record of one of them, and
// what the others bring would only lie in its memory. So they wait in their channels, and the tasks
// ahead for room there. That is safe only where those tasks do not wait for each other, such as
// subtasks that emit when all of their input has come; nobody else may choose. Who only wants to
// know when an input has ended answers `any`.
//
// An operator that is not at the head is told of no channel.
//
// Thread: that of the operator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hummer {

class ChoosesInput {
 public:
  static constexpr std::size_t any = SIZE_MAX;

  virtual ~ChoosesInput() = default;

  // Before open: the input that each channel feeds. Of one edge they are in the order of the
  // subtasks ahead.
  virtual void set_channels(const std::vector<int>& inputs) = 0;
  // Between two elements. REQUIRES: one that has not ended, or any.
  virtual std::size_t wanted_channel() const = 0;
  // The batch of the next call of process_input comes by this channel; then, where its last
  // element is the one in hand, that it has ended. Of an end without a batch nothing else is told.
  virtual void comes_by(std::size_t channel) = 0;
  virtual void has_ended(std::size_t channel) = 0;
};

}  // namespace hummer
