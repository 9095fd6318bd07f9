// BlockFlatMapOperator: a function per block of text, for splitters that work
// across line borders.
//
//   BlockFlatMapOperator<Out, F>(function)
//       std::size_t function(TextBlock block, Collector<Out>& out)
//
// The function returns the bytes it has dealt with, and stops early when
// out.full(); it is called again with the rest of the block once the output has
// been taken. REQUIRES: it consumes something unless it has filled the output.
//
// State between elements: none. Errors: what the function throws, or a count of
// bytes that makes no sense; the position is file and byte where the call began.
#pragma once

#include <hummer/detail/operators/batch_run.hpp>
#include <hummer/detail/operators/text_position.hpp>
#include <hummer/detail/operators/view_check.hpp>

namespace hummer {

template <StreamType Out, typename Function>
class BlockFlatMapOperator final : public Operator {
 public:
  explicit BlockFlatMapOperator(Function function) : function_(std::move(function)) {}

  void declare(Output& out) const override { out.add_port(type_of<Out>()); }
  bool keeps_splits() const override { return true; }

  OperatorResult process(Batch& in, Output& out) override {
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
        if (left != 0) consumed = run(block, target, out.soft_limit());
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
    if constexpr (!keeps_to_its_input<Function>) {
      if (const Status views = check_new_views<Out>(context(), in, target, used); !views.ok()) {
        return context().fail(views);
      }
    }
    return in.finished() ? OperatorResult::done : OperatorResult::more;
  }

  std::string describe_position(const Batch& in) const override {
    return describe_text_position(in, offset_, context());
  }

 private:
  // The collector tells the batch its size when the call ends.
  std::size_t run(const TextBlock& block, Batch& target, std::uint32_t soft_limit) {
    Collector<Out> collector(target, soft_limit);
    return function_(block.rest(offset_), collector);
  }

  Function function_;
  std::size_t offset_ = 0;  // of what is not consumed, in the block at in.position()
};

}  // namespace hummer
