// FormatTextOperator: records as text, ahead of a sink that only writes.
//
// A file is written by one task; formatting is the larger part of the work. So
// write_file() formats in the tasks that make the records, and the sink gets the
// text of many records at a time.
//
// Out of each batch comes one FormattedText, or several of about `chunk_bytes`; nothing is held
// back. State: none. Errors: a format_record that throws leaves out the whole record and
// `in` at its position. Memory: one chunk and one record.
//
// Operators that write text have no type of record: they are given append_lines<T>, which is called
// once per batch or chunk.
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

// What is written as it is, and not formatted.
template <typename T>
inline constexpr bool is_written_text =
    std::is_same_v<T, TextBlock> || std::is_same_v<T, FormattedText>;

// Appends records of `in` as lines, until `text` has `enough_bytes` or all are taken. A TextBlock
// is taken as it is, with a line end after it where it lacks one, unless it is of no lines; a
// FormattedText without. The answer: how many records these hold beyond one each.
using AppendLines = std::uint64_t (*)(Batch& in, std::size_t enough_bytes, std::string& text);

template <typename T>
std::uint64_t append_lines(Batch& in, std::size_t enough_bytes, std::string& text) {
  const auto records = in.values<T>();
  std::size_t at = in.position();
  std::size_t complete = text.size();
  std::uint64_t further = 0;
  try {
    for (; at < records.size() && text.size() < enough_bytes; ++at) {
      if constexpr (std::is_same_v<T, FormattedText>) {
        text.append(records[at].text);
        further += records[at].records - 1;
      } else if constexpr (std::is_same_v<T, TextBlock>) {
        format_record(records[at], text);
        const TextBlock& block = records[at];
        const bool lines = block.offset != TextBlock::no_lines && block.size != 0;
        if (lines && block.data[block.size - 1] != '\n') text.push_back('\n');
      } else {
        format_record(records[at], text);
        text.push_back('\n');
      }
      complete = text.size();
    }
  } catch (...) {
    text.resize(complete);
    in.advance_to(at);
    throw;
  }
  in.advance_to(at);
  return further;
}

class FormatTextOperator final : public Operator {
 public:
  static constexpr std::size_t chunk_bytes = 64 << 10;

  explicit FormatTextOperator(AppendLines append) : append_(append) {}

  void declare(Output& out) const override;
  OperatorResult process(Batch& in, Output& out) override;

 private:
  void hand_on(Collector<FormattedText>& collector, std::size_t records);

  const AppendLines append_;
  std::string text_;
};

}  // namespace hummer
