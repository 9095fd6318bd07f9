// Random: the only source of randomness above the platform.
//
// Linux: seeded from the kernel once, then a counter-based generator
// (SplitMix64: Steele, Lea, Flood, OOPSLA 2014). Simulated: seeded by the
// simulation, so that a run can be replayed. Not for secrets, except fill().
//
// Thread: any (lock-free).
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

namespace hummer {

// SplitMix64's output function: mixes all bits of `value`.
constexpr std::uint64_t mix_bits(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  virtual ~Random() = default;

  std::uint64_t next() {
    constexpr std::uint64_t golden = 0x9e3779b97f4a7c15u;
    return mix_bits(state_.fetch_add(golden, std::memory_order_relaxed) + golden);
  }
  // Uniform in [0, bound). REQUIRES: bound > 0.
  std::uint64_t below(std::uint64_t bound) {
    __extension__ using Wide = unsigned __int128;  // multiply and shift instead of a division
    return static_cast<std::uint64_t>((static_cast<Wide>(next()) * bound) >> 64);
  }
  // Uniform in [minimum, maximum].
  std::int64_t between(std::int64_t minimum, std::int64_t maximum) {
    return minimum +
           static_cast<std::int64_t>(below(static_cast<std::uint64_t>(maximum - minimum) + 1));
  }
  // True with the given probability (0 never, 1 always).
  bool chance(double probability) {
    return static_cast<double>(next() >> 11) * 0x1.0p-53 < probability;
  }
  // Fit for tokens on Linux: from the kernel.
  virtual void fill(std::span<char> bytes);

 private:
  std::atomic<std::uint64_t> state_;
};

}  // namespace hummer
