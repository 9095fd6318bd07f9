// Keys as bytes compare as the keys do.
#include <hummer/detail/sort_key.hpp>

#include <gtest/gtest.h>

#include <compare>
#include <limits>
#include <random>
#include <vector>

namespace hummer::sort_key_test {
namespace {

template <typename K>
std::string bytes_of(const K& key) {
  std::string space;
  ByteWriter out(space);
  SortKey<K>::append(key, out);
  return std::string(out.view());
}

int sign(int order) { return order < 0 ? -1 : order > 0 ? 1 : 0; }

// How two keys compare: by <, but for numbers that are none.
template <typename K>
int compare(const K& a, const K& b) {
  if constexpr (std::is_floating_point_v<K>) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) - std::isnan(b);
  }
  return a < b ? -1 : b < a ? 1 : 0;
}
template <typename A, typename B>
int compare(const std::pair<A, B>& a, const std::pair<A, B>& b) {
  const int first = compare(a.first, b.first);
  return first != 0 ? first : compare(a.second, b.second);
}

// Of all pairs; and that no key's bytes are the beginning of another's.
template <typename K>
void expect_ordered(const std::vector<K>& keys) {
  std::vector<std::string> bytes;
  for (const K& key : keys) bytes.push_back(bytes_of(key));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    for (std::size_t j = 0; j < keys.size(); ++j) {
      const int order = compare(keys[i], keys[j]);
      ASSERT_EQ(sign(bytes[i].compare(bytes[j])), order) << i << ", " << j;
      ASSERT_EQ(sign(bytes_of(descending(keys[i])).compare(bytes_of(descending(keys[j])))), -order)
          << i << ", " << j;
      if (order != 0) ASSERT_FALSE(bytes[i].starts_with(bytes[j])) << i << ", " << j;
    }
  }
}

template <typename N>
std::vector<N> drawn_integers(std::mt19937_64& random) {
  using Limits = std::numeric_limits<N>;
  std::vector<N> numbers = {
      Limits::min(), static_cast<N>(Limits::min() + 1), N{0}, N{1}, static_cast<N>(-1),
      Limits::max(), static_cast<N>(Limits::max() - 1)};
  for (int i = 0; i < 60; ++i) {
    numbers.push_back(static_cast<N>(random() >> (random() % (8 * sizeof(N)))));
  }
  return numbers;
}

TEST(SortKey, Integers) {
  std::mt19937_64 random(1);
  expect_ordered(drawn_integers<std::int8_t>(random));
  expect_ordered(drawn_integers<std::int16_t>(random));
  expect_ordered(drawn_integers<std::int32_t>(random));
  expect_ordered(drawn_integers<std::int64_t>(random));
  expect_ordered(drawn_integers<std::uint8_t>(random));
  expect_ordered(drawn_integers<std::uint32_t>(random));
  expect_ordered(drawn_integers<std::uint64_t>(random));
  expect_ordered(drawn_integers<char>(random));
  EXPECT_LT(bytes_of(false), bytes_of(true));
  enum class Level : std::int16_t { low = -2, middle = 0, high = 300 };
  expect_ordered(std::vector<Level>{Level::high, Level::low, Level::middle});
}

template <typename F>
std::vector<F> drawn_numbers(std::mt19937_64& random) {
  using Limits = std::numeric_limits<F>;
  using Bits = std::conditional_t<sizeof(F) == 4, std::uint32_t, std::uint64_t>;
  std::vector<F> numbers = {0,
                            F{-0.0},
                            1,
                            -1,
                            Limits::infinity(),
                            -Limits::infinity(),
                            Limits::max(),
                            Limits::lowest(),
                            Limits::min(),
                            -Limits::min(),
                            Limits::denorm_min(),
                            -Limits::denorm_min(),
                            Limits::quiet_NaN(),
                            -Limits::quiet_NaN()};
  for (int i = 0; i < 80; ++i) numbers.push_back(std::bit_cast<F>(static_cast<Bits>(random())));
  return numbers;
}

TEST(SortKey, FloatingPointWithOneZeroAndNoNumberLast) {
  std::mt19937_64 random(2);
  expect_ordered(drawn_numbers<float>(random));
  expect_ordered(drawn_numbers<double>(random));
  EXPECT_EQ(bytes_of(0.0), bytes_of(-0.0));
  EXPECT_EQ(bytes_of(std::numeric_limits<double>::quiet_NaN()),
            bytes_of(-std::numeric_limits<double>::signaling_NaN()));
  EXPECT_GT(bytes_of(std::numeric_limits<double>::quiet_NaN()),
            bytes_of(std::numeric_limits<double>::infinity()));
}

std::vector<std::string> drawn_texts(std::mt19937_64& random) {
  using namespace std::string_literals;
  std::vector<std::string> texts = {"",          "\0"s,   "\0\0"s,   "\0\xFF"s, "\1"s,   "a",
                                    "a\0"s,      "a\0b"s, "ab",      "a\xFF",   "\xFF",  "\xFF\0"s,
                                    "\xFF\xFF"s, "a\1",   "a\0\0b"s, "\0\1"s,   "Zürich"};
  for (int i = 0; i < 80; ++i) {
    std::string text(random() % 6, '\0');
    for (char& letter : text) letter = "\0\1a\xFE\xFF"[random() % 5];
    texts.push_back(text);
  }
  return texts;
}

TEST(SortKey, TextByItsBytesAlsoWithZeros) {
  std::mt19937_64 random(3);
  const std::vector<std::string> texts = drawn_texts(random);
  expect_ordered(texts);
  expect_ordered(std::vector<std::string_view>(texts.begin(), texts.end()));
}

TEST(SortKey, MembersOneAfterTheOther) {
  std::mt19937_64 random(4);
  const auto texts = drawn_texts(random);
  const auto numbers = drawn_numbers<double>(random);
  const auto integers = drawn_integers<std::int16_t>(random);
  std::vector<std::pair<std::string, double>> pairs;
  std::vector<std::tuple<std::string, std::int16_t, std::string>> tuples;
  std::vector<std::optional<std::string>> optionals = {std::nullopt};
  std::vector<std::array<std::int16_t, 2>> arrays;
  for (int i = 0; i < 120; ++i) {
    pairs.emplace_back(texts[random() % 17], numbers[random() % numbers.size()]);
    tuples.emplace_back(texts[random() % 17], integers[random() % 7], texts[random() % 17]);
    optionals.emplace_back(texts[random() % texts.size()]);
    arrays.push_back({integers[random() % 7], integers[random() % 7]});
  }
  expect_ordered(pairs);
  expect_ordered(tuples);
  expect_ordered(optionals);
  expect_ordered(arrays);
}

TEST(SortKey, AMemberMayDescend) {
  using Key = std::pair<std::string, Descending<int>>;
  EXPECT_LT(bytes_of(Key("a", {7})), bytes_of(Key("a", {3})));
  EXPECT_LT(bytes_of(Key("a", {3})), bytes_of(Key("b", {7})));
  using Text = std::pair<Descending<std::string>, int>;
  EXPECT_LT(bytes_of(Text({"ab"}, 1)), bytes_of(Text({"a"}, 0)));
  EXPECT_LT(bytes_of(Text({"a"}, 0)), bytes_of(Text({"a"}, 1)));
}

struct NoOrder {
  int number;
};
static_assert(!SortableKey<NoOrder>);
static_assert(!SortableKey<std::pair<int, NoOrder>>);
static_assert(SortableKey<std::tuple<int, std::optional<std::string_view>>>);

}  // namespace
}  // namespace hummer::sort_key_test
