// Records as JSON: what the golden files (formats/testing/record_commands) do not have.
#include <hummer/formats/look.hpp>

#include <gtest/gtest.h>

#include "avro_json.hpp"
#include "golden_for_test.hpp"
#include "protobuf_json.hpp"
#include "varint.hpp"

namespace hummer::formats::look_test {
namespace {

using namespace std::string_literals;

std::string shown(const std::string& schema_text, const std::string& bytes,
                  std::size_t most = largest_shown_record) {
  const Result<AvroSchema> schema = AvroSchema::parse(schema_text);
  EXPECT_TRUE(schema.ok()) << schema.status().to_string();
  // No byte behind them is read, which the sanitizers see.
  const auto copy = std::make_unique<char[]>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), copy.get());
  AvroJson json(most);
  const char* const end = copy.get() + bytes.size();
  json.begin(end);
  std::string text = "x";
  const char* const behind = json.append(schema->root(), copy.get(), text);
  if (behind == nullptr) return json.why();
  EXPECT_EQ(behind, end);
  return text.substr(1);
}

std::string number(std::int64_t value) {
  std::string bytes;
  append_varint(folded(value), bytes);
  return bytes;
}

std::string logical(const char* type, const char* name) {
  return "{\"type\":\""s + type + "\",\"logicalType\":\"" + name + "\",\"scale\":2}";
}

