#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include <hummer/detail/more_aggregates.hpp>

namespace hummer::detail {
namespace {

// A sketch's bytes are the hashes, sorted, of eight bytes each; or a register per byte.
constexpr std::size_t most_hashes = 64;
constexpr int register_bits = 12;
constexpr std::size_t registers = std::size_t{1} << register_bits;
constexpr int most_zeros = 64 - register_bits;
static_assert(most_hashes * sizeof(std::uint64_t) < registers);

bool has_registers(const DistinctSketch& sketch) { return sketch.bytes.size() == registers; }

std::uint64_t hash_at(const DistinctSketch& sketch, std::size_t index) {
  std::uint64_t hash = 0;
  std::memcpy(&hash, sketch.bytes.data() + index * sizeof hash, sizeof hash);
  return hash;
}

// The first bits say which register, and where the first one comes in the others what stands in it.
void add_to_registers(std::string& bytes, std::uint64_t hash) {
  const std::size_t index = hash >> most_zeros;
  const int zeros =
      std::countl_zero(hash << register_bits | std::uint64_t{1} << (register_bits - 1));
  const auto rank = static_cast<char>(zeros + 1);
  bytes[index] = std::max(bytes[index], rank);
}

void take_registers(DistinctSketch& sketch) {
  std::string bytes(registers, '\0');
  for (std::size_t i = 0; i < sketch.bytes.size() / sizeof(std::uint64_t); ++i) {
    add_to_registers(bytes, hash_at(sketch, i));
  }
  sketch.bytes = std::move(bytes);
}

// Ertl's estimator: how often each rank occurs, with corrections for registers that are empty or
// full.
double sigma(double x) {
  if (x == 1) return INFINITY;
  double sum = x;
  for (double y = 1, before = -1; sum != before; y += y) {
    x *= x;
    before = sum;
    sum += x * y;
  }
  return sum;
}

double tau(double x) {
  if (x == 0 || x == 1) return 0;
  double rest = 1 - x;
  for (double y = 1, before = -1; rest != before;) {
    x = std::sqrt(x);
    before = rest;
    y *= 0.5;
    rest -= (1 - x) * (1 - x) * y;
  }
  return rest / 3;
}

}  // namespace

void add_hash(DistinctSketch& sketch, std::uint64_t hash) {
  if (has_registers(sketch)) return add_to_registers(sketch.bytes, hash);
  const std::size_t count = sketch.bytes.size() / sizeof hash;
  std::size_t first = 0, last = count;
  while (first < last) {
    const std::size_t middle = (first + last) / 2;
    (hash_at(sketch, middle) < hash ? first : last) =
        hash_at(sketch, middle) < hash ? middle + 1 : middle;
  }
  if (first < count && hash_at(sketch, first) == hash) return;
  if (count < most_hashes) {
    char bytes[sizeof hash];
    std::memcpy(bytes, &hash, sizeof hash);
    sketch.bytes.insert(first * sizeof hash, bytes, sizeof hash);
    return;
  }
  take_registers(sketch);
  add_to_registers(sketch.bytes, hash);
}

void merge(DistinctSketch& sketch, const DistinctSketch& other) {
  if (!has_registers(other)) {
    for (std::size_t i = 0; i < other.bytes.size() / sizeof(std::uint64_t); ++i) {
      add_hash(sketch, hash_at(other, i));
    }
    return;
  }
  if (!has_registers(sketch)) take_registers(sketch);
  for (std::size_t i = 0; i < registers; ++i) {
    sketch.bytes[i] = std::max(sketch.bytes[i], other.bytes[i]);
  }
}

std::uint64_t estimate(const DistinctSketch& sketch) {
  if (!has_registers(sketch)) return sketch.bytes.size() / sizeof(std::uint64_t);
  std::uint64_t ranks[most_zeros + 2] = {};
  for (const char rank : sketch.bytes) {
    // What comes from a damaged savepoint must not write elsewhere.
    ++ranks[std::clamp<int>(rank, 0, most_zeros + 1)];
  }
  constexpr auto all = static_cast<double>(registers);
  double z = all * tau(1 - static_cast<double>(ranks[most_zeros + 1]) / all);
  for (int rank = most_zeros; rank >= 1; --rank) {
    z = 0.5 * (z + static_cast<double>(ranks[rank]));
  }
  z += all * sigma(static_cast<double>(ranks[0]) / all);
  const double alpha = 0.5 / std::log(2.0);
  return static_cast<std::uint64_t>(std::llround(alpha * all * all / z));
}

}  // namespace hummer::detail
