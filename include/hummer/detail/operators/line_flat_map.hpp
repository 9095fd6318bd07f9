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

#include <hummer/detail/operators/batch_run.hpp>
#include <hummer/detail/operators/text_position.hpp>
#include <hummer/detail/operators/view_check.hpp>

namespace hummer {

template <StreamType Out, typename Function>
class LineFlatMapOperator final : public Operator {
 public:
  explicit LineFlatMapOperator(Function function) : function_(std::move(function)) {}

  void declare(Output& out) const override { out.add_port(type_of<Out>()); }
  bool keeps_splits() const override { return true; }

  OperatorResult process(Batch& in, Output& out) override {
    Batch& target = out.batch();
    const std::size_t used = target.size();
    const auto blocks = in.values<TextBlock>();
    std::size_t block = in.position();
    began_block_ = block;
    began_offset_ = offset_;
    while (block < blocks.size()) {
      const std::size_t before = target.size();
      const Timestamp time = in.has_timestamps() ? in.timestamps()[block] : no_timestamp;
      in.advance_to(block);  // where an exception leaves it
      bool finished = false;
      try {
        finished = run(blocks[block], target, out.soft_limit());
      } catch (...) {
        stamp(target, before, target.size(), time);
        throw;
      }
      stamp(target, before, target.size(), time);
      if (!finished) break;
      offset_ = 0;
      ++block;
    }
    in.advance_to(block);
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
  std::string describe_output(const Batch& in, std::size_t) const override {
    const std::string line = describe_line(in, 0);
    return line.empty() ? line : "a record made behind " + line;
  }
  // The n-th line of the last call.
  std::string describe_line(const Batch& in, std::size_t n) const {
    const auto blocks = in.values<TextBlock>();
    std::size_t offset = began_offset_;
    for (std::size_t block = began_block_; block < blocks.size(); ++block, offset = 0) {
      const char* found = nullptr;
      (void)for_each_line(blocks[block], offset, [&](std::string_view line) {
        if (n == 0) found = line.data();
        return n-- > 0;
      });
      if (found != nullptr) {
        return describe_text_position(
            blocks[block], static_cast<std::size_t>(found - blocks[block].data), context());
      }
    }
    return {};
  }
  bool can_skip_record() const override { return true; }
  // The line at which the function has thrown.
  std::string_view skip_record(Batch& in) override {
    const TextBlock& block = in.values<TextBlock>()[in.position()];
    std::string_view skipped;
    offset_ = for_each_line(block, offset_, [&](std::string_view line) {
      skipped = line;
      return false;
    });
    if (offset_ == block.size) {
      offset_ = 0;
      in.advance_to(in.position() + 1);
    }
    return skipped;
  }

 private:
  // Lines of `block` from offset_ on; false: the output is full before its end.
  bool run(const TextBlock& block, Batch& target, std::uint32_t soft_limit) {
    Collector<Out> collector(target, soft_limit);
    const char* const end = block.data + block.size;
    const char* at = block.data + offset_;
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
      offset_ = static_cast<std::size_t>(at - block.data);
      throw;
    }
    offset_ = static_cast<std::size_t>(at - block.data);
    return at == end;
  }

  Function function_;
  std::size_t offset_ = 0;  // of the next line, in the block at in.position()
  // Where the last call began.
  std::size_t began_block_ = 0;
  std::size_t began_offset_ = 0;
};

struct EmitLine {
  static constexpr bool keeps_to_its_input = true;
  void operator()(std::string_view line, Collector<std::string_view>& out) const { out(line); }
};

// TextBlock in, one std::string_view per line out.
class LinesOperator final : public Operator {
 public:
  void declare(Output& out) const override { lines_.declare(out); }
  bool keeps_splits() const override { return true; }
  Status open() override {
    lines_.set_context(context());
    return {};
  }
  OperatorResult process(Batch& in, Output& out) override { return lines_.process(in, out); }
  std::string describe_position(const Batch& in) const override {
    return lines_.describe_position(in);
  }
  std::string describe_output(const Batch& in, std::size_t record) const override {
    return lines_.describe_line(in, record);
  }

 private:
  LineFlatMapOperator<std::string_view, EmitLine> lines_{EmitLine{}};
};

}  // namespace hummer
