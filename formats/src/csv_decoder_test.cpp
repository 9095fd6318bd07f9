// The CSV decoder by itself: against the rules read byte by byte, at each room and instruction set,
// for golden files of Python's csv module and thousands of mutations of them.
#include "csv_decoder.hpp"

#include <gtest/gtest.h>

#include <random>

#include <hummer/detail/instruction_set.hpp>

#include "decoded_for_test.hpp"
#include "golden_for_test.hpp"
#include "number_text.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::formats::csv_decoder_test {
namespace {

// Marks of all dialects, and little else: every few bytes something happens.
std::string random_text(std::mt19937_64& random) {
  static constexpr std::string_view marks = ",;\"'\n\r,\"\n";
  const std::size_t size = random() % 300;
  std::string text;
  while (text.size() < size) {
    const std::size_t plain = random() % 12 == 0 ? random() % 90 : random() % 3;
    text.append(plain, static_cast<char>('a' + random() % 26));
    text.push_back(marks[random() % marks.size()]);
  }
  return text;
}

void expect_by_the_rules(const std::string& text, std::uint8_t drawn, std::size_t limit) {
  const CsvOptions options = csv_options_of(drawn);
  CsvDecoder decoder(shape_of<ThreeTexts>(), options);
  const DecodedText expected = read_plainly(text, options);
  const DecodedText found = decode_all<ThreeTexts>(decoder, text, limit, true, &show_texts);
  ASSERT_EQ(found.records, expected.records) << text;
  ASSERT_EQ(found.bad, expected.bad) << text;
  ASSERT_EQ(found.failed, expected.failed) << text;
}

TEST(CsvDecoder, AnyTextIsReadByTheRules) {
  std::mt19937_64 random(1);
  for (std::uint64_t i = 0; i < drawn_cases(20'000); ++i) {
    expect_by_the_rules(random_text(random), static_cast<std::uint8_t>(random()), 1 + random() % 9);
  }
}

// Of three of a golden file's columns.
TEST(CsvDecoder, MutationsOfGoldenFilesAreReadByTheRules) {
  std::mt19937_64 random(2);
  for (const std::string name : {"excel.csv", "unix.csv"}) {
    const std::string whole = golden_text(name);
    for (std::uint64_t i = 0; i < drawn_cases(10'000); ++i) {
      const std::size_t begin = random() % (whole.size() - 2000);
      std::string text = whole.substr(begin, 1 + random() % 2000);
      for (std::size_t left = random() % 6; left > 0 && !text.empty(); --left) {
        const std::size_t at = random() % text.size();
        switch (random() % 4) {
          case 0: text[at] = static_cast<char>(random()); break;
          case 1: text.erase(at, random() % 20); break;
          case 2: text.insert(at, text.substr(random() % text.size(), random() % 20)); break;
          default: text.insert(at, 1, ",\"\n\r"[random() % 4]);
        }
      }
      expect_by_the_rules(text, static_cast<std::uint8_t>(random() & 0x19), 1 + random() % 50);
    }
  }
}

// A row is longer than what is looked at at once.
TEST(CsvDecoder, LongRowsAndManyOfThemAreRead) {
  std::string text;
  for (const std::size_t size : {10, 16 << 10, 1, 100 << 10, 2 << 20, 3}) {
    text += "a,\"" + std::string(size, 'x') + "\n\"\"\"," + std::string(size, 'y') + "\n";
  }
  for (int i = 0; i < 5000; ++i) text += "a,b," + std::to_string(i) + "\n";
  for (const std::size_t limit : {1, 7, 1024, 100'000}) expect_by_the_rules(text, 8, limit);
}

TEST(CsvDecoder, AllInstructionSetsFindTheSame) {
  std::mt19937_64 random(3);
  const InstructionSet best = best_instruction_set();
  for (std::uint64_t i = 0; i < drawn_cases(5000); ++i) {
    const std::string text = random_text(random);
    const CsvMarks marks{
        .separator = ',', .quote = random() % 3 == 0 ? '\n' : '"', .one_line = random() % 2 == 0};
    const auto index = [&](CsvIndexer indexer) {
      std::vector<std::uint32_t> positions(text.size() + 128);
      std::vector<std::uint64_t> quotes(text.size() / 64 + 1);
      CsvIndex found{.positions = positions.data(), .quotes = quotes.data()};
      indexer(text.data(), text.size(), marks, found);
      positions.resize(found.count);
      return std::tuple(positions, found.rows, found.open, found.broken, found.has_quotes);
    };
    const auto expected = index(&index_csv_v2);
    if (best >= InstructionSet::v3) {
      ASSERT_EQ(index(&index_csv_v3), expected) << text;
    }
    if (best >= InstructionSet::v4) {
      ASSERT_EQ(index(&index_csv_v4), expected) << text;
    }
    ASSERT_EQ(index(csv_indexer()), expected);
  }
}

struct Golden {
  std::int64_t id = 0;
  std::string name;
  double price = 0;
  std::int32_t size = 0;
  bool firm = false;
  std::optional<std::string> note;
};

template <typename Number>
void expect_as_the_library(const std::string& text) {
  // The text ends at the end of its memory, and as much as is said may be read before that.
  const std::string before = "77777777777777777777";
  for (const std::size_t readable : {std::size_t{0}, text.size() + 20}) {
    const std::string all = (readable == 0 ? "" : before) + text;
    Number fast = 0;
    Number slow = 0;
    const bool is_number =
        parse_by_library(all.data() + all.size() - text.size(), text.size(), slow);
    bool found = false;
    const char* const begin = all.data() + all.size() - text.size();
    if constexpr (std::is_floating_point_v<Number>) {
      found = parse_real(begin, text.size(), readable, fast);
    } else {
      found = parse_integer(begin, text.size(), readable, fast);
    }
    ASSERT_EQ(found, is_number && !text.empty()) << text;
    if (found) {
      ASSERT_EQ(std::memcmp(&fast, &slow, sizeof fast), 0) << text;
    }
  }
}

TEST(CsvDecoder, NumbersAreWhatTheLibraryMakesOfThem) {
  std::mt19937_64 random(4);
  static constexpr std::string_view characters = "0123456789.-e+ i";
  for (std::uint64_t i = 0; i < drawn_cases(300'000); ++i) {
    std::string text(random() % 20, ' ');
    const bool plain = random() % 3 != 0;
    for (char& c : text) c = characters[random() % (plain ? 10 : characters.size())];
    if (!text.empty() && random() % 2 == 0) text[random() % text.size()] = '.';
    if (!text.empty() && random() % 4 == 0) text[0] = '-';
    expect_as_the_library<double>(text);
    expect_as_the_library<std::int64_t>(text);
    expect_as_the_library<std::uint64_t>(text);
    expect_as_the_library<std::int16_t>(text);
    expect_as_the_library<std::uint8_t>(text);
  }
}

struct AllKinds {
  std::int64_t id = 0;
  double price = 0;
  std::string_view symbol;
  std::uint32_t count = 0;
  std::int32_t change = 0;
  std::uint64_t total = 0;
  std::string note;
  std::int16_t small = 0;
  float share = 0;
  bool firm = false;
  std::optional<std::int64_t> maybe;
};

// A value of a column, now and then one that it can't hold.
std::string drawn_value(std::size_t column, std::mt19937_64& random) {
  if (random() % 400 == 0) return std::string(random() % 30, '9') + (random() % 2 == 0 ? "x" : "");
  const std::string number = std::to_string(random() % 30'000);
  switch (column) {
    case 1:
    case 8: return "-" + number + "." + std::to_string(random() % 1000);
    case 2:
    case 6: return random() % 200 == 0 ? "\"a,\"\"b\"\"\"" : std::string(random() % 20, 'n');
    case 4: return "-" + number;
    case 9: return random() % 2 == 0 ? "true" : "0";
    case 10: return random() % 3 == 0 ? "" : number;
    default: return number;
  }
}

// Rows that are read together, which is column by column, and each by itself, which is not.
TEST(CsvDecoder, RowsAreReadTogetherAsEachIsByItself) {
  std::mt19937_64 random(6);
  const CsvOptions options{.header = false};
  const auto encoder = csv(options)->make_encoder(shape_of<AllKinds>());
  const auto show = [&](const AllKinds& each) {
    std::string line;
    encoder->encode(&each, line);
    return line;
  };
  for (std::uint64_t i = 0; i < drawn_cases(200); ++i) {
    const std::string line_end = random() % 2 == 0 ? "\n" : "\r\n";
    CsvDecoder by_itself(shape_of<AllKinds>(), options);
    std::string text;
    DecodedText expected;
    for (std::uint64_t row = random() % 700; row > 0; --row) {
      std::string line;
      const std::size_t columns = random() % 300 == 0 ? random() % 14 : 11;
      for (std::size_t c = 0; c < columns; ++c)
        line += (c == 0 ? "" : ",") + drawn_value(c, random);
      const DecodedText one = decode_all<AllKinds>(by_itself, line, 1, true, show);
      if (!one.bad.empty()) expected.bad.push_back(text.size());
      expected.records.insert(expected.records.end(), one.records.begin(), one.records.end());
      text += line + line_end;
    }
    if (random() % 2 == 0) text.resize(text.size() - std::min(text.size(), line_end.size()));
    CsvDecoder together(shape_of<AllKinds>(), options);
    const DecodedText found = decode_all<AllKinds>(together, text, 1 + random() % 300, true, show);
    ASSERT_EQ(found.bad, expected.bad);
    ASSERT_EQ(found.records, expected.records);
    ASSERT_FALSE(found.failed);
  }
}

// What is written is read again as it was, in every dialect that can say it.
TEST(CsvDecoder, WhatIsWrittenIsReadAgain) {
  std::mt19937_64 random(5);
  const auto text_of = [&] { return random() % 4 == 0 ? std::string() : random_text(random); };
  for (std::uint64_t i = 0; i < drawn_cases(500); ++i) {
    CsvOptions options{.header = random() % 2 == 0,
                       .separator = random() % 2 == 0 ? ',' : '\t',
                       .quote = random() % 2 == 0 ? '"' : '\'',
                       .line_breaks = CsvOptions::LineBreaks::quoted};
    if (random() % 2 == 0) options.null_text = "-";
    std::vector<Golden> records(random() % 20);
    const auto format = csv(options);
    const auto encoder = format->make_encoder(shape_of<Golden>());
    std::string text = format->head(shape_of<Golden>());
    for (Golden& each : records) {
      const std::uint64_t bits = random();
      std::memcpy(&each.price, &bits, sizeof bits);
      if (each.price != each.price) each.price = 1e300;
      each = {static_cast<std::int64_t>(random()), text_of(),         each.price,
              static_cast<std::int32_t>(random()), random() % 2 == 0, {}};
      if (random() % 2 == 0) each.note = random() % 3 == 0 ? "-" : text_of();
      encoder->encode(&each, text);
    }
    CsvDecoder decoder(shape_of<Golden>(), options);
    std::vector<std::string> shown;
    for (const Golden& each : records) {
      shown.emplace_back();
      encoder->encode(&each, shown.back());
    }
    const DecodedText found = decode_all<Golden>(decoder, text, 7, true, [&](const Golden& each) {
      std::string line;
      encoder->encode(&each, line);
      return line;
    });
    ASSERT_EQ(found.records, shown);
    ASSERT_TRUE(found.bad.empty() && !found.failed);
  }
}

}  // namespace
}  // namespace hummer::formats::csv_decoder_test
