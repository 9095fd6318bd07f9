#include "text_lines.hpp"

#include <charconv>
#include <cstdint>
#include <iterator>

#include <fmt/format.h>

#include "batch/big_endian.hpp"

namespace hummer::hadoop {
namespace {

Status append_number(std::int64_t number, std::string& line) {
  char digits[24];
  line.append(digits, std::to_chars(std::begin(digits), std::end(digits), number).ptr);
  return Status();
}

Status is_no_number(std::size_t expected_bytes, std::string_view content) {
  return {ErrorCode::invalid_argument,
          fmt::format("a number of {} bytes has {}", expected_bytes, content.size())};
}

}  // namespace

Result<TextLines::Form> TextLines::form_of(std::string_view class_name) {
  constexpr std::string_view package = "org.apache.hadoop.io.";
  const std::string_view name =
      class_name.starts_with(package) ? class_name.substr(package.size()) : std::string_view();
  if (name == "Text") return Form::text;
  if (name == "NullWritable") return Form::nothing;
  if (name == "IntWritable") return Form::int32;
  if (name == "LongWritable") return Form::int64;
  return Status(ErrorCode::invalid_argument,
                fmt::format("the text of the class {} has no native form", class_name));
}

Result<TextLines> TextLines::of(std::string_view key_class, std::string_view value_class,
                                std::string_view separator) {
  const auto key = form_of(key_class);
  if (!key.ok()) return key.status();
  const auto value = form_of(value_class);
  if (!value.ok()) return value.status();
  TextLines lines;
  lines.key_ = *key;
  lines.value_ = *value;
  const int without = (*key == Form::nothing ? 1 : 0) + (*value == Form::nothing ? 1 : 0);
  if (without == 2) {
    return Status(ErrorCode::invalid_argument, "neither keys nor values have a text");
  }
  if (without == 0) lines.separator_ = separator;
  return lines;
}

Status TextLines::append(Form form, std::string_view content, std::string& line) {
  switch (form) {
    case Form::text: line.append(content); break;
    case Form::int32:
      if (content.size() != sizeof(std::int32_t)) return is_no_number(4, content);
      return append_number(static_cast<std::int32_t>(batch::big_endian_32(content.data())), line);
    case Form::int64:
      if (content.size() != sizeof(std::int64_t)) return is_no_number(8, content);
      return append_number(static_cast<std::int64_t>(batch::big_endian_64(content.data())), line);
    case Form::nothing: break;
  }
  return Status();
}

Status TextLines::append(const batch::RecordView& record, std::string& line) const {
  HUMMER_TRY(append(key_, record.key(), line));
  line.append(separator_);
  return append(value_, record.value(), line);
}

}  // namespace hummer::hadoop
