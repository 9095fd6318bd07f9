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

// REQUIRES: at least lanes * lane_bytes.
[[gnu::target("pclmul,sse4.1")]] std::uint32_t crc32_by_folding(std::uint32_t crc,
                                                                const char* bytes,
                                                                std::size_t size) {
  constexpr FoldingConstants by_all = folding_by(lanes * lane_bits);
  constexpr FoldingConstants by_one = folding_by(lane_bits);
  const __m128i four = _mm_set_epi64x(by_all.of_second, by_all.of_first);
  const __m128i one = _mm_set_epi64x(by_one.of_second, by_one.of_first);
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

}  // namespace

std::uint32_t crc32_after(std::uint32_t crc, std::string_view bytes) {
  static const bool can_fold = __builtin_cpu_supports("pclmul") != 0;
  // zlib takes a null pointer for the question of where to begin.
  if (bytes.empty()) return crc;
  if (!can_fold || bytes.size() < 2 * lanes * lane_bytes) {
    return crc32_by_zlib(crc, bytes.data(), bytes.size());
  }
  return crc32_by_folding(crc, bytes.data(), bytes.size());
}

}  // namespace hummer::batch
