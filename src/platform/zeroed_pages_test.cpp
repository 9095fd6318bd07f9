#include <hummer/zeroed_pages.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace hummer {
namespace {

TEST(ZeroedPages, AreZeroAlignedAndWritableToTheLastByte) {
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{100}, std::size_t{4096}, (std::size_t{2} << 20) - 1,
        std::size_t{2} << 20, (std::size_t{6} << 20) + 1}) {
    for (int round = 0; round < 2; ++round) {  // the second may get what the first gave back
      char* const memory = static_cast<char*>(allocate_zeroed_pages(size));
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 64, 0u);
      EXPECT_TRUE(std::all_of(memory, memory + size, [](char c) { return c == 0; })) << size;
      std::memset(memory, 'x', size);
      free_zeroed_pages(memory, size);
    }
  }
  free_zeroed_pages(nullptr, 0);
}

}  // namespace
}  // namespace hummer
