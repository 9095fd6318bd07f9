// BarrierRelay: a source operator that receives for another task, and so meets barriers that have
// overtaken the records before them. See in_flight.hpp.
//
// Thread: that of the task.
#pragma once

#include <optional>

#include "runtime/ring_channel.hpp"

namespace hummer {

class BarrierRelay {
 public:
  virtual ~BarrierRelay() = default;
  // While the chain is blocked: takes what has arrived, within the channel's credits, up to the
  // next barrier. A failure shows with the next produce().
  virtual void read_ahead() = 0;
  // A barrier was met. Ahead of it are, in this order, what produce() has handed out, and the
  // announcement's records in flight.
  virtual bool has_barrier() const = 0;
  virtual std::optional<OutOfBandBarrier> take_barrier() = 0;
};

}  // namespace hummer
