#include <hummer/detail/zeroed_pages.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace hummer::zeroed_pages_test {
namespace {

bool all_zero(const char* begin, std::size_t size) {
  return std::all_of(begin, begin + size, [](char c) { return c == 0; });
}

TEST(ZeroedPages, AreZeroAlignedAndWritableToTheLastByte) {
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{100}, std::size_t{4096}, (std::size_t{2} << 20) - 1,
        std::size_t{2} << 20, (std::size_t{6} << 20) + 1}) {
    for (int round = 0; round < 2; ++round) {  // the second may get what the first gave back
      const ZeroedPages pages(size);
      char* const memory = static_cast<char*>(pages.data());
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 64, 0u);
      EXPECT_TRUE(all_zero(memory, size)) << size;
      std::memset(memory, 'x', size);
    }
  }
  const ZeroedPages none;
  EXPECT_EQ(none.data(), nullptr);
}

TEST(ZeroedPages, GrowWhereTheyLieAsFarAsAddressesAreReserved) {
  constexpr std::size_t megabyte = std::size_t{1} << 20;
  ZeroedPages small(megabyte);
  EXPECT_FALSE(small.grow_in_place(2 * megabyte));
  EXPECT_EQ(small.size_bytes(), megabyte);

  ZeroedPages pages(3 * megabyte);
  char* const memory = static_cast<char*>(pages.data());
  std::size_t size = 3 * megabyte;
  std::memset(memory, 'x', size);
  for (int doublings = 0; doublings < 4; ++doublings) {
    ASSERT_TRUE(pages.grow_in_place(2 * size));
    ASSERT_EQ(pages.data(), memory);
    EXPECT_EQ(memory[size - 1], 'x');
    EXPECT_TRUE(all_zero(memory + size, size));
    std::memset(memory + size, 'x', size);
    size *= 2;
  }
  EXPECT_FALSE(pages.grow_in_place(megabyte << 20)) << "there are not so many";
  EXPECT_EQ(pages.size_bytes(), size);
}

}  // namespace
}  // namespace hummer::zeroed_pages_test
