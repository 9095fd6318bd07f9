// FormatTextOperator<T>: records as text, ahead of a sink that only writes.
//
// A file is written by one task; formatting is the larger part of the work. So
// write_file() formats in the tasks that make the records, and the sink gets the
// text of many records at a time.
//
// Out of each batch comes one FormattedText, or several of about `chunk_bytes`; nothing is held
// back. State: none. Errors: a format_record that throws leaves out the whole record and
// `in` at its position. Memory: one chunk and one record.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <hummer/format.hpp>
#include <hummer/operator.hpp>

namespace hummer {

struct FormattedText {
  std::string_view text;  // whole lines
  std::uint64_t records = 0;
};

template <typename T>
class FormatTextOperator final : public Operator {
 public:
  static constexpr std::size_t chunk_bytes = 64 << 10;

  void declare(Output& out) const override { out.add_port(type_of<FormattedText>()); }

  OperatorResult process(Batch& in, Output& out) override {
    const auto records = in.values<T>();
    const std::size_t first = in.position();
    auto collector = out.collector<FormattedText>();
    if (collector.full()) return OperatorResult::more;
    std::size_t i = first;
    std::size_t complete = 0;
    try {
      while (i < records.size() && text_.size() < chunk_bytes) {
        format_record(records[i], text_);
        text_.push_back('\n');
        complete = text_.size();
        ++i;
      }
    } catch (...) {
      text_.resize(complete);
      hand_on(collector, i - first);
      in.advance_to(i);
      throw;
    }
    hand_on(collector, i - first);
    in.advance_to(i);
    return in.finished() ? OperatorResult::done : OperatorResult::more;
  }

 private:
  void hand_on(Collector<FormattedText>& collector, std::size_t records) {
    if (records > 0) collector(FormattedText{collector.copy(text_), records});
    text_.clear();
    // A huge record must not hold its memory for good.
    if (text_.capacity() > 16 * chunk_bytes) std::string().swap(text_);
  }

  std::string text_;
};

}  // namespace hummer
