// TextLines: what Hadoop's TextOutputFormat makes of records: key, separator, value, as Java's
// toString says them. A NullWritable has no text, and then there is no separator.
//
//   auto lines = TextLines::of("org.apache.hadoop.io.Text", "org.apache.hadoop.io.LongWritable",
//                              "\t");
//   HUMMER_TRY(lines->append(record, text));        // "word\t17", without the end of the line
//
// Records are contents (writable_form.hpp): of Text the bytes, of numbers 4 or 8, big-endian.
//
// Failures: invalid_argument, of classes that are none of Text, NullWritable, IntWritable and
// LongWritable, of two that have no text, and of a number of another length. Thread: any.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <hummer/batch/record_stream.hpp>
#include <hummer/status.hpp>

namespace hummer::hadoop {

class TextLines {
 public:
  static Result<TextLines> of(std::string_view key_class, std::string_view value_class,
                              std::string_view separator);

  Status append(const batch::RecordView& record, std::string& line) const;

 private:
  enum class Form : std::uint8_t { nothing, text, int32, int64 };

  static Result<Form> form_of(std::string_view class_name);
  static Status append(Form form, std::string_view content, std::string& line);

  Form key_ = Form::text;
  Form value_ = Form::text;
  std::string separator_;  // empty where one of them has no text
};

}  // namespace hummer::hadoop
