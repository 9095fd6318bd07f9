#include <hummer/detail/operators/block_flat_map.hpp>

namespace hummer {

OperatorResult BlockFlatMapBase::process(Batch& in, Output& out) {
  Batch& target = out.batch();
  const std::size_t used = target.size();
  while (!in.finished() && !out.full()) {
    const std::size_t before = target.size();
    const std::size_t at = in.position();
    const Timestamp time = in.has_timestamps() ? in.timestamps()[at] : no_timestamp;
    const TextBlock& block = in.values<TextBlock>()[at];
    const std::size_t left = block.size - offset_;
    std::size_t consumed = 0;
    try {
      if (left != 0) consumed = run(block.rest(offset_), target, out.soft_limit());
    } catch (...) {
      stamp(target, before, target.size(), time);
      throw;
    }
    stamp(target, before, target.size(), time);
    if (consumed > left || (consumed == 0 && left != 0 && !out.full())) {
      return context().fail({ErrorCode::user_function_failed,
                             describe_position(in) + ": the block function consumed " +
                                 std::to_string(consumed) + " of " + std::to_string(left) +
                                 " bytes without filling the output"});
    }
    offset_ += consumed;
    if (offset_ < block.size) continue;
    offset_ = 0;
    in.advance_to(at + 1);
  }
  if (const Status views = check_views(in, target, used); !views.ok()) {
    return context().fail(views);
  }
  return in.finished() ? OperatorResult::done : OperatorResult::more;
}

std::string BlockFlatMapBase::describe_position(const Batch& in) const {
  return describe_text_position(in, offset_, context());
}

}  // namespace hummer
