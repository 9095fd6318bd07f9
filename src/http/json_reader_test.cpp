#include "http/json_reader.hpp"

#include <gtest/gtest.h>

#include "base/json_writer.hpp"

namespace hummer::json_reader_test {
namespace {

JsonDocument read(std::string_view text) {
  Result<JsonDocument> document = JsonDocument::parse(text);
  EXPECT_TRUE(document.ok()) << document.status().to_string();
  return *std::move(document);
}

TEST(JsonReader, ReadsWhatTheWriterWrites) {
  JsonWriter json;
  json.begin_object();
  json.field("text", "a \"b\"\\\n\x01 \xc3\xa9");
  json.field("most", UINT64_MAX);
  json.field("least", INT64_MIN);
  json.field("yes", true);
  json.begin_array("list");
  json.element("x");
  json.element(7);
  json.end_array();
  json.end_object();
  const JsonDocument document = read(std::move(json).finish());
  const JsonValue root = document.root();
  EXPECT_EQ(root["text"].text(), "a \"b\"\\\n\x01 \xc3\xa9");
  EXPECT_EQ(root["most"].count(), UINT64_MAX);
  EXPECT_EQ(root["least"].number(), INT64_MIN);
  EXPECT_TRUE(root["yes"].boolean());
  ASSERT_EQ(root["list"].size(), 2U);
  EXPECT_EQ(root["list"][0].text(), "x");
  EXPECT_EQ(root["list"][1].number(), 7);
}

TEST(JsonReader, WhatIsMissingOrOfAnotherTypeIsEmpty) {
  const JsonDocument document = read(R"({"text": "7", "number": -7, "list": [1], "real": 1.5})");
  const JsonValue root = document.root();
  EXPECT_FALSE(root["nothing"].is_there());
  EXPECT_EQ(root["nothing"]["below"][3].text(), "");
  EXPECT_EQ(root["text"].number(), 0);
  EXPECT_EQ(root["number"].text(), "");
  EXPECT_EQ(root["number"].count(), 0U);
  EXPECT_EQ(root["real"].number(), 0);
  EXPECT_FALSE(root["number"].boolean());
  EXPECT_EQ(root["list"].size(), 1U);
  EXPECT_FALSE(root["list"][1].is_there());
  EXPECT_EQ(root["text"].size(), 0U);
}

TEST(JsonReader, RefusesWhatIsNoDocument) {
  for (const char* text : {"", "{", "{\"a\": }", "[1,]", "{} x", "nul", "\"\xff\""}) {
    EXPECT_EQ(JsonDocument::parse(text).status().code(), ErrorCode::protocol_error) << text;
  }
  const std::string deep(100'000, '[');
  EXPECT_FALSE(JsonDocument::parse(deep).ok());
}

}  // namespace
}  // namespace hummer::json_reader_test
