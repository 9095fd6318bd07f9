#include <hummer/detail/operators/format_text.hpp>

namespace hummer {

void FormatTextOperator::declare(Output& out) const { out.add_port(type_of<FormattedText>()); }

OperatorResult FormatTextOperator::process(Batch& in, Output& out) {
  auto collector = out.collector<FormattedText>();
  if (collector.full()) return OperatorResult::more;
  const std::size_t first = in.position();
  try {
    (void)append_(in, chunk_bytes, text_);
  } catch (...) {
    hand_on(collector, in.position() - first);
    throw;
  }
  hand_on(collector, in.position() - first);
  return in.finished() ? OperatorResult::done : OperatorResult::more;
}

void FormatTextOperator::hand_on(Collector<FormattedText>& collector, std::size_t records) {
  if (records > 0) collector(FormattedText{collector.copy(text_), records});
  text_.clear();
  // A huge record must not hold its memory for good.
  if (text_.capacity() > 16 * chunk_bytes) std::string().swap(text_);
}

}  // namespace hummer
