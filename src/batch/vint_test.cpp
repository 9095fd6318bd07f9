#include "batch/vint.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace hummer::batch::vint_test {
namespace {

// The fewest that hold it.
std::size_t vint_bytes(std::int64_t number) {
  if (number >= -112 && number <= 127) return 1;
  const auto magnitude = static_cast<std::uint64_t>(number < 0 ? ~number : number);
  return 1 + static_cast<std::size_t>(std::bit_width(magnitude | 1) + 7) / 8;
}

std::string vint_of(std::int64_t number) {
  char place[max_vint_bytes];
  return {place, write_vint(place, number)};
}

std::vector<std::int64_t> numbers_around_borders() {
  std::vector<std::int64_t> numbers;
  const auto add_around = [&](std::int64_t number) {
    for (std::int64_t difference = -2; difference <= 2; ++difference) {
      const auto sum = static_cast<std::uint64_t>(number) + static_cast<std::uint64_t>(difference);
      numbers.push_back(static_cast<std::int64_t>(sum));
    }
  };
  add_around(-112);
  for (int bits = 0; bits < 64; ++bits) {
    add_around(static_cast<std::int64_t>(std::uint64_t{1} << bits));
    add_around(static_cast<std::int64_t>(~(std::uint64_t{1} << bits)));
  }
  return numbers;
}

TEST(Vint, IsWrittenAsHadoopDoes) {
  const std::vector<std::pair<std::int64_t, std::string>> expected{
      {0, std::string("\x00", 1)},
      {127, "\x7f"},
      {-1, "\xff"},
      {-112, "\x90"},
      {128, "\x8f\x80"},
      {255, "\x8f\xff"},
      {256, std::string("\x8e\x01\x00", 3)},
      {300, "\x8e\x01\x2c"},
      {-113, "\x87\x70"},
      {-256, "\x87\xff"},
      {-257, std::string("\x86\x01\x00", 3)},
      {2147483647, "\x8c\x7f\xff\xff\xff"},
      {std::numeric_limits<std::int64_t>::max(), "\x88\x7f\xff\xff\xff\xff\xff\xff\xff"},
      {std::numeric_limits<std::int64_t>::min(), "\x80\x7f\xff\xff\xff\xff\xff\xff\xff"},
  };
  for (const auto& [number, bytes] : expected) EXPECT_EQ(vint_of(number), bytes) << number;
}

TEST(Vint, IsReadAsItWasWrittenWhateverIsBehindIt) {
  for (const std::int64_t number : numbers_around_borders()) {
    const std::string bytes = vint_of(number);
    EXPECT_EQ(bytes.size(), vint_bytes(number)) << number;
    EXPECT_EQ(bytes.size(), key_form::bytes_of_vint(bytes[0])) << number;
    for (const std::size_t behind : {0, 1, 20}) {
      const std::string text = bytes + std::string(behind, '\x5a');
      std::int64_t read = 0;
      EXPECT_EQ(read_vint(text.data(), text.data() + text.size(), read),
                text.data() + bytes.size());
      EXPECT_EQ(read, number);
    }
  }
}

TEST(Vint, ThatIsCutIsNotRead) {
  for (const std::int64_t number : numbers_around_borders()) {
    const std::string bytes = vint_of(number);
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      // In a place of that size, so that a read past it is seen.
      const auto cut = std::make_unique<char[]>(length);
      bytes.copy(cut.get(), length);
      std::int64_t read = 0;
      EXPECT_EQ(read_vint(cut.get(), cut.get() + length, read), nullptr) << number;
    }
  }
}

}  // namespace
}  // namespace hummer::batch::vint_test
