#include "word_count.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include <hummer/split_words.hpp>
#include <hummer/words.hpp>

namespace hummer::batch {
namespace {

// find_words() reads so far behind a text.
constexpr std::size_t read_behind = 64;

// The part of a text behind which so much of it is left, and which ends no word in the middle.
std::string_view with_bytes_behind(std::string_view text) {
  std::size_t size = text.size() - std::min(text.size(), read_behind);
  while (size > 0 && static_cast<unsigned char>(text[size]) > ' ') --size;
  return text.substr(0, size);
}

// How many of the lines, from the first on, lie one behind the other in a text, with a line end
// between them, as they come from a reader of texts: one stretch of text costs less than each line
// by itself, and a line end parts words like any whitespace.
std::size_t lines_that_adjoin(std::span<const RecordView> lines) {
  std::size_t count = 1;
  for (; count < lines.size(); ++count) {
    const char* end = lines[count - 1].value_data + lines[count - 1].value_bytes;
    const char* const next = lines[count].value_data;
    if (next == end + 2 && *end == '\r') ++end;
    if (next != end + 1 || *end != '\n') break;
  }
  return count;
}

Result<std::uint64_t> sum_of(GroupReader& group) {
  std::uint64_t sum = 0;
  while (group.next_value()) sum += count_in(group.value());
  if (!group.status().ok()) return group.status();
  return sum;
}

}  // namespace

DecimalText::DecimalText(std::uint64_t number)
    : size_(static_cast<std::size_t>(std::to_chars(digits_, digits_ + sizeof digits_, number).ptr -
                                     digits_)) {}

Status WordMapper::map(std::span<const RecordView> lines, MapOutput& output) {
  words_ = 0;
  while (!lines.empty()) {
    const std::size_t together = lines_that_adjoin(lines);
    const char* const begin = lines.front().value_data;
    const RecordView& last = lines[together - 1];
    split({begin, last.value_data + last.value_bytes}, output);
    lines = lines.subspan(together);
  }
  emit(output);
  return Status();
}

void WordMapper::split(std::string_view text, MapOutput& output) {
  const std::string_view most = with_bytes_behind(text);
  for (std::string_view rest = most; !rest.empty();) {
    std::size_t count = 0;
    rest.remove_prefix(find_words(rest, std::span(found_).subspan(words_), count));
    words_ += count;
    if (words_ == found_.size()) emit(output);
  }
  for (const std::string_view word : words(text.substr(most.size()))) {
    found_[words_++] = word;
    if (words_ == found_.size()) emit(output);
  }
}

void WordMapper::emit(MapOutput& output) {
  output.emit_keys(std::span(found_).first(std::exchange(words_, 0)), one_.view());
}

Status SumCombiner::combine(GroupReader& group, RecordBuffer& out) {
  const auto sum = sum_of(group);
  if (!sum.ok()) return sum.status();
  out.add(group.key(), CountBytes(*sum).view());
  return Status();
}

Status SumReducer::reduce_group(GroupReader& group, RecordOutput& output) {
  const auto sum = sum_of(group);
  if (!sum.ok()) return sum.status();
  output.emit(group.key(), DecimalText(*sum).view());
  return Status();
}

void SumFolder::emit_state(std::string_view key, const Sum& sum, RecordOutput& output) {
  output.emit(key, CountBytes(sum.value).view());
}
void SumFolder::finish_state(std::string_view key, const Sum& sum, RecordOutput& output) {
  output.emit(key, DecimalText(sum.value).view());
}

}  // namespace hummer::batch
