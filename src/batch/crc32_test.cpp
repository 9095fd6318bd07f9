#include "batch/crc32.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

namespace hummer::batch::crc32_test {
namespace {

TEST(Crc32, IsTheOneOfTheStandard) {
  EXPECT_EQ(crc32_after(0, ""), 0);
  EXPECT_EQ(crc32_after(0, "123456789"), 0xcbf43926);
  EXPECT_EQ(crc32_after(crc32_after(0, "1234"), "56789"), 0xcbf43926);
}

TEST(Crc32, IsThatOfZlibAtEveryLengthAndPlace) {
  std::mt19937 random(1);
  std::vector<Crc32Form> forms;
  for (const Crc32Form form : {Crc32Form::zlib, Crc32Form::folded, Crc32Form::folded_widely}) {
    if (form <= best_crc32_form()) forms.push_back(form);
  }
  for (std::size_t size = 0; size < 1'400; ++size) {
    for (const std::size_t offset : {0, 1, 7, 15}) {
      // In a place of that size, so that a read past it is seen.
      const auto place = std::make_unique<char[]>(offset + size);
      for (std::size_t i = 0; i < offset + size; ++i) place[i] = static_cast<char>(random());
      const std::string_view bytes(place.get() + offset, size);
      const auto before = static_cast<std::uint32_t>(random());
      const auto expected = static_cast<std::uint32_t>(
          crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
      EXPECT_EQ(crc32_after(before, bytes), expected) << size << ' ' << offset;
      for (const Crc32Form form : forms) {
        EXPECT_EQ(crc32_after(before, bytes, form), expected)
            << size << ' ' << offset << ' ' << static_cast<int>(form);
      }
    }
  }
}

TEST(Crc32, CutsOfTheBytesDoNotMatter) {
  std::mt19937 random(2);
  std::string bytes(100'000, ' ');
  for (char& each : bytes) each = static_cast<char>(random());
  const std::uint32_t whole = crc32_after(0, bytes);
  for (std::size_t piece = 1; piece < bytes.size(); piece = piece * 3 + 1) {
    std::uint32_t crc = 0;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      crc = crc32_after(crc, std::string_view(bytes).substr(at, piece));
    }
    EXPECT_EQ(crc, whole) << piece;
  }
}

}  // namespace
}  // namespace hummer::batch::crc32_test
