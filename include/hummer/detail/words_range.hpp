// Words: the range behind hummer::words (hummer/words.hpp), and its iterator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace hummer {

class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}

  class Iterator {
   public:
    using value_type = std::string_view;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    explicit Iterator(std::string_view text)
        : next_block_(text.data()), end_(text.data() + text.size()) {
      ++*this;
    }

    std::string_view operator*() const {
      return {begin_, static_cast<std::size_t>(word_end_ - begin_)};
    }
    Iterator& operator++() {
      begin_ = next_border();
      word_end_ = begin_ == end_ ? end_ : next_border();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return begin_ == end_; }

   private:
    static constexpr std::size_t block_bytes = 64;

    // Where the next word begins or ends; the text's end when it has no more.
    const char* next_border() {
      while (borders_ == 0) {
        if (next_block_ == end_) return end_;
        load_block();
      }
      const char* const border = block_ + __builtin_ctzll(borders_);
      borders_ &= borders_ - 1;
      return border;
    }

    void load_block() {
      const std::size_t left = static_cast<std::size_t>(end_ - next_block_);
      block_ = next_block_;
      std::uint64_t inside;  // bit i: byte i belongs to a word
      if (left >= block_bytes) [[likely]] {
        inside = inside_words(block_);
        next_block_ += block_bytes;
      } else {
        char last[block_bytes] = {};  // behind the end: no word
        std::memcpy(last, block_, left);
        inside = inside_words(last);
        next_block_ = end_;
      }
      borders_ = inside ^ (inside << 1 | carry_);
      carry_ = inside >> 63;
    }

    static std::uint64_t inside_words(const char* bytes) {
#if defined(__SSE2__)
      // Unsigned a > 0x20: the larger of a and 0x21 is a.
      const __m128i least = _mm_set1_epi8(0x21);
      const auto mask = [&](std::size_t at) {
        const __m128i chunk = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + at));
        const __m128i above = _mm_cmpeq_epi8(_mm_max_epu8(chunk, least), chunk);
        return static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(above)));
      };
      return mask(0) | mask(16) << 16 | mask(32) << 32 | mask(48) << 48;
#else
      std::uint64_t inside = 0;
      for (std::size_t i = 0; i < block_bytes; ++i) {
        inside |= std::uint64_t{static_cast<unsigned char>(bytes[i]) > 0x20} << i;
      }
      return inside;
#endif
    }

    const char* block_ = nullptr;
    const char* next_block_ = nullptr;
    const char* end_ = nullptr;
    std::uint64_t borders_ = 0;  // of the block, those that are still to come
    std::uint64_t carry_ = 0;    // whether the last block ended inside a word
    const char* begin_ = nullptr;
    const char* word_end_ = nullptr;
  };

  Iterator begin() const { return Iterator(text_); }
  std::default_sentinel_t end() const { return {}; }

 private:
  std::string_view text_;
};

}  // namespace hummer
