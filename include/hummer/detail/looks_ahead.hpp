// LooksAhead: an operator for which it pays to see many records before it processes the first.
//
// State that lies on disk is the case: one pass over it brings what tens of thousands of keys need
// at a fraction of what a read for each of them costs. So the task gathers input for such an
// operator at the head of its chain, as long as there is some at hand, shows it as a whole, and
// then hands it over batch by batch as it came. Nothing but time depends on it: what was shown may
// come late or never, as records that a barrier finds waiting are saved as records in flight.
//
// Thread: that of the operator.
#pragma once

#include <cstddef>
#include <span>

#include <hummer/batch.hpp>
#include <hummer/operator.hpp>

namespace hummer {

class LooksAhead {
 public:
  // How much is to be gathered; none where it would not pay now.
  struct Reach {
    std::size_t records = 0;
    std::size_t bytes = 0;  // of batches, about

    bool none() const { return records == 0; }
  };
  // That waits, and by which input it came.
  struct Waiting {
    const Batch* batch = nullptr;
    int input = 0;
  };

  virtual ~LooksAhead() = default;

  // Asked for each batch.
  virtual Reach reach() const = 0;
  // What comes next, in this order. `more`: there is more to do for it, a little of it with
  // each further call, without elements; others of the slot may have a turn in between.
  virtual OperatorResult look_ahead(std::span<const Waiting> waiting) = 0;
};

}  // namespace hummer
