#include "batch/radix_sort.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace hummer::batch {
namespace {

constexpr std::size_t insertion_most = 32;    // entries that insertion sorts
constexpr std::size_t wide_digits_at = 4096;  // entries from which counting 2048 digits pays
constexpr std::size_t cached_entries = std::size_t{64} << 10;  // 1 MiB with the copy
constexpr unsigned dividing_bits = 8;

void sort_by_insertion(IndexEntry* entries, std::size_t count) {
  for (std::size_t i = 1; i < count; ++i) {
    const IndexEntry entry = entries[i];
    std::size_t to = i;
    for (; to > 0 && entries[to - 1].prefix > entry.prefix; --to) entries[to] = entries[to - 1];
    entries[to] = entry;
  }
}

void copy_entries(const IndexEntry* from, IndexEntry* to, std::size_t count) {
  std::memcpy(to, from, count * sizeof(IndexEntry));
}

// Stably into `to` by the digit at `shift`. `next` has how many entries each digit has, and
// afterwards where those of the digit end.
template <std::size_t digits>
void deal_out(const IndexEntry* from, IndexEntry* to, std::size_t count, unsigned shift,
              std::array<std::uint32_t, digits>& next) {
  std::uint32_t begin = 0;
  for (std::uint32_t& each : next) {
    const std::uint32_t of_digit = each;
    each = begin;
    begin += of_digit;
  }
  for (std::size_t i = 0; i < count; ++i) {
    to[next[(from[i].prefix >> shift) & (digits - 1)]++] = from[i];
  }
}

// From the lowest of the bits [low, high) on; where the result is.
template <unsigned digit_bits>
IndexEntry* sort_from_low(IndexEntry* from, IndexEntry* other, std::size_t count, unsigned low,
                          unsigned high) {
  constexpr unsigned most_passes = (32 + digit_bits - 1) / digit_bits;
  constexpr std::uint32_t digits = 1U << digit_bits;
  const unsigned passes = (high - low + digit_bits - 1) / digit_bits;
  std::array<std::array<std::uint32_t, digits>, most_passes> counts;
  for (unsigned pass = 0; pass < passes; ++pass) counts[pass].fill(0);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t rest = from[i].prefix >> low;
    for (unsigned pass = 0; pass < passes; ++pass) {
      ++counts[pass][rest & (digits - 1)];
      rest >>= digit_bits;
    }
  }
  for (unsigned pass = 0; pass < passes; ++pass) {
    const unsigned shift = low + pass * digit_bits;
    std::array<std::uint32_t, digits>& next = counts[pass];
    if (next[(from[0].prefix >> shift) & (digits - 1)] == count) continue;  // all have this digit
    deal_out(from, other, count, shift, next);
    std::swap(from, other);
  }
  return from;
}

// Sorts what is in `from`, into `other` or where it is. Calls itself at most four times deep, as
// each call is for fewer bits.
void sort_entries(IndexEntry* from, IndexEntry* other, std::size_t count, bool into_other) {
  IndexEntry* const result = into_other ? other : from;
  if (count <= insertion_most) {
    if (count == 0) return;
    sort_by_insertion(from, count);
    if (into_other) copy_entries(from, other, count);
    return;
  }
  std::uint32_t any = 0;
  std::uint32_t all = ~std::uint32_t{0};
  for (std::size_t i = 0; i < count; ++i) {
    any |= from[i].prefix;
    all &= from[i].prefix;
  }
  const std::uint32_t differing = any ^ all;
  if (differing == 0) {
    if (into_other) copy_entries(from, other, count);
    return;
  }
  const auto low = static_cast<unsigned>(std::countr_zero(differing));
  const auto high = static_cast<unsigned>(std::bit_width(differing));
  if (count > cached_entries && high - low > dividing_bits) {
    constexpr std::uint32_t digits = 1U << dividing_bits;
    const unsigned shift = high - dividing_bits;
    std::array<std::uint32_t, digits> next{};
    for (std::size_t i = 0; i < count; ++i) ++next[(from[i].prefix >> shift) & (digits - 1)];
    deal_out(from, other, count, shift, next);
    std::uint32_t begin = 0;
    for (const std::uint32_t end : next) {
      sort_entries(other + begin, from + begin, end - begin, !into_other);
      begin = end;
    }
    return;
  }
  IndexEntry* const sorted = count < wide_digits_at
                                 ? sort_from_low<8>(from, other, count, low, high)
                                 : sort_from_low<11>(from, other, count, low, high);
  if (sorted != result) copy_entries(sorted, result, count);
}

}  // namespace

void radix_sort(IndexEntry* entries, IndexEntry* scratch, std::size_t count) {
  sort_entries(entries, scratch, count, false);
}

}  // namespace hummer::batch
