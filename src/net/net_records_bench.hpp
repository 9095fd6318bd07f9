// What the programs of net_bench carry: records of 16 or of 100 bytes, of which the producer writes
// every byte and the consumer sums every word.
//
//   Records<16>::fill(room, count, first);      // those with the numbers first, first + 1, ...
//   Records<16>::Sums sums; sums.add(bytes, count); sums.value();
//
// Sums are two per word of a record (Fletcher's), so a record in the wrong place changes them. Both
// loops are as cheap as x86-64 lets them be, and are the same in all programs: what is measured is
// what carries the records. Neither needs its bytes aligned.
//
// Thread: one at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <hummer/detail/type_descriptor.hpp>

namespace hummer::net_bench {

// Four words, as every x86-64 holds them in a register. Spelt out, because compilers find them by
// themselves in one of two programs and not in the other.
using Words [[gnu::vector_size(16)]] = std::uint32_t;

inline Words load_words(const char* from) {
  Words words;
  std::memcpy(&words, from, sizeof words);
  return words;
}
inline void store_words(char* to, const Words& words) { std::memcpy(to, &words, sizeof words); }

template <std::size_t record_bytes>
class Records {
 public:
  static_assert(record_bytes == 16 || record_bytes == 100);
  static constexpr std::size_t bytes = record_bytes;
  // Of 100 bytes the first word is the record's number, and the others are these; of 16 bytes the
  // number is the first of four.
  static constexpr std::size_t vectors = record_bytes / sizeof(Words);
  static constexpr bool has_word_before = record_bytes % sizeof(Words) != 0;

  struct Record {
    std::uint32_t number;
    std::array<std::uint32_t, record_bytes / 4 - 1> words;
  };
  static_assert(sizeof(Record) == record_bytes);

  static void fill(char* to, std::size_t count, std::uint32_t first) {
    constexpr std::uint32_t step = 2654435761u;
    if constexpr (has_word_before) {
      for (std::uint32_t i = 0; i < count; ++i, to += record_bytes) {
        const std::uint32_t number = first + i;
        std::memcpy(to, &number, sizeof number);
        const std::uint32_t word = number * step;
        const Words words = {word, word + 1, word + 2, word + 3};
        for (std::uint32_t v = 0; v < vectors; ++v) {
          store_words(to + sizeof number + v * sizeof(Words), words + 4 * v);
        }
      }
    } else {
      const std::uint32_t word = first * step;
      Words words = {first, word, word + 1, word + 2};
      for (std::size_t i = 0; i < count; ++i, to += record_bytes) {
        store_words(to, words);
        words += Words{1, step, step, step};
      }
    }
  }

  class Sums {
   public:
    void add(const char* from, std::size_t count) {
      std::uint32_t number_sum = number_sum_, number_order = number_order_;
      std::array<Words, vectors> sums = sums_, orders = orders_;
      for (std::size_t i = 0; i < count; ++i, from += record_bytes) {
        const char* words = from;
        if constexpr (has_word_before) {
          std::uint32_t number;
          std::memcpy(&number, from, sizeof number);
          number_order += number_sum += number;
          words += sizeof number;
        }
        for (std::size_t v = 0; v < vectors; ++v) {
          orders[v] += sums[v] += load_words(words + v * sizeof(Words));
        }
      }
      number_sum_ = number_sum, number_order_ = number_order;
      sums_ = sums;
      orders_ = orders;
    }
    std::uint64_t value() const {
      std::uint64_t all = mix(number_sum_, number_order_);
      for (std::size_t v = 0; v < vectors; ++v) {
        for (std::size_t i = 0; i < 4; ++i) all = mix(mix(all, sums_[v][i]), orders_[v][i]);
      }
      return all;
    }

   private:
    static std::uint64_t mix(std::uint64_t all, std::uint64_t word) {
      return all * 0x9e3779b97f4a7c15u + word;
    }

    std::uint32_t number_sum_ = 0, number_order_ = 0;
    std::array<Words, vectors> sums_{}, orders_{};
  };

  // Of the first `total` records, made anew.
  static std::uint64_t expected_sum(std::uint64_t total) {
    std::vector<char> room(16 * 1024);
    const std::uint64_t most = room.size() / record_bytes;
    Sums sums;
    for (std::uint64_t made = 0; made < total;) {
      const std::size_t count = std::min(most, total - made);
      fill(room.data(), count, static_cast<std::uint32_t>(made));
      sums.add(room.data(), count);
      made += count;
    }
    return sums.value();
  }

  static const TypeDescriptor& type() { return type_of<Record>(); }
};

}  // namespace hummer::net_bench
