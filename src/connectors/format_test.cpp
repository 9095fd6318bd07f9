#include <hummer/format.hpp>

#include <cstdint>
#include <limits>
#include <ostream>

#include <gtest/gtest.h>

namespace shop {

struct Item {
  std::string_view name;
  int count;
  std::optional<double> price;
};
struct Order {
  std::uint64_t id;
  std::vector<Item> items;
  std::pair<int, bool> flags;
};
struct WithOwn {
  int cents;
};
void format_record(const WithOwn& value, std::string& out) {
  out += std::to_string(value.cents / 100) + " EUR";
}
class WithStream {
 public:
  explicit WithStream(int value) : value_(value) {}
  friend std::ostream& operator<<(std::ostream& out, const WithStream& value) {
    return out << '<' << value.value_ << '>';
  }

 private:
  int value_;
};
enum class Color : std::uint8_t { red, green };

}  // namespace shop

namespace hummer::format_test {
namespace {

template <typename T>
std::string formatted(const T& value) {
  std::string out = "|";
  format_record(value, out);
  return out.substr(1);
}

TEST(FormatRecord, SimpleValues) {
  EXPECT_EQ(formatted(42), "42");
  EXPECT_EQ(formatted(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(formatted(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(formatted(std::int8_t{-3}), "-3");
  EXPECT_EQ(formatted('x'), "x");
  EXPECT_EQ(formatted(0.1), "0.1");
  EXPECT_EQ(formatted(0.1f), "0.1");
  EXPECT_EQ(formatted(true), "true");
  EXPECT_EQ(formatted(shop::Color::green), "1");
}

TEST(FormatRecord, TextIsLeftAsItIs) {
  EXPECT_EQ(formatted(std::string_view("a\tb\0c", 5)), std::string("a\tb\0c", 5));
  EXPECT_EQ(formatted(std::string("x")), "x");
  const std::string lines = "one\ntwo";
  EXPECT_EQ(formatted(TextBlock{lines.data(), lines.size(), 0, nullptr}), "one\ntwo");
}

TEST(FormatRecord, FieldsAreSeparatedByTabs) {
  EXPECT_EQ(formatted(std::pair<std::string_view, std::uint64_t>("word", 7)), "word\t7");
  EXPECT_EQ(formatted(std::tuple(1, 2.5, true)), "1\t2.5\ttrue");
  EXPECT_EQ(formatted(std::array<int, 3>{1, 2, 3}), "1\t2\t3");
  EXPECT_EQ(formatted(shop::Item{"pen", 2, 0.5}), "pen\t2\t0.5");
  EXPECT_EQ(formatted(shop::Item{"pen", 2, {}}), "pen\t2\t");
}

TEST(FormatRecord, NestedValuesAreBracketed) {
  EXPECT_EQ(formatted(std::vector<int>{1, 2}), "[1,2]");
  EXPECT_EQ(formatted(std::vector<bool>{true, false}), "[true,false]");
  EXPECT_EQ(formatted(std::vector<int>{}), "[]");
  EXPECT_EQ(formatted(std::pair(std::pair(1, 2), std::array<int, 2>{3, 4})), "(1,2)\t[3,4]");
  EXPECT_EQ(formatted(shop::Order{9, {{"pen", 2, {}}, {"ink", 1, 3.0}}, {4, false}}),
            "9\t[(pen,2,),(ink,1,3)]\t(4,false)");
}

TEST(FormatRecord, TypesWithFormatsOfTheirOwn) {
  EXPECT_EQ(formatted(shop::WithOwn{300}), "3 EUR");
  EXPECT_EQ(formatted(shop::WithStream{5}), "<5>");
  EXPECT_EQ(formatted(std::pair(shop::WithOwn{300}, std::vector{shop::WithStream{5}})),
            "3 EUR\t[<5>]");
  EXPECT_EQ(formatted(std::optional(shop::WithOwn{300})), "3 EUR");
}

}  // namespace
}  // namespace hummer::format_test
