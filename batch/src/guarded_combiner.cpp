#include "guarded_combiner.hpp"

#include "guarded_call.hpp"

namespace hummer::batch {

Status GuardedCombiner::combine(GroupReader& group, RecordBuffer& out) {
  const std::uint64_t records_before = group.records();
  const std::size_t emitted_before = out.records();
  HUMMER_TRY(call_guarded("the combiner", [&] { return combiner_->combine(group, out); }));
  records_in_ += group.records() - records_before;
  records_out_ += out.records() - emitted_before;
  return Status();
}

}  // namespace hummer::batch
