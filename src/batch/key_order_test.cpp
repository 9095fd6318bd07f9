#include <hummer/batch/key_order.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "batch/records_for_test.hpp"

namespace hummer::batch::key_order_test {
namespace {

constexpr const char* names[] = {"bytes", "text", "counted", "byte",  "short", "int",
                                 "long",  "vint", "vlong",   "float", "double"};

int sign(int number) { return number < 0 ? -1 : number > 0 ? 1 : 0; }

template <typename Number>
std::string big_endian(Number number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  std::reverse(bytes.begin(), bytes.end());
  return bytes;
}

// As WritableUtils.writeVLong has it.
std::string vint(std::int64_t number) {
  if (number >= -112 && number <= 127) return std::string(1, static_cast<char>(number));
  const bool negative = number < 0;
  const std::string whole = big_endian(negative ? ~number : number);
  const std::string bytes = whole.substr(whole.find_first_not_of('\0'));
  const int first = (negative ? -120 : -112) - static_cast<int>(bytes.size());
  return static_cast<char>(first) + bytes;
}

// Each two of them compare as their places in the list do, and no prefix says otherwise.
void expect_ordered(const char* name, const std::vector<std::string>& keys) {
  const std::optional<KeyOrder> order = key_order_of(name);
  ASSERT_TRUE(order.has_value()) << name;
  for (std::size_t a = 0; a < keys.size(); ++a) {
    for (std::size_t b = 0; b < keys.size(); ++b) {
      const int expected = a < b ? -1 : a > b ? 1 : 0;
      EXPECT_EQ(sign(order->compare(keys[a], keys[b])), expected) << name << ' ' << a << ' ' << b;
      if (expected < 0) {
        EXPECT_LE(order->long_prefix(keys[a]), order->long_prefix(keys[b])) << name << ' ' << a;
      }
    }
  }
}

TEST(KeyOrder, OrdersKeysOfEachForm) {
  using namespace std::string_literals;
  expect_ordered("bytes", {"", "\0"s, "\0\0"s, "\0\1"s, "a", "a\0"s, "ab", "abcdefgh",
                           "abcdefgh\0"s, "abcdefghi", "b", "\x80", "\xFF", "\xFF\xFF"});
  const std::vector<std::string> texts = {"",  "a",       "a\0"s, "ab", std::string(200, 'b'),
                                          "c", "\xC3\xA4"};
  std::vector<std::string> text_keys, counted_keys;
  for (const std::string& text : texts) {
    text_keys.push_back(vint(static_cast<std::int64_t>(text.size())) + text);
    counted_keys.push_back(big_endian(static_cast<std::uint32_t>(text.size())) + text);
  }
  expect_ordered("text", text_keys);
  expect_ordered("org.apache.hadoop.io.Text", text_keys);
  expect_ordered("counted", counted_keys);
  expect_ordered("org.apache.hadoop.io.BytesWritable", counted_keys);

  const std::vector<std::int64_t> numbers = {std::numeric_limits<std::int64_t>::min(),
                                             -(std::int64_t{1} << 40),
                                             -65537,
                                             -257,
                                             -256,
                                             -129,
                                             -128,
                                             -113,
                                             -112,
                                             -1,
                                             0,
                                             1,
                                             111,
                                             127,
                                             128,
                                             255,
                                             256,
                                             65536,
                                             std::int64_t{1} << 40,
                                             std::numeric_limits<std::int64_t>::max()};
  std::vector<std::string> bytes, shorts, ints, longs, vints;
  for (const std::int64_t number : numbers) {
    if (number == static_cast<std::int8_t>(number)) {
      bytes.push_back(big_endian(static_cast<std::int8_t>(number)));
    }
    if (number == static_cast<std::int16_t>(number)) {
      shorts.push_back(big_endian(static_cast<std::int16_t>(number)));
    }
    if (number == static_cast<std::int32_t>(number)) {
      ints.push_back(big_endian(static_cast<std::int32_t>(number)));
    }
    longs.push_back(big_endian(number));
    vints.push_back(vint(number));
  }
  expect_ordered("byte", bytes);
  expect_ordered("short", shorts);
  expect_ordered("org.apache.hadoop.io.IntWritable", ints);
  expect_ordered("org.apache.hadoop.io.LongWritable", longs);
  expect_ordered("org.apache.hadoop.io.VLongWritable", vints);

  std::vector<std::string> floats, doubles;
  for (const float number :
       {-std::numeric_limits<float>::infinity(), -1.5F, -1e-30F, -0.0F, 0.0F, 1e-30F, 1.5F, 3e30F,
        std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    floats.push_back(big_endian(number));
    doubles.push_back(big_endian(static_cast<double>(number)));
  }
  expect_ordered("org.apache.hadoop.io.FloatWritable", floats);
  expect_ordered("org.apache.hadoop.io.DoubleWritable", doubles);
  EXPECT_EQ(key_order_of("double")->compare(big_endian(-std::nan("1")), big_endian(std::nan("2"))),
            0);
}

TEST(KeyOrder, PrefixesAgreeWithComparisons) {
  Random random(11);
  for (const char* name : names) {
    const KeyOrder order = *key_order_of(name);
    for (int i = 0; i < 20'000; ++i) {
      // Few distinct bytes, so that keys have much in common; also keys that are too short.
      std::string keys[2];
      for (std::string& key : keys) {
        key.resize(random.next() % 12);
        for (char& each : key) each = "\x00\x01\x7F\x80\xFF\x8F"[random.next() % 6];
      }
      const std::string_view a = keys[0];
      const std::string_view b = keys[1];
      const int compared = sign(order.compare(a, b));
      EXPECT_EQ(compared, -sign(order.compare(b, a)));
      if (order.prefix(a) != order.prefix(b)) {
        EXPECT_EQ(compared, order.prefix(a) < order.prefix(b) ? -1 : 1) << name;
      } else if (order.decided_by(4)) {
        EXPECT_EQ(compared, 0) << name;
      }
      if (order.long_prefix(a) != order.long_prefix(b)) {
        EXPECT_EQ(compared, order.long_prefix(a) < order.long_prefix(b) ? -1 : 1) << name;
      } else if (order.decided_by(8)) {
        EXPECT_EQ(compared, 0) << name;
      }
    }
  }
}

TEST(KeyOrder, IsNotFoundByAnotherName) {
  EXPECT_FALSE(key_order_of("").has_value());
  EXPECT_FALSE(key_order_of("Text").has_value());
  EXPECT_FALSE(key_order_of("org.apache.hadoop.io.").has_value());
  EXPECT_FALSE(key_order_of("org.apache.hadoop.io.MapWritable").has_value());
}

// Longer keys first.
int longer_first(std::string_view a, std::string_view b) {
  return a.size() == b.size() ? 0 : a.size() > b.size() ? -1 : 1;
}

TEST(KeyOrder, MayBeForeign) {
  static constexpr ForeignKeyOrder foreign{"longer first", longer_first, nullptr};
  const KeyOrder order(foreign);
  EXPECT_LT(order.compare("bbb", "a"), 0);
  EXPECT_EQ(order.prefix("bbb"), order.prefix("a"));
  EXPECT_FALSE(order.decided_by(8));
}

}  // namespace
}  // namespace hummer::batch::key_order_test
