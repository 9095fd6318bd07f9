#include <hummer/codec.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include <hummer/detail/type_descriptor.hpp>

namespace hummer {

struct Money {
  std::int64_t cents = 0;
  bool operator==(const Money&) const = default;
};

namespace {

enum class Color : std::uint8_t { red, green, blue };
enum class Answered : bool { no, yes };

struct Inner {
  std::string name;
  std::optional<int> count;
  bool operator==(const Inner&) const = default;
};
struct Outer {
  Inner inner;
  std::vector<Inner> more;
  std::array<float, 2> range{};
  Color color = Color::red;
  Money price;
  bool operator==(const Outer&) const = default;
};
struct Pixel {
  std::int32_t x;
  float brightness;
  bool operator==(const Pixel&) const = default;
};
struct Empty {
  bool operator==(const Empty&) const = default;
};

}  // namespace

// A codec of the author's own: only amounts that are not negative.
template <>
struct Codec<Money> {
  static std::string name() { return "shop.Money/1"; }
  static void encode(const Money& money, ByteWriter& out) { out.put_value(money.cents); }
  static bool decode(ByteReader& in, Money& money) {
    return in.get_value(money.cents) && money.cents >= 0;
  }
};

namespace {

template <typename T>
std::string encode(const T& value, bool canonical = false) {
  std::string bytes;
  ByteWriter out(bytes, canonical);
  Codec<T>::encode(value, out);
  return std::string(out.view());
}

// Decodes from memory of exactly the right size, so that a read past it is seen by the checkers.
template <typename T>
bool decode(std::string_view bytes, T& value, std::size_t* left = nullptr) {
  const std::vector<char> exact(bytes.begin(), bytes.end());
  ByteReader in(std::string_view(exact.data(), exact.size()));
  const bool valid = Codec<T>::decode(in, value);
  if (left != nullptr) *left = in.left();
  return valid;
}

template <typename T>
void expect_round_trip(const T& value) {
  SCOPED_TRACE(Codec<T>::name());
  const std::string bytes = encode(value);
  T decoded{};
  std::size_t left = 1;
  // Views point into the bytes, which live as long as the test.
  ByteReader in(bytes);
  ASSERT_TRUE(Codec<T>::decode(in, decoded));
  EXPECT_EQ(in.left(), 0u);
  EXPECT_EQ(decoded, value);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    T cut{};
    EXPECT_FALSE(decode(bytes.substr(0, length), cut)) << length << " of " << bytes.size();
  }
  T longer{};
  EXPECT_TRUE(decode(bytes + "more", longer, &left));
  EXPECT_EQ(left, 4u);
}

TEST(Codec, NumbersComeBack) {
  expect_round_trip(true);
  expect_round_trip('c');
  expect_round_trip(std::int8_t{-128});
  expect_round_trip(std::uint16_t{65535});
  expect_round_trip(-1);
  expect_round_trip(std::numeric_limits<std::int64_t>::min());
  expect_round_trip(std::numeric_limits<std::uint64_t>::max());
  expect_round_trip(1.5f);
  expect_round_trip(-0.0);
  expect_round_trip(std::numeric_limits<double>::infinity());
  expect_round_trip(2.25L);
  expect_round_trip(Color::blue);
  expect_round_trip(Answered::yes);
}

TEST(Codec, TextComesBack) {
  using namespace std::string_view_literals;
  for (const std::string_view text :
       {""sv, "a"sv, "with \0 and \xff"sv, "longer than a short one"sv}) {
    expect_round_trip(text);
    expect_round_trip(std::string(text));
  }
  const TextBlock block{"two\nlines\n", 10, 77, nullptr};
  const std::string bytes = encode(block);
  TextBlock decoded;
  ByteReader in(bytes);
  ASSERT_TRUE(Codec<TextBlock>::decode(in, decoded));
  EXPECT_EQ(decoded.view(), block.view());
  EXPECT_EQ(decoded.offset, 77u);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(decode(std::string_view(bytes).substr(0, length), decoded));
  }
}

