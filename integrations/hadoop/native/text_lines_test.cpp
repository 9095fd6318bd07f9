#include "text_lines.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace hummer::hadoop {
namespace {

const std::string package = "org.apache.hadoop.io.";

std::string line_of(const std::string& key_class, std::string_view key,
                    const std::string& value_class, std::string_view value,
                    std::string_view separator = "\t") {
  const auto lines = TextLines::of(package + key_class, package + value_class, separator);
  if (!lines.ok()) return "refused: " + lines.status().to_string();
  std::string line;
  const Status status =
      lines->append({key.data(), value.data(), static_cast<std::uint32_t>(key.size()),
                     static_cast<std::uint32_t>(value.size())},
                    line);
  return status.ok() ? line : "failed: " + status.to_string();
}

std::string number(std::uint64_t value, int bytes) {
  std::string content;
  for (int i = bytes - 1; i >= 0; --i) content.push_back(static_cast<char>(value >> (8 * i)));
  return content;
}

TEST(TextLines, TheSeparatorIsBetweenTwoTexts) {
  EXPECT_EQ(line_of("Text", "a b", "Text", "c"), "a b\tc");
  EXPECT_EQ(line_of("Text", "", "Text", ""), "\t");
  EXPECT_EQ(line_of("Text", "a", "Text", "b", " -> "), "a -> b");
  EXPECT_EQ(line_of("Text", "a", "Text", "b", ""), "ab");
}

TEST(TextLines, WhatHasNoTextHasNoSeparator) {
  EXPECT_EQ(line_of("NullWritable", "", "Text", "b"), "b");
  EXPECT_EQ(line_of("Text", "a", "NullWritable", ""), "a");
  EXPECT_NE(line_of("NullWritable", "", "NullWritable", "").find("neither"), std::string::npos);
}

TEST(TextLines, NumbersAreDecimalAsJavaHasThem) {
  EXPECT_EQ(line_of("IntWritable", number(0, 4), "LongWritable", number(0, 8)), "0\t0");
  EXPECT_EQ(line_of("IntWritable", number(0xFFFFFFFF, 4), "LongWritable", number(~0ULL, 8)),
            "-1\t-1");
  EXPECT_EQ(line_of("IntWritable", number(0x80000000, 4), "LongWritable", number(1ULL << 63, 8)),
            "-2147483648\t-9223372036854775808");
  EXPECT_EQ(line_of("Text", "n", "LongWritable", number(1'234'567'890'123, 8)), "n\t1234567890123");
}

TEST(TextLines, WhatIsNotThereIsSaid) {
  EXPECT_NE(line_of("LongWritable", "short", "Text", "").find("a number of 8 bytes has 5"),
            std::string::npos);
  EXPECT_NE(line_of("BytesWritable", "a", "Text", "b").find("BytesWritable has no native form"),
            std::string::npos);
}

}  // namespace
}  // namespace hummer::hadoop
