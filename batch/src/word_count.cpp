#include "word_count.hpp"

#include <array>
#include <charconv>

namespace hummer::batch {
namespace {

constexpr std::array<bool, 256> whitespace = [] {
  std::array<bool, 256> table{};
  for (const char c : {' ', '\t', '\n', '\v', '\f', '\r'})
    table[static_cast<unsigned char>(c)] = true;
  return table;
}();

bool is_space(char c) { return whitespace[static_cast<unsigned char>(c)]; }

Result<std::uint64_t> sum_of(GroupReader& group) {
  std::uint64_t sum = 0;
  while (group.next_value()) sum += count_in(group.value());
  if (!group.status().ok()) return group.status();
  return sum;
}

}  // namespace

std::uint64_t count_in(std::string_view value) {
  std::uint64_t count = 0;
  if (value.size() == sizeof count) std::memcpy(&count, value.data(), sizeof count);
  return __builtin_bswap64(count);
}

DecimalText::DecimalText(std::uint64_t number)
    : size_(static_cast<std::size_t>(std::to_chars(digits_, digits_ + sizeof digits_, number).ptr -
                                     digits_)) {}

void WordMapper::map_record(const RecordView& line, MapOutput& output) {
  static const CountBytes one(1);
  const std::string_view text = line.value();
  std::size_t at = 0;
  for (;;) {
    while (at < text.size() && is_space(text[at])) ++at;
    if (at == text.size()) return;
    const std::size_t begin = at;
    while (at < text.size() && !is_space(text[at])) ++at;
    output.emit(text.substr(begin, at - begin), one.view());
  }
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

void SumFolder::fold_record(Sum& sum, const RecordView& record) {
  sum.value += count_in(record.value());
}
void SumFolder::emit_state(std::string_view key, const Sum& sum, RecordOutput& output) {
  output.emit(key, CountBytes(sum.value).view());
}
void SumFolder::finish_state(std::string_view key, const Sum& sum, RecordOutput& output) {
  output.emit(key, DecimalText(sum.value).view());
}

}  // namespace hummer::batch
