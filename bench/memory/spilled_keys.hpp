// The keys of spilled_state's records, by their index alone; spilled_rocksdb has the same. Without
// what other benchmarks have: an earlier commit, which ours is compared with, gets it as it is.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace spilled {

constexpr std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}
inline std::uint64_t below(std::uint64_t draw, std::uint64_t bound) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(draw) * bound) >> 64);
}

struct Keys {
  std::uint64_t all = 0;
  std::uint64_t touched = 0;
  bool zipf = false;

  // Each of the first `all` records has a key of its own.
  std::uint64_t of(std::uint64_t index) const {
    constexpr std::uint64_t stride = 2'654'435'761;  // a prime
    if (index < all) return mixed(index * stride % all);
    const std::uint64_t draw = mixed(mixed(index));
    if (!zipf) return mixed(below(draw, touched));
    // Each octave of ranks is as likely as any other.
    const std::uint64_t first = std::uint64_t{1}
                                << below(draw, static_cast<std::uint64_t>(std::bit_width(touched)));
    return mixed(first - 1 + below(mixed(draw), std::min(first, touched - first + 1)));
  }
};

}  // namespace spilled
