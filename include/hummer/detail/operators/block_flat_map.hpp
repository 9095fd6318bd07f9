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

#include <string>
#include <utility>

#include <hummer/detail/operators/batch_run.hpp>
#include <hummer/detail/operators/text_position.hpp>
#include <hummer/detail/operators/view_check.hpp>

namespace hummer {

// The part that needs no type: it knows the place in the blocks.
class BlockFlatMapBase : public Operator {
 public:
  bool keeps_splits() const override { return true; }
  OperatorResult process(Batch& in, Output& out) override;
  std::string describe_position(const Batch& in) const override;

 protected:
  // Calls the function; the bytes that it has consumed.
  virtual std::size_t run(TextBlock block, Batch& target, std::uint32_t soft_limit) = 0;
  virtual Status check_views(const Batch& in, Batch& out, std::size_t first) const = 0;

 private:
  std::size_t offset_ = 0;  // of what is not consumed, in the block at in.position()
};

template <StreamType Out, typename Function>
class BlockFlatMapOperator final : public BlockFlatMapBase {
 public:
  explicit BlockFlatMapOperator(Function function) : function_(std::move(function)) {}

  void declare(Output& out) const override { out.add_port(type_of<Out>()); }

 private:
  // The collector tells the batch its size when the call ends.
  std::size_t run(TextBlock block, Batch& target, std::uint32_t soft_limit) override {
    Collector<Out> collector(target, soft_limit);
    return function_(block, collector);
  }
  Status check_views(const Batch& in, Batch& out, std::size_t first) const override {
    if constexpr (keeps_to_its_input<Function>) return {};
    return check_new_views<Out>(context(), in, out, first);
  }

  Function function_;
};

}  // namespace hummer