TEST(Codec, CompositesComeBack) {
  expect_round_trip(std::pair<int, std::string>(1, "one"));
  expect_round_trip(std::tuple<>());
  expect_round_trip(std::tuple<bool, std::string_view, double>(true, "two", 2.5));
  expect_round_trip(std::array<std::int16_t, 3>{1, -2, 3});
  expect_round_trip(std::array<std::string, 2>{"a", "b"});
  expect_round_trip(std::vector<int>{});
  expect_round_trip(std::vector<int>{1, 2, 3});
  expect_round_trip(std::vector<bool>{true, false, true});
  expect_round_trip(std::vector<std::vector<std::string>>{{}, {"a", ""}, {"bc"}});
  expect_round_trip(std::optional<int>());
  expect_round_trip(std::optional<std::string>("x"));
  expect_round_trip(std::optional<std::optional<int>>(std::optional<int>()));
  expect_round_trip(Empty());
  expect_round_trip(std::optional<Empty>(Empty()));
}

TEST(Codec, AggregatesComeBack) {
  expect_round_trip(Pixel{-3, 0.25f});
  expect_round_trip(std::array<Pixel, 2>{Pixel{1, 2}, Pixel{3, 4}});
  expect_round_trip(Inner{"name", 3});
  Outer outer;
  outer.inner.name = "a";
  outer.more = {{"b", 1}, {"", 2}};
  outer.range = {1, 2};
  outer.color = Color::green;
  outer.price.cents = 1999;
  expect_round_trip(outer);
  expect_round_trip(Money{5});
}

TEST(Codec, RefusesWhatIsNoValue) {
  bool flag = false;
  EXPECT_FALSE(decode("\x02", flag));
  Answered answered = Answered::no;
  EXPECT_FALSE(decode("\x02", answered));
  std::optional<char> optional;
  EXPECT_FALSE(decode("\x02x", optional));
  Money money;
  EXPECT_FALSE(decode(encode(Money{-1}), money)) << "the author's own check";
  Outer outer;
  outer.price.cents = -1;
  EXPECT_FALSE(decode(encode(outer), outer));
}

TEST(Codec, ALengthAloneDoesNotAllocate) {
  const std::string huge = "\xff\xff\xff\xff";
  std::string text;
  std::vector<std::string> texts;
  EXPECT_FALSE(decode(huge, text));
  EXPECT_FALSE(decode(huge, texts));
  EXPECT_LT(texts.capacity(), 1000u);
}

TEST(Codec, EqualKeysHaveEqualBytes) {
  EXPECT_NE(encode(-0.0), encode(0.0));
  EXPECT_EQ(encode(-0.0, true), encode(0.0, true));
  EXPECT_EQ(encode(std::nan("1"), true), encode(-std::nan("2"), true));
  EXPECT_EQ(encode(-std::nanf("1"), true), encode(std::numeric_limits<float>::quiet_NaN(), true));
  EXPECT_EQ(encode(-0.0L, true), encode(0.0L, true));
  using Pair = std::pair<float, double>;
  EXPECT_EQ(encode(Pair(-0.0f, -0.0), true), encode(Pair(0, 0), true));
  EXPECT_EQ(encode(std::vector<double>{-0.0}, true), encode(std::vector<double>{0.0}, true));
  EXPECT_EQ(encode(std::optional<double>(-0.0), true), encode(std::optional<double>(0.0), true));
  EXPECT_EQ(encode(Pixel{1, -0.0f}, true), encode(Pixel{1, 0}, true));
  using Pixels = std::array<Pixel, 2>;
  EXPECT_EQ(encode(Pixels{Pixel{1, -0.0f}, Pixel{}}, true),
            encode(Pixels{Pixel{1, 0}, Pixel{}}, true));
  using Rows = std::array<std::array<double, 1>, 2>;
  EXPECT_EQ(encode(Rows{{{-0.0}, {1}}}, true), encode(Rows{{{0.0}, {1}}}, true));
}

