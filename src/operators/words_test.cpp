#include <hummer/words.hpp>

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace hummer::words_test {
namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> found;
  for (const std::string_view word : words(text)) found.emplace_back(word);
  return found;
}

std::vector<std::string> slowly(std::string_view text) {
  std::vector<std::string> found;
  std::string word;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) > 0x20) {
      word += c;
    } else if (!word.empty()) {
      found.push_back(std::exchange(word, {}));
    }
  }
  if (!word.empty()) found.push_back(word);
  return found;
}

TEST(Words, OfALine) {
  EXPECT_EQ(words_of("to be  or\tnot"), (std::vector<std::string>{"to", "be", "or", "not"}));
  EXPECT_EQ(words_of("  spaced  "), std::vector<std::string>{"spaced"});
  EXPECT_TRUE(words_of("").empty());
  EXPECT_TRUE(words_of(std::string_view()).empty());
  EXPECT_TRUE(words_of(" \t \x01").empty());
  EXPECT_EQ(words_of("\xff\x80 \x7f"), (std::vector<std::string>{"\xff\x80", "\x7f"}));
}

// Every length around the blocks of 64 bytes, in memory that ends where the text does.
TEST(Words, AreThoseOfALoopOverBytes) {
  std::mt19937 random(7);
  for (std::size_t length = 0; length < 300; ++length) {
    for (const int blanks : {2, 6, 40, 1000}) {
      std::vector<char> text(length);
      for (char& c : text) {
        c = random() % static_cast<unsigned>(blanks) == 0 ? static_cast<char>(random() % 0x21)
                                                          : static_cast<char>(random() % 256);
      }
      const std::string_view view(text.data(), text.size());
      EXPECT_EQ(words_of(view), slowly(view)) << length;
    }
  }
}

}  // namespace
}  // namespace hummer::words_test
