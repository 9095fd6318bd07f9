// The JSON decoder by itself, and both formats on the golden files of Python's csv and json
// modules: the same records in each, read by jobs from the machine's own disk.
#include "json_decoder.hpp"

#include <gtest/gtest.h>

#include <random>

#include <hummer/hummer.hpp>

#include "decoded_for_test.hpp"
#include "golden_for_test.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::formats::json_decoder_test {
namespace {

struct Golden {
  std::int64_t id = 0;
  std::string name;
  double price = 0;
  std::int32_t size = 0;
  bool firm = false;
  std::optional<std::string> note;
  friend bool operator==(const Golden&, const Golden&) = default;
};

std::vector<Golden> read(const std::string& name, const std::shared_ptr<const Format>& format,
                         const FileSourceOptions& file) {
  std::vector<Golden> records;
  EnvironmentOptions options;
  options.parallelism = 1;
  StreamExecutionEnvironment env(options);
  decode<Golden>(env.from_file(golden_path(name), file), format).for_each([&](const Golden& each) {
    records.push_back(each);
  });
  const JobResult result = env.execute("golden");
  EXPECT_TRUE(result.ok()) << result.status.to_string();
  return records;
}

// The module writes None and "" alike, and quotes the one that stands for nothing.
std::vector<Golden> without_notes_of_nothing(std::vector<Golden> records) {
  for (Golden& each : records) {
    if (each.note && (each.note->empty() || *each.note == "NULL")) each.note.reset();
  }
  return records;
}

TEST(GoldenFiles, OfPythonHaveTheSameRecordsInEachForm) {
  const std::vector<Golden> expected = read("records.jsonl", json(), {});
  ASSERT_EQ(expected.size(), 400u);
  const auto plain = without_notes_of_nothing(expected);
  const auto quoted = CsvOptions::LineBreaks::quoted;
  const CsvOptions excel{.line_breaks = quoted, .null_text = "NULL"};
  const CsvOptions tabs{
      .separator = '\t', .quote = '\'', .line_breaks = quoted, .null_text = "NULL"};
  for (const std::size_t block : {100, 1 << 16}) {
    const FileSourceOptions file{.split_size_bytes = 1000, .block_size_bytes = block};
    EXPECT_EQ(read("records.jsonl", json(), file), expected);
    for (const std::string name : {"excel.csv", "unix.csv"}) {
      EXPECT_EQ(without_notes_of_nothing(read(name, csv(excel), csv_file(excel, file))), plain)
          << name;
    }
    EXPECT_EQ(without_notes_of_nothing(read("tabs.csv", csv(tabs), csv_file(tabs, file))), plain);
  }
}

struct Part {
  std::string_view venue;
  std::optional<std::int16_t> size;
};
struct Fields {
  std::string_view name;
  std::optional<double> price;
  std::vector<std::string_view> list;
  Part part;
  std::vector<Part> parts;
};

// Lines that are nearly good.
std::string random_lines(std::mt19937_64& random) {
  static constexpr const char* members[] = {"\"name\":\"a\"",
                                            "\"name\":\"a\\nb\\u00e9\"",
                                            "\"price\":1.5",
                                            "\"price\":null",
                                            "\"price\":-0.12345678901234567e-3",
                                            "\"price\":12345678901234567890",
                                            "\"price\":1e400",
                                            "\"price\":01.5",
                                            "\"name\":\"\\ud83d\\ude00\"",
                                            "\"list\":[\"x\",\"y\"]",
                                            "\"list\":[]",
                                            "\"part\":{\"venue\":\"v\"}",
                                            "\"part\":{}",
                                            "\"parts\":[{\"venue\":\"v\",\"size\":3}]",
                                            "\"other\":{\"a\":[1,{}]}",
                                            "\"name\":1",
                                            "\"part\":{\"size\":99999,\"venue\":\"\"}",
                                            "\"na\\u006de\":\"c\"",
                                            "\"list\":[\"x\""};
  std::string text;
  for (std::size_t lines = random() % 12; lines > 0; --lines) {
    text += '{';
    for (std::size_t i = random() % 6; i > 0; --i) {
      text += members[random() % std::size(members)];
      if (i > 1) text += ',';
    }
    text += random() % 12 == 0 ? "" : "}";
    text += random() % 10 == 0 ? " \r\n\n" : random() % 30 == 0 ? "" : "\n";
  }
  for (std::size_t left = random() % 4; left > 0 && !text.empty(); --left) {
    const std::size_t at = random() % text.size();
    switch (random() % 3) {
      case 0: text[at] = "{}[]\",:\n\\ \xff"[random() % 11]; break;
      case 1: text.erase(at, random() % 5); break;
      default: text.insert(at, 1, "{}[]\",:\n\\ \t"[random() % 11]);
    }
  }
  return text;
}

TEST(JsonDecoder, ManyLinesAtOnceAndOneByOneAreTheSameRecords) {
  std::mt19937_64 random(1);
  std::size_t good = 0;
  std::size_t bad = 0;
  for (std::uint64_t i = 0; i < drawn_cases(20'000); ++i) {
    const std::string text = random_lines(random);
    const JsonOptions options{.refuse_missing_fields = random() % 3 == 0,
                              .refuse_unknown_fields = random() % 3 == 0};
    const auto encoder = json(options)->make_encoder(shape_of<Fields>());
    const auto show = [&](const Fields& fields) {
      std::string line;
      encoder->encode(&fields, line);
      return line;
    };
    JsonDecoder at_once(shape_of<Fields>(), options);
    JsonDecoder by_line(shape_of<Fields>(), options);
    const std::size_t limit = 1 + random() % 9;
    const DecodedText found = decode_all<Fields>(at_once, text, limit, true, show);
    const DecodedText expected = decode_all<Fields>(by_line, text, limit, false, show);
    ASSERT_EQ(found.records, expected.records) << text;
    ASSERT_EQ(found.bad, expected.bad) << text;
    good += found.records.size();
    bad += found.bad.size();
  }
  EXPECT_GT(good, bad / 4);
  EXPECT_GT(bad, good / 4);
}

}  // namespace
}  // namespace hummer::formats::json_decoder_test