// What lies between a number's bytes and its size must not decide where it goes.
TEST(Codec, PaddingIsNotEncoded) {
  alignas(long double) char one[sizeof(long double)];
  alignas(long double) char other[sizeof(long double)];
  std::fill(std::begin(one), std::end(one), '\x55');
  std::fill(std::begin(other), std::end(other), '\xaa');
  auto* a = new (one) long double(1.5L);
  auto* b = new (other) long double(1.5L);
  EXPECT_EQ(encode(*a), encode(*b));
}

TEST(ByteWriter, WhatDoesNotFitIsNotWritten) {
  char space[10];
  ByteWriter out((std::span<char>(space)));
  out.put_text("abc");
  EXPECT_EQ(out.size(), 7u);
  out.put_value(std::uint64_t{1});
  EXPECT_TRUE(out.overflowed());
  EXPECT_EQ(out.size(), 7u);
  out.rewind(0);
  EXPECT_FALSE(out.overflowed());
  EXPECT_EQ(out.room(), 10u);
}

// Names are part of snapshots and of what two processes agree on.
TEST(TypeDescriptor, GoldenNames) {
  EXPECT_EQ(type_of<bool>().name, "bool");
  EXPECT_EQ(type_of<int>().name, "i32");
  EXPECT_EQ(type_of<unsigned long>().name, "u64");
  EXPECT_EQ(type_of<float>().name, "f32");
  EXPECT_EQ(type_of<double>().name, "f64");
  EXPECT_EQ(type_of<std::string_view>().name, "text");
  EXPECT_EQ(type_of<std::string>().name, "string");
  EXPECT_EQ(type_of<TextBlock>().name, "text_block");
  EXPECT_EQ((type_of<std::pair<int, std::string>>().name), "pair<i32,string>");
  EXPECT_EQ((type_of<std::tuple<bool, double>>().name), "tuple<bool,f64>");
  EXPECT_EQ((type_of<std::array<char, 4>>().name), "array<i8,4>");
  EXPECT_EQ(type_of<std::vector<std::optional<int>>>().name, "vector<optional<i32>>");
  EXPECT_EQ(type_of<Money>().name, "shop.Money/1");
}

TEST(TypeDescriptor, SaysHowValuesLie) {
  EXPECT_TRUE(type_of<int>().trivial && type_of<int>().bitwise && !type_of<int>().holds_views);
  EXPECT_TRUE(type_of<Pixel>().bitwise);
  EXPECT_FALSE(type_of<bool>().bitwise) << "its bytes are checked";
  EXPECT_FALSE(type_of<Money>().bitwise) << "its author says how it is encoded";
  EXPECT_FALSE((type_of<std::array<Money, 2>>().bitwise));
  EXPECT_FALSE(type_of<Inner>().trivial || type_of<Inner>().holds_views);
  using Word = std::pair<std::string_view, int>;
  EXPECT_TRUE(type_of<Word>().trivial && !type_of<Word>().bitwise && type_of<Word>().holds_views);
  EXPECT_NE(type_of<int>().id, type_of<unsigned>().id);
}

TEST(TypeDescriptor, EncodesWhatFitsAndDecodesWhatIsValid) {
  const std::vector<std::string> texts{"one", "two", "three"};
  const TypeDescriptor& type = type_of<std::string>();
  char space[16];
  ByteWriter out((std::span<char>(space)));
  EXPECT_EQ(type.encode_values(texts.data(), 0, 3, out), 2u) << "the third does not fit";
  EXPECT_EQ(out.size(), 14u);
  std::allocator<std::string> allocator;
  std::string* values = allocator.allocate(3);
  ByteReader in(out.view());
  const std::size_t count = type.decode_values(in, values, 3);
  ASSERT_EQ(count, 2u);
  EXPECT_EQ(values[1], "two");
  type.destroy_values(values, count);
  allocator.deallocate(values, 3);
}

}  // namespace
}  // namespace hummer
