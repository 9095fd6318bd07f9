#include "base/configuration.hpp"

#include <gtest/gtest.h>

namespace hummer::configuration_test {
namespace {

using Type = ConfigurationValue::Type;

TEST(Configuration, EntriesKeepTheirPlaceAndType) {
  const auto parsed = parse_configuration(
      "# for all jobs\n[job]\nparallelism = 4\nquiet = true\n\n [ \"jobmanager\" ] # here\n"
      "listen = \"a:1\"\ndata = [ # two\n  \"x\",\n  'y',\n]\nfactor = 1.5",
      "h.toml");
  ASSERT_TRUE(parsed.ok()) << parsed.status().to_string();
  ASSERT_EQ(parsed->tables.size(), 2U);
  EXPECT_EQ(parsed->tables[1].name, "jobmanager");
  EXPECT_EQ(parsed->tables[1].line, 6);
  ASSERT_EQ(parsed->entries.size(), 5U);
  EXPECT_EQ(parsed->entries[0].key, "parallelism");
  EXPECT_EQ(parsed->entries[0].values[0].type, Type::integer);
  EXPECT_EQ(parsed->place(parsed->entries[0].line), "h.toml:3");
  EXPECT_EQ(parsed->entries[1].values[0].type, Type::on_off);
  EXPECT_EQ(parsed->entries[2].table, "jobmanager");
  EXPECT_TRUE(parsed->entries[3].is_list);
  ASSERT_EQ(parsed->entries[3].values.size(), 2U);
  EXPECT_EQ(parsed->entries[3].values[1].text, "y");
  EXPECT_EQ(parsed->entries[4].values[0].type, Type::decimal);
  EXPECT_EQ(parsed->entries[4].line, 12);
}

// The text of the value, or why there is none.
std::string value_of(std::string_view text) {
  const auto parsed = parse_configuration("[job]\nx = " + std::string(text) + "\n", "h.toml");
  return parsed.ok() ? parsed->entries.at(0).values.at(0).text : parsed.status().to_string();
}

TEST(Configuration, ValuesAreThoseOfToml) {
  EXPECT_EQ(value_of("+1_000"), "1000");
  EXPECT_EQ(value_of("-0"), "0");
  EXPECT_EQ(value_of("0xFf"), "255");
  EXPECT_EQ(value_of("0b101"), "5");
  EXPECT_EQ(value_of("6.25e-1"), "6.25e-1");
  EXPECT_EQ(value_of("\"a\\t\\\"\\u00e9\\U0001F600\""), "a\t\"\xC3\xA9\xF0\x9F\x98\x80");
  EXPECT_EQ(value_of("'C:\\temp'"), "C:\\temp");
  EXPECT_EQ(value_of("\"\" # empty"), "");
  EXPECT_EQ(value_of("\"a # b\""), "a # b");
}

TEST(Configuration, WhatIsNoValueIsRefused) {
  for (const char* text : {"01",
                           "1__0",
                           "_1",
                           "1_",
                           ".5",
                           "5.",
                           "1e",
                           "0x",
                           "0x-1",
                           "--1",
                           "+-1",
                           "inf",
                           "nan",
                           "True",
                           "9223372036854775808",
                           "1979-05-27",
                           "07:32:00",
                           "a",
                           "",
                           "=",
                           "[[1]]",
                           "{ y = 1 }",
                           "\"a",
                           "'a",
                           "\"\"\"a\"\"\"",
                           "'''a'''",
                           "\"\\x\"",
                           "\"\\u12\"",
                           "\"\\ud800\"",
                           "\"\\U00110000\"",
                           "1 2",
                           "[1",
                           "[1 2]",
                           "[,]",
                           "\"\xFF\"",
                           "\"a\x01\"",
                           "\"\x7f\""}) {
    EXPECT_TRUE(value_of(text).starts_with("E1001: h.toml:")) << text << ": " << value_of(text);
  }
}

std::string refusal(std::string_view text) {
  return parse_configuration(text, "h.toml").status().to_string();
}

TEST(Configuration, MistakesAreNamedByLine) {
  EXPECT_EQ(refusal("[job]\nparallelism 4\n"),
            "E1001: h.toml:2: expected '=' behind 'parallelism', found '4'");
  EXPECT_TRUE(refusal("\nparallelism = 4\n").starts_with("E1001: h.toml:2: 'parallelism' stands"));
  EXPECT_EQ(refusal("[job]\nx = 1\nx = 2\n"), "E1001: h.toml:3: 'x' is in [job] twice");
  EXPECT_EQ(refusal("[job]\n\n[job]"),
            "E1001: h.toml:3: the table [job] is there already, in line 1");
  EXPECT_EQ(refusal("[job]\na.b = 1\n"),
            "E1001: h.toml:2: a dotted key: write its table as [TABLE] above it");
  EXPECT_TRUE(refusal("[[job]]\n").starts_with("E1001: h.toml:1: [[...]] has no meaning"));
  EXPECT_TRUE(refusal("[job.x]\n").starts_with("E1001: h.toml:1: tables have one level"));
  EXPECT_EQ(refusal("[job\n"), "E1001: h.toml:1: expected ']' behind '[job', found the line's end");
  EXPECT_TRUE(refusal("[&").starts_with("E1001: h.toml:1: expected a table's name, found '&'"));
  EXPECT_EQ(refusal("[job]\n[\r\r"),
            "E1001: h.toml:2: expected a table's name, found the byte 0x0d");
  EXPECT_EQ(refusal("[job]\r\nparallelism = 4\r\n"), "ok");
  EXPECT_EQ(refusal("\xEF\xBB\xBF# from elsewhere\n"), "ok");
  EXPECT_EQ(refusal(""), "ok");
  EXPECT_EQ(refusal(std::string(1, '\0')), "E1001: h.toml:1: expected a key, found the byte 0x00");
  EXPECT_TRUE(refusal("[job]\nx = [\n1,\n\n").starts_with("E1001: h.toml:5: a list has no end"));
  EXPECT_TRUE(refusal(std::string(2 << 20, '#')).starts_with("E1001: h.toml: 2097152 bytes"));
}

}  // namespace
}  // namespace hummer::configuration_test
