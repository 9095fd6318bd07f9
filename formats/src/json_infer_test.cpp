#include <gtest/gtest.h>

#include <hummer/formats/infer.hpp>

namespace hummer::formats::json_infer_test {
namespace {

std::string inferred(std::string_view text, bool whole = true) {
  const Result<std::string> found = infer_json(text, whole, "Order", "in.jsonl");
  return found.ok() ? *found : found.status().to_string();
}

TEST(InferJson, MembersOfAllObjectsBecomeFieldsAndNumbersWiden) {
  EXPECT_EQ(
      inferred(
          "{\"id\":1,\"price\":1,\"big\":1,\"wide\":-1,\"firm\":true,\"note\":\"x\",\"the "
          "class\":1}\n"
          "\n"
          "{\"id\":-2,\"price\":1.5,\"big\":18446744073709551615,\"wide\":18446744073709551615,"
          "\"firm\":false,\"note\":null,\"the class\":2,\"late\":3}\n"
          "[1]\n{\"id\":\n"),
      "// Of 2 objects of in.jsonl; 2 lines that can't be read are bad records.\n"
      "struct Order {\n"
      "  std::int64_t id = 0;\n"
      "  double price = 0;\n"
      "  std::uint64_t big = 0;\n"
      "  double wide = 0;\n"
      "  bool firm = false;\n"
      "  std::optional<std::string> note;\n"
      "  std::int64_t the_class = 0;\n"
      "  std::optional<std::int64_t> late;\n"
      "};\n"
      "template <>\n"
      "inline constexpr auto hummer::formats::field_names<Order> = hummer::formats::named(\n"
      "    \"id\", \"price\", \"big\", \"wide\", \"firm\", \"note\", \"the class\", \"late\");\n"
      "// hummer::formats::from_json<Order>(env, \"in.jsonl\");\n");
}

TEST(InferJson, ObjectsAreStructsAheadOfWhatHoldsThem) {
  EXPECT_EQ(inferred("{\"legs\":[{\"leg\":{\"x\":1}},{\"leg\":{\"x\":2.5},\"Leg\":1}],\"marks\":[1,"
                     "null],\"last\":null}\n"
                     "{\"legs\":[],\"marks\":[],\"last\":{\"x\":\"y\"}}"),
            "// Of 2 objects of in.jsonl.\n"
            "struct Leg_2 {\n  double x = 0;\n};\n"
            "struct Legs {\n  Leg_2 leg;\n  std::optional<std::int64_t> Leg;\n};\n"
            "struct Last {\n  std::string x;\n};\n"
            "struct Order {\n"
            "  std::vector<Legs> legs;\n"
            "  std::vector<std::optional<std::int64_t>> marks;\n"
            "  std::optional<Last> last;\n"
            "};\n"
            "// hummer::formats::from_json<Order>(env, \"in.jsonl\");\n");
}

TEST(InferJson, WhatCannotBeKnownIsSaid) {
  EXPECT_EQ(
      inferred("{\"a\":1,\"b\":null,\"c\":[],\"d\":{\"e\":1},\"f\":{\"g\":null},\"h\":[true]}\n"
               "{\"a\":1,\"b\":null,\"c\":[],\"d\":{\"e\":\"x\",\"i\":2},\"f\":{},\"h\":[]}\n"),
      "// Of 2 objects of in.jsonl.\n"
      "// \"b\" is left out: it was always null.\n"
      "// \"c\" is left out: its arrays were all empty.\n"
      "// \"d.e\" is left out: it was of several kinds: number (1), text (1).\n"
      "// \"f\" is left out: its objects had no members with a value.\n"
      "// \"h\" is left out: a std::vector of bool is none of records.\n"
      "struct D {\n  std::optional<std::int64_t> i;\n};\n"
      "struct Order {\n  std::int64_t a = 0;\n  D d;\n};\n"
      "// hummer::formats::from_json<Order>(env, \"in.jsonl\");\n");
}

TEST(InferJson, AnObjectOfWhichNothingIsKnownIsLeftOut) {
  EXPECT_EQ(inferred("{\"a\":1,\"b\":{\"c\":[1,\"x\"]}}\n"),
            "// Of 1 object of in.jsonl.\n"
            "// \"b.c[]\" is left out: it was of several kinds: number (1), text (1).\n"
            "struct Order {\n  std::int64_t a = 0;\n};\n"
            "// hummer::formats::from_json<Order>(env, \"in.jsonl\");\n");
}

TEST(InferJson, ALineThatIsCutIsLeftOut) {
  EXPECT_EQ(inferred("{\"a\":1}\n{\"a\":1.5}", false).find("double"), std::string::npos);
  EXPECT_NE(inferred("{\"a\":1}\n{\"a\":1.5}").find("double"), std::string::npos);
  EXPECT_NE(inferred("{\"a\":1}", false).find("no whole object"), std::string::npos);
  std::string deep = "{\"a\":";
  for (int i = 0; i < 200; ++i) deep += "[";
  for (int i = 0; i < 200; ++i) deep += "]";
  EXPECT_NE(inferred(deep + "}\n").find("no whole object"), std::string::npos);
}

}  // namespace
}  // namespace hummer::formats::json_infer_test
