#include <hummer/formats/infer.hpp>

#include <gtest/gtest.h>

#include "avro_container.hpp"

namespace hummer::formats::infer_test {
namespace {

std::string inferred(std::string_view text, bool whole = true) {
  const Result<InferredCsv> found = infer_csv(text, whole);
  return found.ok() ? to_cpp(*found, "Trade", "in.csv") : found.status().to_string();
}

TEST(InferCsv, AColumnIsOfTheNarrowestKindOfItsFields) {
  EXPECT_EQ(inferred("symbol,price,size,firm,big,note,nothing\r\n"
                     "a,1.5,-3,true,18446744073709551615,,\r\n"
                     "\"b,c\",2,4,FALSE,1,\"x\",\r\n"),
            "// Of 2 rows of in.csv.\n"
            "struct Trade {\n"
            "  std::string symbol;\n"
            "  double price = 0;\n"
            "  std::int64_t size = 0;\n"
            "  bool firm = false;\n"
            "  std::uint64_t big = 0;\n"
            "  std::optional<std::string> note;\n"
            "  std::optional<std::string> nothing;\n"
            "};\n"
            "// hummer::formats::from_csv<Trade>(env, \"in.csv\");\n");
}

TEST(InferCsv, DialectAndNamesAreSaid) {
  EXPECT_EQ(inferred("Trade Symbol;class;2nd;\"a\"\"b\"\nx;\"1\n2\";3;4\nodd;row\n"),
            "// Of 2 rows of in.csv; 1 row of another number of fields are bad records.\n"
            "struct Trade {\n"
            "  std::string Trade_Symbol;\n"
            "  std::string class_;\n"
            "  std::int64_t column_2nd = 0;\n"
            "  std::int64_t a_b = 0;\n"
            "};\n"
            "template <>\n"
            "inline constexpr auto hummer::formats::field_names<Trade> = "
            "hummer::formats::named(\n"
            "    \"Trade Symbol\", \"class\", \"2nd\", \"a\\\"b\");\n"
            "// hummer::formats::from_csv<Trade>(env, \"in.csv\", {.separator = ';', .line_breaks "
            "= hummer::formats::CsvOptions::LineBreaks::quoted});\n");
  EXPECT_EQ(inferred("1\tx\n2\ty"),
            "// Of 2 rows of in.csv.\n"
            "struct Trade {\n"
            "  std::int64_t column1 = 0;\n"
            "  std::string column2;\n"
            "};\n"
            "// hummer::formats::from_csv<Trade>(env, \"in.csv\", {.header = false, .separator = "
            "'\\t'});\n");
}

TEST(InferCsv, ARowThatIsCutIsLeftOut) {
  const Result<InferredCsv> found = infer_csv("a,b\n1,2\n3,x", false);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->rows, 1u);
  EXPECT_EQ(found->columns[1].kind, ValueKind::i64);
  EXPECT_FALSE(infer_csv("", true).ok());
  EXPECT_FALSE(infer_csv("a,b", false).ok());
}

std::string inferred_of_schema(std::string_view schema) {
  const std::string head = make_avro_head(schema, AvroOptions::Codec::null);
  const Result<std::string> found = infer_avro(head, "Trade", "in.avro");
  return found.ok() ? *found : found.status().to_string();
}

TEST(InferAvro, ASchemaIsItsStructs) {
  EXPECT_EQ(inferred_of_schema(R"({"type":"record","name":"T","fields":[
        {"name":"id","type":"long"},{"name":"size","type":"int"},{"name":"firm","type":"boolean"},
        {"name":"price","type":["null","double"]},{"name":"class","type":"string"},
        {"name":"side","type":{"type":"enum","name":"Side","symbols":["buy","sell"]}},
        {"name":"legs","type":{"type":"array","items":{"type":"record","name":"Leg","fields":[
          {"name":"rate","type":"float"},{"name":"next","type":["null","Leg"]}]}}},
        {"name":"tags","type":{"type":"map","values":"bytes"}},
        {"name":"either","type":["int","string"]},{"name":"none","type":"null"}]})"),
            "// By the schema of in.avro.\n"
            "// \"legs[].next\" is left out: it is a record within itself.\n"
            "// \"either\" is left out: it is a union of several types.\n"
            "// \"none\" is left out: it is always null.\n"
            "struct Leg {\n"
            "  float rate = 0;\n"
            "};\n"
            "struct Tags {\n"
            "  std::string key;\n"
            "  std::string value;\n"
            "};\n"
            "struct Trade {\n"
            "  std::int64_t id = 0;\n"
            "  std::int32_t size = 0;\n"
            "  bool firm = false;\n"
            "  std::optional<double> price;\n"
            "  std::string class_;\n"
            "  std::string side;\n"
            "  std::vector<Leg> legs;\n"
            "  std::vector<Tags> tags;\n"
            "};\n"
            "template <>\n"
            "inline constexpr auto hummer::formats::field_names<Trade> = hummer::formats::named(\n"
            "    \"id\", \"size\", \"firm\", \"price\", \"class\", \"side\", \"legs\", \"tags\");\n"
            "// hummer::formats::from_avro<Trade>(env, \"in.avro\");\n");
}

TEST(InferAvro, WhatIsNoRecordIsRefused) {
  EXPECT_NE(inferred_of_schema(R"("long")").find("no record"), std::string::npos);
  EXPECT_FALSE(infer_avro("Obj\x01", "Trade", "in.avro").ok());
  const std::string head = make_avro_head(R"("long")", AvroOptions::Codec::null);
  EXPECT_FALSE(infer_avro(head.substr(0, head.size() - 1), "Trade", "in.avro").ok());
}

}  // namespace
}  // namespace hummer::formats::infer_test
