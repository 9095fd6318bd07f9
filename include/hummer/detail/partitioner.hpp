// Partitioner: what stands at a hash edge, between an operator's output and the subtasks that own
// its keys.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <hummer/operator.hpp>

namespace hummer {

// Splits batches among downstream subtasks. One per upstream subtask; typed, so that the loop over
// the records is inlined.
class Partitioner {
 public:
  virtual ~Partitioner() = default;
  // Moves records of `in` from in.position() on to targets[owner of its key], advancing `in`,
  // until `in` is finished (done) or a target has reached `soft_limit` (more).
  virtual OperatorResult scatter(Batch& in, std::vector<Batch>& targets,
                                 std::uint32_t soft_limit) = 0;
};

class PartitionerFactory {
 public:
  virtual ~PartitionerFactory() = default;
  virtual std::unique_ptr<Partitioner> make(std::uint32_t targets, std::uint32_t groups) const = 0;
};

}  // namespace hummer