TEST(AvroJson, LogicalTypesAreShownAsWhatTheyMean) {
  EXPECT_EQ(shown(logical("int", "date"), number(-719'529)), "-719529") << "31 December -1";
  EXPECT_EQ(shown(logical("int", "date"), number(-719'528)), "\"0000-01-01\"");
  EXPECT_EQ(shown(logical("int", "date"), number(INT32_MAX)), "2147483647");
  EXPECT_EQ(shown(logical("long", "date"), number(1)), "1") << "a date is an int";
  EXPECT_EQ(shown(logical("long", "timestamp-nanos"), number(-1)),
            "\"1969-12-31T23:59:59.999999999Z\"");
  EXPECT_EQ(shown(logical("long", "timestamp-millis"), number(INT64_MIN)), "-9223372036854775808");
  EXPECT_EQ(shown(logical("long", "local-timestamp-millis"), number(253'402'300'799'999)),
            "\"9999-12-31T23:59:59.999\"");
  EXPECT_EQ(shown(logical("int", "time-millis"), number(86'400'000)), "86400000");
  EXPECT_EQ(shown(logical("long", "time-micros"), number(-1)), "-1");
  EXPECT_EQ(shown(logical("bytes", "decimal"), number(2) + "\xff\x7f"), "\"-1.29\"");
  EXPECT_EQ(shown(logical("bytes", "decimal"), number(2) + "\x80\0"s), "\"-327.68\"");
  EXPECT_EQ(shown(logical("bytes", "decimal"), number(1) + "\x05"), "\"0.05\"");
  EXPECT_EQ(shown(logical("bytes", "decimal"), number(0)), "\"\"") << "no number at all";
  const std::string fixed = R"({"type":"fixed","name":"F","size":)";
  EXPECT_EQ(shown(fixed + R"(12,"logicalType":"duration"})", "\1\0\0\0\2\0\0\0\xff\0\0\0"s),
            R"({"months":1,"days":2,"milliseconds":255})");
  EXPECT_EQ(shown(fixed + R"(16,"logicalType":"uuid"})", std::string(15, '\0') + "\xab"),
            "\"00000000-0000-0000-0000-0000000000ab\"");
  EXPECT_EQ(shown(fixed + R"(1,"logicalType":"uuid"})", "\xe4"), "\"\u00e4\"");
}

TEST(AvroJson, TextsAreJsonWhateverTheyHold) {
  EXPECT_EQ(shown("\"string\"", number(6) + "a\"\n\xff\xc3\xa4"), "\"a\\\"\\u000a\ufffd\u00e4\"");
  EXPECT_EQ(shown("\"string\"", number(1) + "\xc3"), "\"\ufffd\"");
  EXPECT_EQ(shown("\"bytes\"", number(3) + "\0a\x80"s), "\"\\u0000a\u0080\"");
  EXPECT_EQ(shown("\"float\"", "\0\0\xc0\x7f"s), "\"NaN\"");
}

TEST(AvroJson, WhatMakesNoSenseIsSaidByItsField) {
  const std::string schema =
      R"({"type":"record","name":"R","fields":[{"name":"in","type":{"type":"record","name":"I",)"
      R"("fields":[{"name":"flag","type":"boolean"},{"name":"side","type":{"type":"enum","name":)"
      R"("S","symbols":["a"]}},{"name":"u","type":["null","int"]},{"name":"l","type":)"
      R"({"type":"array","items":"int"}}]}}]})";
  EXPECT_EQ(shown(schema, "\1\0\0\0"s), R"({"in":{"flag":true,"side":"a","u":null,"l":[]}})");
  EXPECT_EQ(shown(schema, ""), "'in.flag': the data ends inside of it");
  EXPECT_EQ(shown(schema, "\2"), "'in.flag': the boolean is neither 0 nor 1");
  EXPECT_EQ(shown(schema, "\1\2"), "'in.side': the enum has no such symbol");
  EXPECT_EQ(shown(schema, "\1\0\4"s), "'in.u': the union has no such branch");
  EXPECT_EQ(shown(schema, "\1\0\2\xff\xff\xff\xff\x1f\0"s), "'in.u': the number is no int");
  EXPECT_EQ(shown(schema, "\1\0\0\2"s),
            "'in.l': what stands there is no number, or the data ends inside of it");
  EXPECT_EQ(shown("\"bytes\"", "\4x"), "the data ends inside of it");
  EXPECT_EQ(shown("\"bytes\"", "\1"), "the data ends inside of it") << "a size below 0";
  // A few bytes that say that there is a great deal, and values within themselves.
  const std::string nulls = R"({"type":"array","items":"null"})";
  EXPECT_EQ(shown(nulls, number(INT64_MAX), 1000), "the record is too long");
  EXPECT_EQ(shown(nulls, number(INT64_MIN) + number(0), 1000), "the record is too long");
  const std::string list =
      R"({"type":"record","name":"L","fields":[{"name":"next","type":["null","L"]}]})";
  EXPECT_EQ(shown(list, "\2\2\0"s), R"({"next":{"next":{"next":null}}})");
  EXPECT_TRUE(shown(list, std::string(100'000, '\2')).ends_with("': values are nested too deeply"));
}

class ProtobufAsJson : public ::testing::Test {
 protected:
  // Of golden.Everything, but for what is empty there.
  std::string shown(const std::string& bytes, const char* member,
                    const char* message = "golden.Everything", std::size_t most = 1 << 20) {
    ProtobufJson json(*schema, *schema->find(message), most);
    EXPECT_TRUE(json.check().ok()) << json.check().to_string();
    const auto copy = std::make_unique<char[]>(bytes.size());
    std::copy(bytes.begin(), bytes.end(), copy.get());
    std::string text;
    if (!json.append({copy.get(), bytes.size()}, text)) return json.why();
    const std::string name = "\""s + member + "\":";
    const std::size_t at = text.find(name);
    if (at == std::string::npos) return "none";
    // Up to the next member of the message.
    std::size_t end = at + name.size();
    for (int depth = 0; depth > 0 || (text[end] != ',' && text[end] != '}'); ++end) {
      if (text[end] == '{' || text[end] == '[') ++depth;
      if (text[end] == '}' || text[end] == ']') --depth;
    }
    return text.substr(at + name.size(), end - at - name.size());
  }

  const Result<ProtoSchema> schema = read_descriptor_set(golden_text("golden.desc"));
};

TEST_F(ProtobufAsJson, TheLastValueCountsAndMessagesAreMerged) {
  EXPECT_EQ(shown("\x08\x01\x08\x02", "i32"), "2");
  EXPECT_EQ(shown("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "i32"), "-1");
  EXPECT_EQ(shown("", "i32"), "0");
  EXPECT_EQ(shown("\x80\x01\x05", "side"), "5") << "a value without a name";
  EXPECT_EQ(shown("\x92\x01\x03\x0a\x01x\x92\x01\x02\x10\x07", "maybe"),
            R"({"venue":"x","lots":[7]})");
  EXPECT_EQ(shown("", "maybe"), "none");
  // Of a oneof that of the last member: number, word, number again.
  const std::string number("\xc0\x01\x05", 3), word("\xca\x01\x01w", 4);
  EXPECT_EQ(shown(number + word, "number"), "none");
  EXPECT_EQ(shown(number + word, "word"), "\"w\"");
  EXPECT_EQ(shown(number + word + number, "word"), "none");
  EXPECT_EQ(shown("\xba\x01\x05\x0a\x01k\x10\x01\xba\x01\x05\x0a\x01k\x10\x02", "counts"),
            R"({"k":2})");
  EXPECT_EQ(shown("\xba\x01\0"s, "counts"), R"({"":0})");
}

TEST_F(ProtobufAsJson, ListsAreReadPackedOrNotAndOthersPassedOver) {
  EXPECT_EQ(shown("\xa2\x01\x02\x01\x02\xa0\x01\x03", "packed"), "[-1,1,-2]");
  EXPECT_EQ(shown("\xaa\x01\x01\x07", "unpacked"), "[7]");
  EXPECT_EQ(shown("\x0d\x01\x02\x03\x04", "i32"), "0") << "of another type";
  EXPECT_EQ(shown("\xf8\x3f\x01\xfb\x3f\x08\x01\xfc\x3f\x08\x09", "i32"), "9") << "unknown fields";
  EXPECT_EQ(shown("\x08\x01\x43\x48\x05\x44\x43\x44", "extra", "golden.Older"),
            R"([{"more":5},{}])");
}

TEST_F(ProtobufAsJson, WhatMakesNoSenseIsSaidByItsField) {
  EXPECT_EQ(shown("\x08", "i32"), "'i32': what stands there is no number, or the message ends");
  EXPECT_EQ(shown("\x72\x05x", "text"), "'text': the message ends inside of it");
  EXPECT_EQ(shown("\x92\x01\x02\x0a\x05", "maybe"), "'maybe.venue': the message ends inside of it");
  EXPECT_EQ(shown("\xff", "i32"), "there is no field's number");
  EXPECT_EQ(shown("\x02\x01", "i32"), "a field has the number 0");
  EXPECT_EQ(shown("\x0f", "i32"), "'i32': a field is of no type that there is");
  EXPECT_EQ(shown("\xfb\x3f", "i32"), "the message ends inside of a group");
  EXPECT_EQ(shown("\x72\x03x\xff\xc3", "text"), "\"x\ufffd\ufffd\"");
  EXPECT_EQ(shown("", "x", "golden.Older"), "'id': it is required, and missing");
  EXPECT_EQ(shown(std::string(100, '\x9a') + "x", "x", "golden.Everything"),
            "there is no field's number");
  std::string parts;
  for (int i = 0; i < 1000; ++i) parts += "\x9a\x01\0"s;
  EXPECT_EQ(shown(parts, "parts", "golden.Everything", 1000), "'parts': the record is too long");
  std::string within;
  for (int i = 0; i < 300; ++i) {
    std::string outer = "\x1a";
    append_varint(within.size(), outer);
    within = outer + within;
  }
  EXPECT_TRUE(shown(within, "x", "golden.Part").ends_with("': messages are nested too deeply"));
}

TEST_F(ProtobufAsJson, MessagesThatTheDescriptorsLackAreRefused) {
  ProtoSchema other = *schema;
  other.messages.erase("golden.Part");
  const Status status = ProtobufJson(other, *other.find("golden.Everything")).check();
  EXPECT_EQ(status.code(), ErrorCode::invalid_argument);
  EXPECT_NE(status.message().find("golden.Everything.part is a golden.Part, which is not in"),
            std::string::npos)
      << status.to_string();
}

}  // namespace
}  // namespace hummer::formats::look_test
