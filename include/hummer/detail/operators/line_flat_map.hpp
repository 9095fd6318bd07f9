// LineFlatMapOperator: a function per line over blocks of text.
//
//   LineFlatMapOperator<Out, F>(function)    void function(std::string_view line, Collector<Out>&)
//
// The search for line ends and the function are one loop; no list of lines is
// made. The line comes without its '\n'; all other bytes are data. When the output is full
// the operator answers `more` and goes on inside the block at the next call.
//
// State between elements: none (a block is finished before the next element).
// Errors: what the function throws; the position is file, line and byte. Of what it puts out only
// the line is known with which the call began.
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include <hummer/detail/operators/batch_run.hpp>
#include <hummer/detail/operators/text_position.hpp>
#include <hummer/detail/operators/view_check.hpp>

namespace hummer {

// The part that needs no type: it knows the place in the blocks.
class LineFlatMapBase : public Operator {
 public:
  bool keeps_splits() const override { return true; }
  OperatorResult process(Batch& in, Output& out) override;
  std::string describe_position(const Batch& in) const override;
  std::string describe_output(const Batch& in, std::size_t) const override;
  // The n-th line of the last call.
  std::string describe_line(const Batch& in, std::size_t n) const;
  bool can_skip_record() const override { return true; }
  // The line at which the function has thrown.
  std::string_view skip_record(Batch& in) override;

 protected:
  // Lines of `block` from `offset` on, which moves; false: the output is full before its end.
  virtual bool run(const TextBlock& block, std::size_t& offset, Batch& target,
                   std::uint32_t soft_limit) = 0;
  virtual Status check_views(const Batch& in, Batch& out, std::size_t first) const = 0;

 private:
  std::size_t offset_ = 0;  // of the next line, in the block at in.position()
  // Where the last call began.
  std::size_t began_block_ = 0;
  std::size_t began_offset_ = 0;
};

template <StreamType Out, typename Function>
class LineFlatMapOperator final : public LineFlatMapBase {
 public:
  explicit LineFlatMapOperator(Function function) : function_(std::move(function)) {}

  void declare(Output& out) const override { out.add_port(type_of<Out>()); }

 private:
  bool run(const TextBlock& block, std::size_t& offset, Batch& target,
           std::uint32_t soft_limit) override {
    Collector<Out> collector(target, soft_limit);
    const char* const end = block.data + block.size;
    const char* at = block.data + offset;
    try {
      LocalFunction<Function> function(function_);
      while (at < end && !collector.full()) {
        const auto* newline =
            static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
        const char* line_end = newline != nullptr ? newline : end;
        function(std::string_view(at, static_cast<std::size_t>(line_end - at)), collector);
        at = newline != nullptr ? newline + 1 : end;
      }
    } catch (...) {
      offset = static_cast<std::size_t>(at - block.data);
      throw;
    }
    offset = static_cast<std::size_t>(at - block.data);
    return at == end;
  }
  Status check_views(const Batch& in, Batch& out, std::size_t first) const override {
    if constexpr (keeps_to_its_input<Function>) return {};
    return check_new_views<Out>(context(), in, out, first);
  }

  Function function_;
};

}  // namespace hummer
