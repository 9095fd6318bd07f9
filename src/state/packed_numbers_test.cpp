#include <gtest/gtest.h>

#include <hummer/detail/state/packed_numbers.hpp>

namespace hummer::packed_numbers_test {
namespace {

TEST(PackedNumbers, ComeBackWithAsManyBytesAsTheyNeed) {
  for (unsigned bits = 0; bits <= 64; ++bits) {
    const std::uint64_t most = bits == 0 ? 0 : ~std::uint64_t{0} >> (64 - bits);
    for (const std::uint64_t number : {most, most - most / 3, most + 1}) {
      char space[most_packed_bytes];
      const char* const end = pack_number(space, number);
      std::uint64_t again = ~number;
      EXPECT_EQ(unpack_number(space, again), end);
      EXPECT_EQ(again, number);
      std::ptrdiff_t bytes = 1;
      for (std::uint64_t left = number >> 7; left != 0; left >>= 7) ++bytes;
      EXPECT_EQ(end - space, bytes) << number;
    }
  }
}

}  // namespace
}  // namespace hummer::packed_numbers_test
