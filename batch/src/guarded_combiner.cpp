#include "guarded_combiner.hpp"

#include "guarded_call.hpp"
#include "shown_key.hpp"

namespace hummer::batch {

Status GuardedCombiner::combine(GroupReader& group, RecordBuffer& out) {
  const std::uint64_t records_before = group.records();
  const std::size_t emitted_before = out.records();
  const Status status =
      call_guarded("the combiner", [&] { return combiner_->combine(group, out); });
  if (!status.ok()) return status.with_context("key " + shown_key(group.key()));
  records_in_ += group.records() - records_before;
  records_out_ += out.records() - emitted_before;
  return Status();
}

}  // namespace hummer::batch
