#include "text_reader.hpp"

#include <gtest/gtest.h>

#include "split_input_for_test.hpp"

namespace hummer::batch::text_reader_test {
namespace {

std::vector<std::string> lines_of(const std::string& text, std::uint64_t begin, std::uint64_t end) {
  TextReader reader;
  EXPECT_TRUE(reader.open(std::make_unique<TextSplitForTest>(text, begin, end)).ok());
  std::vector<std::string> lines;
  for (;;) {
    const auto records = reader.next();
    EXPECT_TRUE(records.ok()) << records.status().to_string();
    if (!records.ok() || records->empty()) return lines;
    for (const RecordView& record : *records) {
      EXPECT_EQ(record.key_bytes, 8U);
      lines.emplace_back(record.value());
    }
  }
}

TEST(TextReader, CutsLines) {
  EXPECT_EQ(lines_of("a\n\nbc\r\nd", 0, 8), (std::vector<std::string>{"a", "", "bc", "d"}));
  EXPECT_EQ(lines_of("a\n", 0, 2), (std::vector<std::string>{"a"}));
  EXPECT_TRUE(lines_of("", 0, 0).empty());
}

// Wherever a text is cut, each of its lines belongs to one split.
TEST(TextReader, EachLineBelongsToOneSplit) {
  const std::string text = "first\n\nthe third line\nx\n\n\nlast, without an end";
  const std::vector<std::string> all = lines_of(text, 0, text.size());
  for (std::size_t one = 1; one < text.size(); ++one) {
    for (std::size_t other = one; other <= text.size(); ++other) {
      std::vector<std::string> lines = lines_of(text, 0, one);
      for (const std::string& line : lines_of(text, one, other)) lines.push_back(line);
      if (other < text.size()) {
        for (const std::string& line : lines_of(text, other, text.size())) lines.push_back(line);
      }
      EXPECT_EQ(lines, all) << one << ", " << other;
    }
  }
}

TEST(TextReader, TakesLinesLongerThanItsBuffer) {
  const std::string line(1'000'000, 'x');
  const std::vector<std::string> lines = lines_of("a\n" + line + "\nb\n", 0, line.size() + 5);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1], line);
  EXPECT_EQ(lines[2], "b");
}

TEST(TextReader, SaysWhereARecordIs) {
  TextReader reader;
  ASSERT_TRUE(reader.open(std::make_unique<TextSplitForTest>("ab\ncd\n", 0, 6)).ok());
  const auto records = reader.next();
  ASSERT_TRUE(records.ok());
  ASSERT_EQ(records->size(), 2U);
  EXPECT_EQ(reader.place_of((*records)[1]), "'text', line at byte 3");
}

}  // namespace
}  // namespace hummer::batch::text_reader_test
