#include "text_reader.hpp"

#include <gtest/gtest.h>

#include "split_input_for_test.hpp"

namespace hummer::batch::text_reader_test {
namespace {

using Lines = TextReader::Lines;

std::vector<std::string> lines_of(const std::string& text, std::uint64_t begin, std::uint64_t end,
                                  Lines form = Lines::plain) {
  TextReader reader(form);
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

TEST(TextReader, CutsLinesAsHadoopDoes) {
  const auto lines = [](const std::string& text) {
    return lines_of(text, 0, text.size(), Lines::hadoop);
  };
  EXPECT_EQ(lines("a\rb\r\nc\n\rd\r"), (std::vector<std::string>{"a", "b", "c", "", "d"}));
  EXPECT_EQ(lines("\xEF\xBB\xBF"
                  "a\n\xEF\xBB\xBF"),
            (std::vector<std::string>{"a", "\xEF\xBB\xBF"}));
  EXPECT_EQ(lines("\xEF\xBB"), (std::vector<std::string>{"\xEF\xBB"}));
  EXPECT_TRUE(lines("\xEF\xBB\xBF").empty());
  EXPECT_TRUE(lines("").empty());
}

TEST(TextReader, AMarkDoesNotMoveTheFirstLine) {
  TextReader reader(Lines::hadoop);
  ASSERT_TRUE(reader
                  .open(std::make_unique<TextSplitForTest>("\xEF\xBB\xBF"
                                                           "ab\ncd\n",
                                                           0, 9))
                  .ok());
  const auto records = reader.next();
  ASSERT_TRUE(records.ok());
  ASSERT_EQ(records->size(), 2U);
  EXPECT_EQ(reader.place_of((*records)[0]), "'text', line at byte 0");
  EXPECT_EQ(reader.place_of((*records)[1]), "'text', line at byte 6");
}

// Lines whose ends are at the end of a buffer, and those that "\r" alone ends.
TEST(TextReader, HadoopLinesDoNotDependOnBuffers) {
  std::string text;
  std::vector<std::string> expected;
  for (int i = 0; i < 400'000; ++i) {
    expected.emplace_back(static_cast<std::size_t>(i % 3), 'x');
    text += expected.back() + (i % 7 == 0 ? "\r\n" : "\r");
  }
  EXPECT_EQ(lines_of(text, 0, text.size(), Lines::hadoop), expected);
}

// Wherever a text is cut, each of its lines belongs to one split.
void expect_whole(const std::string& text, Lines form) {
  const std::vector<std::string> all = lines_of(text, 0, text.size(), form);
  for (std::size_t one = 1; one < text.size(); ++one) {
    for (std::size_t other = one; other <= text.size(); ++other) {
      std::vector<std::string> lines = lines_of(text, 0, one, form);
      for (const std::string& line : lines_of(text, one, other, form)) lines.push_back(line);
      if (other < text.size()) {
        for (const std::string& line : lines_of(text, other, text.size(), form)) {
          lines.push_back(line);
        }
      }
      EXPECT_EQ(lines, all) << one << ", " << other;
    }
  }
}

TEST(TextReader, EachLineBelongsToOneSplit) {
  expect_whole("first\n\nthe third line\nx\n\n\nlast, without an end", Lines::plain);
  expect_whole("first\r\rthe third\r\nx\n\r\n\nlast, without an end", Lines::hadoop);
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
