#include <hummer/detail/operators/line_flat_map.hpp>

namespace hummer {

OperatorResult LineFlatMapBase::process(Batch& in, Output& out) {
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
      finished = run(blocks[block], offset_, target, out.soft_limit());
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
  if (const Status views = check_views(in, target, used); !views.ok()) {
    return context().fail(views);
  }
  return in.finished() ? OperatorResult::done : OperatorResult::more;
}

std::string LineFlatMapBase::describe_position(const Batch& in) const {
  return describe_text_position(in, offset_, context());
}

std::string LineFlatMapBase::describe_output(const Batch& in, std::size_t) const {
  const std::string line = describe_line(in, 0);
  return line.empty() ? line : "a record made behind " + line;
}

std::string LineFlatMapBase::describe_line(const Batch& in, std::size_t n) const {
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

std::string_view LineFlatMapBase::skip_record(Batch& in) {
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

}  // namespace hummer
