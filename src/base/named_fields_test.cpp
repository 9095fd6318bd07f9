// Types that name their fields: what one version of a program reads of another's.
#include <gtest/gtest.h>

#include <hummer/codec.hpp>

#include "base/type_grammar.hpp"
#include "base/value_json.hpp"

namespace hummer {
namespace {

enum class Colour : std::uint8_t { red, green };

namespace first {
struct Part {
  static constexpr std::string_view evolving = "shop.Part";
  static constexpr auto fields = hummer::fields("number", "weight");
  std::uint16_t number = 0;
  float weight = 0;
  friend bool operator==(const Part&, const Part&) = default;
};
struct Order {
  static constexpr std::string_view evolving = "shop.Order";
  static constexpr auto fields =
      hummer::fields("id", "note", "colour", "parts", "cents", "gone", "best");
  std::int8_t id = 0;
  std::string note;
  Colour colour = Colour::red;
  std::vector<Part> parts;
  std::uint32_t cents = 0;
  std::vector<std::optional<std::pair<std::string, std::array<std::int32_t, 2>>>> gone;
  std::optional<Part> best;
};
}  // namespace first
namespace second {
struct Part {
  static constexpr std::string_view evolving = "shop.Part";
  static constexpr auto fields = hummer::fields("weight", "unit", "number");
  double weight = 0;
  std::string unit = "kg";
  std::int32_t number = 0;
};
struct Order {
  static constexpr std::string_view evolving = "shop.Order";
  static constexpr auto fields =
      hummer::fields("urgent", "best", "cents", "parts", "colour", "note", "id");
  bool urgent = true;
  std::optional<Part> best;
  std::int64_t cents = -1;
  std::vector<Part> parts;
  Colour colour = Colour::red;
  std::string note;
  std::int64_t id = 0;
};
}  // namespace second

template <typename From, typename To>
bool carry_by_names(const From& from, To& to) {
  std::string bytes;
  ByteWriter out(bytes);
  Codec<From>::encode(from, out);
  const std::vector<StateDescription> saved = {{"s", "value<" + Codec<From>::name() + ">"}};
  const std::vector<StateDescription> own = {{"s", "value<" + Codec<To>::name() + ">"}};
  if (!check_states(saved, own).ok()) return false;
  const detail::SavedLayouts layouts(saved, own);
  ByteReader in(out.view());
  if (!layouts.empty()) in.set_layouts(&layouts);
  return Codec<To>::decode(in, to) && in.left() == 0;
}

first::Order an_order() {
  return {-3,
          "soon",
          Colour::green,
          {{7, 0.5f}, {65535, 2}},
          4000000000U,
          {std::nullopt, std::pair(std::string("x"), std::array<std::int32_t, 2>{1, 2})},
          first::Part{9, 1.5f}};
}

TEST(NamedFields, StandInTheNameAndNotInValues) {
  EXPECT_EQ(Codec<first::Part>::name(), "shop.Part#{number:u16,weight:f32}");
  std::string bytes;
  ByteWriter out(bytes);
  Codec<first::Part>::encode({1, 2}, out);
  EXPECT_EQ(out.size(), 6U);
  EXPECT_FALSE(is_bitwise<first::Part>);
}

TEST(NamedFields, AreAddedRemovedReorderedAndWidened) {
  second::Order now;
  now.note = "of an earlier use";
  ASSERT_TRUE(carry_by_names(an_order(), now));
  EXPECT_TRUE(now.urgent);
  EXPECT_EQ(now.id, -3);
  EXPECT_EQ(now.note, "soon");
  EXPECT_EQ(now.colour, Colour::green);
  EXPECT_EQ(now.cents, 4000000000);
  ASSERT_EQ(now.parts.size(), 2U);
  EXPECT_EQ(now.parts[1].number, 65535);
  EXPECT_EQ(now.parts[1].weight, 2.0);
  EXPECT_EQ(now.parts[1].unit, "kg");
  ASSERT_TRUE(now.best.has_value());
  EXPECT_EQ(now.best->number, 9);
}

TEST(NamedFields, AreReadAsTheyAreWhereNothingChanged) {
  first::Order same;
  ASSERT_TRUE(carry_by_names(an_order(), same));
  EXPECT_EQ(same.parts, an_order().parts);
  EXPECT_EQ(same.gone, an_order().gone);
}

TEST(NamedFields, BytesThatEndEarlyAreRefused) {
  std::string bytes;
  ByteWriter out(bytes);
  Codec<first::Order>::encode(an_order(), out);
  const std::vector<StateDescription> saved = {{"s", "value<" + Codec<first::Order>::name() + ">"}};
  const std::vector<StateDescription> own = {{"s", "value<" + Codec<second::Order>::name() + ">"}};
  const detail::SavedLayouts layouts(saved, own);
  for (std::size_t size = 0; size < out.size(); ++size) {
    ByteReader in(out.view().substr(0, size));
    in.set_layouts(&layouts);
    second::Order order;
    EXPECT_FALSE(Codec<second::Order>::decode(in, order)) << size;
  }
}

std::string refusal(std::string saved, std::string own) {
  return check_states({{"s", std::move(saved)}}, {{"s", std::move(own)}}).message();
}

TEST(NamedFields, RefusalsNameStateFieldAndTypes) {
  const std::string narrow = refusal("value<A#{n:i64}>", "value<A#{n:i32}>");
  EXPECT_NE(narrow.find("state 's' is value<A#{n:i64}>"), narrow.npos) << narrow;
  EXPECT_NE(narrow.find("field 'n' of A was i64 and is i32"), narrow.npos) << narrow;
  const std::string inner =
      refusal("list<vector<A#{n:B#{t:string},k:u8}>>", "list<vector<A#{n:B#{t:u64}}>>");
  EXPECT_NE(inner.find("field 't' of B was string and is u64"), inner.npos) << inner;
  const std::string opaque = refusal("value<A#{n:u8,m:shop.Money@2}>", "value<A#{n:u8}>");
  EXPECT_NE(opaque.find("field 'm' of A is gone, and a shop.Money@2 has a codec"), opaque.npos)
      << opaque;
  for (const auto& [saved, own] :
       std::vector<std::pair<std::string, std::string>>{{"i64", "u64"},
                                                        {"u64", "i64"},
                                                        {"u32", "i32"},
                                                        {"f64", "f32"},
                                                        {"i32", "f64"},
                                                        {"bool", "u8"},
                                                        {"string", "text"},
                                                        {"enum<u8,C>", "enum<u16,C>"}}) {
    EXPECT_NE(refusal("value<A#{n:" + saved + "}>", "value<A#{n:" + own + "}>"), "") << saved;
  }
  for (const auto& [saved, own] : std::vector<std::pair<std::string, std::string>>{
           {"i8", "i64"}, {"u8", "u64"}, {"u32", "i64"}, {"f32", "f64"}, {"X@1", "X@2"}}) {
    EXPECT_EQ(refusal("value<A#{n:" + saved + "}>", "value<A#{n:" + own + "}>"), "") << saved;
  }
}

TEST(NamedFields, MayNotChangeWhereNobodyCanReadThem) {
  EXPECT_NE(refusal("map<A#{n:u8},u8>", "map<A#{n:u16},u8>"), "");
  EXPECT_NE(refusal("table<A#{n:u8},u8>", "table<A#{n:u16},u8>"), "");
  EXPECT_EQ(refusal("map<u8,A#{n:u8}>", "map<u8,A#{n:u16}>"), "");
  EXPECT_NE(refusal("vector<tuple<i64,A#{n:u8}>>", "vector<tuple<i64,A#{n:u16}>>"), "");
  EXPECT_FALSE(can_read_key_type("A#{n:u8}", "A#{n:u16}"));
  EXPECT_TRUE(can_read_key_type("A#{n:u8}", "A#{n:u8}"));
  EXPECT_NE(refusal("value<pair<A#{n:u8},A#{n:u16}>>", "value<pair<A#{n:u16},A#{n:u16}>>"), "");
  EXPECT_NE(refusal("value<A+{u8}>", "value<A#{n:u8}>"), "");
}

TEST(NamedFields, TypesInOneAnotherAreComparedByName) {
  EXPECT_TRUE(can_read_type("A+{B#{x:u8}}", "A+{B#{y:i8,x:u16},u8}"));
  EXPECT_TRUE(can_read_type("A#{b:B+{u8}}", "A#{b:B+{u8,u8}}"));
  EXPECT_FALSE(can_read_type("A#{b:B+{u8,u8}}", "A#{b:B+{u8}}"));
  EXPECT_FALSE(can_read_type("A#{u8}", "A#{b:u8}"));
  EXPECT_TRUE(can_read_type("A#{}", "A#{b:u8}"));
}

TEST(TypeGrammar, TakesApartWhatCodecsCallTheirTypes) {
  const std::string name = Codec<first::Order>::name();
  const std::optional<ParsedType> order = parse_type(name);
  ASSERT_TRUE(order.has_value());
  EXPECT_EQ(order->kind, ParsedType::Kind::named);
  EXPECT_EQ(order->head, "shop.Order");
  ASSERT_EQ(order->parts.size(), 7U);
  EXPECT_EQ(order->parts[3].field, "parts");
  EXPECT_EQ(order->parts[3].parts[0].head, "shop.Part");
  EXPECT_TRUE(can_pass_over(*order));
  std::string bytes;
  ByteWriter out(bytes);
  Codec<first::Order>::encode(an_order(), out);
  ByteReader in(out.view());
  EXPECT_TRUE(pass_over(*order, in));
  EXPECT_EQ(in.left(), 0U);
  EXPECT_FALSE(parse_type("vector<u8").has_value());
  EXPECT_FALSE(parse_type("pair<u8>").has_value());
  EXPECT_FALSE(can_pass_over(*parse_type("optional<shop.Money@1>")));
  EXPECT_FALSE(parse_type(std::string(100, '{') + std::string(100, '}')).has_value());
}

// How many there are says a count alone: a cell of six bytes would be gigabytes of text.
TEST(TypeGrammar, AListOfValuesWithoutBytesIsShownAsItsBytes) {
  std::string json;
  const std::string_view cell("\xFF\xFF\xFF\xFF\0x", 6);
  EXPECT_TRUE(append_json_cell(*parse_type("list<c{}>"), cell, json));
  EXPECT_EQ(json, R"({"type":"list<c{}>","hex":"ffffffff0078"})");
}

}  // namespace
}  // namespace hummer
