#include "batch/crc32.hpp"

#include <array>
#include <cstddef>

#include <immintrin.h>
#include <zlib.h>

namespace hummer::batch {
namespace {

std::uint32_t crc32_by_zlib(std::uint32_t crc, const char* bytes, std::size_t size) {
  return static_cast<std::uint32_t>(crc32_z(crc, reinterpret_cast<const Bytef*>(bytes), size));
}

constexpr std::size_t lane_bytes = 16;
constexpr std::size_t lane_bits = 8 * lane_bytes;
constexpr std::size_t lanes = 4;

// The remainder of x^exponent, as the multiplication wants it: bits reflected, and one to the left,
// since the product of two reflected numbers of 64 bits is one bit short of 128.
constexpr std::int64_t folding_constant(std::size_t exponent) {
  constexpr std::uint32_t polynomial = 0x04c11db7;
  std::uint32_t remainder = 1;
  for (std::size_t i = 0; i < exponent; ++i) {
    remainder = remainder << 1 ^ ((remainder >> 31) != 0 ? polynomial : 0);
  }
  std::uint64_t reflected = 0;
  for (int bit = 0; bit < 32; ++bit) {
    reflected |= static_cast<std::uint64_t>(remainder >> bit & 1) << (31 - bit);
  }
  return static_cast<std::int64_t>(reflected << 1);
}

// What a lane's first and second half are multiplied with to count so many bits further on: the
// first is 64 bits before the second, and 32 are those of the remainder.
struct FoldingConstants {
  std::int64_t of_first;
  std::int64_t of_second;
};
constexpr FoldingConstants folding_by(std::size_t bits) {
  return {folding_constant(bits + 32), folding_constant(bits - 32)};
}

[[gnu::target("pclmul,sse4.1"), gnu::always_inline]] inline __m128i folded(__m128i lane,
                                                                           __m128i constants,
                                                                           __m128i behind) {
  const __m128i first = _mm_clmulepi64_si128(lane, constants, 0x00);
  const __m128i second = _mm_clmulepi64_si128(lane, constants, 0x11);
  return _mm_xor_si128(_mm_xor_si128(first, second), behind);
}

inline __m128i lane_at(const char* bytes) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
}

// The remainder of four lanes and what is behind them.
[[gnu::target("pclmul,sse4.1"), gnu::always_inline]] inline std::uint32_t remainder_of(
    __m128i a, __m128i b, __m128i c, __m128i d, const char* bytes, std::size_t size) {
  constexpr FoldingConstants by_one = folding_by(lane_bits);
  const __m128i one = _mm_set_epi64x(by_one.of_second, by_one.of_first);
  a = folded(folded(folded(a, one, b), one, c), one, d);
  for (; size >= lane_bytes; bytes += lane_bytes, size -= lane_bytes) {
    a = folded(a, one, lane_at(bytes));
  }
  // These 16 bytes, behind nothing, have the remainder of all before.
  std::array<char, lane_bytes> rest;
  _mm_storeu_si128(reinterpret_cast<__m128i*>(rest.data()), a);
  constexpr std::uint32_t of_nothing_inverted = 0xffffffff;
  return crc32_by_zlib(crc32_by_zlib(of_nothing_inverted, rest.data(), rest.size()), bytes, size);
}

// REQUIRES: at least lanes * lane_bytes.
[[gnu::target("pclmul,sse4.1")]] std::uint32_t crc32_by_folding(std::uint32_t crc,
                                                                const char* bytes,
                                                                std::size_t size) {
  constexpr FoldingConstants by_all = folding_by(lanes * lane_bits);
  const __m128i four = _mm_set_epi64x(by_all.of_second, by_all.of_first);
  __m128i a = lane_at(bytes), b = lane_at(bytes + lane_bytes);
  __m128i c = lane_at(bytes + 2 * lane_bytes), d = lane_at(bytes + 3 * lane_bytes);
  // What came before counts as if it were added to the first bytes; the CRC is kept inverted.
  a = _mm_xor_si128(a, _mm_cvtsi32_si128(static_cast<int>(~crc)));
  constexpr std::size_t step = lanes * lane_bytes;
  for (bytes += step, size -= step; size >= step; bytes += step, size -= step) {
    a = folded(a, four, lane_at(bytes));
    b = folded(b, four, lane_at(bytes + lane_bytes));
    c = folded(c, four, lane_at(bytes + 2 * lane_bytes));
    d = folded(d, four, lane_at(bytes + 3 * lane_bytes));
  }
  return remainder_of(a, b, c, d, bytes, size);
}

// Four registers of as many lanes each.
#define HUMMER_WIDE_FOLDING "avx512f,avx512vl,vpclmulqdq,pclmul,sse4.1"
constexpr std::size_t wide_bytes = 64;
constexpr std::size_t wide_step = lanes * wide_bytes;

[[gnu::target(HUMMER_WIDE_FOLDING), gnu::always_inline]] inline __m512i wide_at(const char* bytes) {
  return _mm512_loadu_si512(bytes);
}

[[gnu::target(HUMMER_WIDE_FOLDING), gnu::always_inline]] inline __m512i folded_wide(
    __m512i lanes_of_four, __m512i constants, __m512i behind) {
  const __m512i first = _mm512_clmulepi64_epi128(lanes_of_four, constants, 0x00);
  const __m512i second = _mm512_clmulepi64_epi128(lanes_of_four, constants, 0x11);
  constexpr int xor_of_three = 0x96;
  return _mm512_ternarylogic_epi64(first, second, behind, xor_of_three);
}

[[gnu::target(HUMMER_WIDE_FOLDING), gnu::always_inline]] inline __m512i in_all_lanes(
    FoldingConstants by) {
  return _mm512_set4_epi64(by.of_second, by.of_first, by.of_second, by.of_first);
}

// REQUIRES: at least wide_step.
[[gnu::target(HUMMER_WIDE_FOLDING)]] std::uint32_t crc32_by_wide_folding(std::uint32_t crc,
                                                                         const char* bytes,
                                                                         std::size_t size) {
  constexpr FoldingConstants by_all = folding_by(8 * wide_step);
  constexpr FoldingConstants by_one = folding_by(8 * wide_bytes);
  const __m512i four = in_all_lanes(by_all);
  const __m512i one = in_all_lanes(by_one);
  __m512i a = wide_at(bytes), b = wide_at(bytes + wide_bytes);
  __m512i c = wide_at(bytes + 2 * wide_bytes), d = wide_at(bytes + 3 * wide_bytes);
  a = _mm512_xor_si512(a, _mm512_zextsi128_si512(_mm_cvtsi32_si128(static_cast<int>(~crc))));
  for (bytes += wide_step, size -= wide_step; size >= wide_step;
       bytes += wide_step, size -= wide_step) {
    a = folded_wide(a, four, wide_at(bytes));
    b = folded_wide(b, four, wide_at(bytes + wide_bytes));
    c = folded_wide(c, four, wide_at(bytes + 2 * wide_bytes));
    d = folded_wide(d, four, wide_at(bytes + 3 * wide_bytes));
  }
  a = folded_wide(folded_wide(folded_wide(a, one, b), one, c), one, d);
  for (; size >= wide_bytes; bytes += wide_bytes, size -= wide_bytes) {
    a = folded_wide(a, one, wide_at(bytes));
  }
  std::array<char, wide_bytes> last;
  _mm512_storeu_si512(last.data(), a);
  return remainder_of(lane_at(&last[0]), lane_at(&last[lane_bytes]), lane_at(&last[2 * lane_bytes]),
                      lane_at(&last[3 * lane_bytes]), bytes, size);
}

Crc32Form form_of_this_machine() {
  if (__builtin_cpu_supports("pclmul") == 0) return Crc32Form::zlib;
  return __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("vpclmulqdq") != 0
             ? Crc32Form::folded_widely
             : Crc32Form::folded;
}

}  // namespace

Crc32Form best_crc32_form() {
  static const Crc32Form form = form_of_this_machine();
  return form;
}

std::uint32_t crc32_after(std::uint32_t crc, std::string_view bytes, Crc32Form form) {
  // zlib takes a null pointer for the question of where to begin.
  if (bytes.empty()) return crc;
  if (form == Crc32Form::zlib || bytes.size() < 2 * lanes * lane_bytes) {
    return crc32_by_zlib(crc, bytes.data(), bytes.size());
  }
  if (form == Crc32Form::folded || bytes.size() < 2 * wide_step) {
    return crc32_by_folding(crc, bytes.data(), bytes.size());
  }
  return crc32_by_wide_folding(crc, bytes.data(), bytes.size());
}

std::uint32_t crc32_after(std::uint32_t crc, std::string_view bytes) {
  return crc32_after(crc, bytes, best_crc32_form());
}

}  // namespace hummer::batch
