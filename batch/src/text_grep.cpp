#include "text_grep.hpp"

#include <charconv>

#include "word_count.hpp"

namespace hummer::batch {

Status CountFirstMapper::map_record(const RecordView& line, MapOutput& output) {
  const std::string_view text = line.value();
  // A match may have TABs in it, a count has not.
  const std::size_t tab = text.rfind('\t');
  std::uint64_t count = 0;
  const std::string_view digits = tab == std::string_view::npos ? text : text.substr(tab + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    return Status(ErrorCode::corrupt_record, "a line without a count at its end");
  }
  std::string key(CountBytes(~count).view());
  key.append(tab == std::string_view::npos ? std::string_view() : text.substr(0, tab));
  output.emit(key, {});
  return Status();
}

void CountFirstReducer::reduce_group(GroupReader& group, RecordOutput& output) {
  const std::string_view key = group.key();
  output.emit(DecimalText(~count_in(key.substr(0, 8))).view(), key.substr(8));
}

}  // namespace hummer::batch
