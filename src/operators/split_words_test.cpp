#include <hummer/split_words.hpp>

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include <hummer/detail/instruction_set.hpp>

#include "operators/split_words_kernels.hpp"

namespace hummer::split_words_test {
namespace {

struct Level {
  InstructionSet set;
  FindWords find;
};
std::vector<Level> levels() {
  std::vector<Level> all;
  for (const Level& level :
       {Level{InstructionSet::v2, find_words_v2}, Level{InstructionSet::v3, find_words_v3},
        Level{InstructionSet::v4, find_words_v4}}) {
    if (level.set <= best_instruction_set()) all.push_back(level);
  }
  return all;
}

bool is_blank(char c) { return static_cast<unsigned char>(c) <= 0x20; }

// What the header promises, a byte at a time.
std::size_t naive(std::string_view text, std::size_t capacity,
                  std::vector<std::string_view>& words) {
  words.clear();
  std::size_t at = 0;
  for (;;) {
    while (at < text.size() && is_blank(text[at])) ++at;
    if (at == text.size()) return at;
    if (words.size() == capacity) return at;
    const std::size_t begin = at;
    while (at < text.size() && !is_blank(text[at])) ++at;
    words.push_back(text.substr(begin, at - begin));
  }
}

void expect_same(std::string_view text, std::size_t capacity) {
  std::vector<std::string_view> expected;
  const std::size_t expected_consumed = naive(text, capacity, expected);
  for (const Level& level : levels()) {
    // One record more, which must stay as it is.
    const std::string_view untouched("untouched");
    std::vector<std::string_view> words(capacity + 1, untouched);
    std::size_t count = 77777;
    const std::size_t consumed = level.find(
        text.data(), text.size(), reinterpret_cast<WordView*>(words.data()), capacity, count);
    const std::string what = "level " + std::to_string(static_cast<int>(level.set) + 2) +
                             ", size " + std::to_string(text.size()) + ", capacity " +
                             std::to_string(capacity);
    ASSERT_EQ(consumed, expected_consumed) << what;
    ASSERT_EQ(count, expected.size()) << what;
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(words[i].data(), expected[i].data()) << what << ", word " << i;
      ASSERT_EQ(words[i].size(), expected[i].size()) << what << ", word " << i;
    }
    ASSERT_EQ(words[capacity].data(), untouched.data()) << what;
  }
}

// Text in a buffer with the slack that blocks have, at `shift` bytes from a cache line. What is
// behind it looks like the middle of a word.
class Padded {
 public:
  Padded(std::string_view text, std::size_t shift)
      : bytes_(shift + text.size() + 64 + 64, 'x'), shift_(shift), size_(text.size()) {
    text.copy(start(), text.size());
  }
  std::string_view view() { return {start(), size_}; }

 private:
  char* start() {
    const auto address = reinterpret_cast<std::uintptr_t>(bytes_.data());
    return bytes_.data() + ((64 - address % 64) % 64 + shift_) % 64;
  }
  std::string bytes_;
  std::size_t shift_;
  std::size_t size_;
};

TEST(SplitWords, FindsWhatANaiveLoopFindsInRandomText) {
  std::mt19937 random(20240601);
  const std::string_view letters("ab\x7f\x80\xff!\x21", 7);
  const std::string_view blanks(" \n\t\0\x1f\r ", 7);
  for (int round = 0; round < 4000; ++round) {
    const std::size_t size = random() % (round % 10 == 0 ? 2000 : 260);
    const unsigned blank_percent = random() % 101;
    std::string text(size, ' ');
    for (char& c : text) {
      c = random() % 100 < blank_percent ? blanks[random() % blanks.size()]
                                         : letters[random() % letters.size()];
    }
    Padded padded(text, random() % 64);
    const std::size_t capacity = random() % 4 == 0 ? 1 + random() % 40 : size + 1;
    expect_same(padded.view(), capacity);
    if (HasFatalFailure()) return;
  }
}

TEST(SplitWords, EveryAlignmentAndLengthAroundABlock) {
  for (std::size_t size = 0; size <= 200; ++size) {
    for (const std::size_t period : {1u, 2u, 3u, 7u, 64u, 65u, 1000u}) {
      std::string text(size, 'w');
      for (std::size_t i = period - 1; i < size; i += period) text[i] = ' ';
      Padded padded(text, size % 64);
      for (const std::size_t capacity : {std::size_t{1}, std::size_t{31}, std::size_t{500}}) {
        expect_same(padded.view(), capacity);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(SplitWords, EveryByteAloneIsAWordOrNot) {
  for (int byte = 0; byte < 256; ++byte) {
    Padded padded(std::string{' ', static_cast<char>(byte), ' '}, 5);
    expect_same(padded.view(), 4);
  }
}

TEST(SplitWords, EveryCapacityFromNoneOn) {
  std::string text;
  for (int i = 0; i < 150; ++i) text += std::string(1 + i % 5, 'a') + (i % 3 == 0 ? " \n" : " ");
  Padded padded(text, 17);
  for (std::size_t capacity = 0; capacity <= 160; ++capacity) expect_same(padded.view(), capacity);
}

TEST(SplitWords, AWordAcrossManyBlocks) {
  for (const std::size_t length : {63u, 64u, 65u, 127u, 128u, 5000u}) {
    Padded padded("a " + std::string(length, 'L') + " b", 3);
    expect_same(padded.view(), 10);
    expect_same(padded.view(), 1);
    expect_same(padded.view(), 2);
    Padded alone(std::string(length, 'L'), 0);
    expect_same(alone.view(), 1);
  }
}

TEST(SplitWords, ThePublicFunctionUsesSpans) {
  Padded padded(" to be  or not\n", 0);
  std::string_view words[8];
  std::size_t count = 0;
  EXPECT_EQ(find_words(padded.view(), words, count), 15u);
  ASSERT_EQ(count, 4u);
  EXPECT_EQ(words[0], "to");
  EXPECT_EQ(words[3], "not");
  EXPECT_EQ(find_words({}, words, count), 0u);
  EXPECT_EQ(count, 0u);
}

}  // namespace
}  // namespace hummer::split_words_test
