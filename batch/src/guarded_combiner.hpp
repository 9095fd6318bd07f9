// GuardedCombiner: a combiner of an author's that does not throw, and says what it did.
//
// Thread: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <hummer/batch/combiner.hpp>

namespace hummer::batch {

class GuardedCombiner final : public Combiner {
 public:
  explicit GuardedCombiner(std::unique_ptr<Combiner> combiner) : combiner_(std::move(combiner)) {}
  Status combine(GroupReader& group, RecordBuffer& out) override;
  std::uint64_t records_in() const { return records_in_; }
  std::uint64_t records_out() const { return records_out_; }

 private:
  const std::unique_ptr<Combiner> combiner_;
  std::uint64_t records_in_ = 0;
  std::uint64_t records_out_ = 0;
};

}  // namespace hummer::batch
