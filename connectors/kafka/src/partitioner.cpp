#include <hummer/kafka/partitioner.hpp>

#include <array>

namespace hummer::kafka {

std::uint32_t murmur2(std::string_view bytes) {
  constexpr std::uint32_t factor = 0x5bd1e995;
  constexpr int shift = 24;
  const auto at = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i]));
  };
  std::uint32_t hash = 0x9747b28c ^ static_cast<std::uint32_t>(bytes.size());
  std::size_t i = 0;
  for (; i + 4 <= bytes.size(); i += 4) {
    std::uint32_t word = at(i) | at(i + 1) << 8 | at(i + 2) << 16 | at(i + 3) << 24;
    word *= factor;
    word ^= word >> shift;
    hash = hash * factor ^ word * factor;
  }
  const std::size_t left = bytes.size() - i;
  if (left == 3) hash ^= at(i + 2) << 16;
  if (left >= 2) hash ^= at(i + 1) << 8;
  if (left >= 1) hash = (hash ^ at(i)) * factor;
  hash = (hash ^ hash >> 13) * factor;
  return hash ^ hash >> 15;
}

std::uint32_t murmur2(std::int64_t number) {
  std::array<char, sizeof number> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(static_cast<std::uint64_t>(number) >> (56 - 8 * i));
  }
  return murmur2(std::string_view(bytes.data(), bytes.size()));
}

}  // namespace hummer::kafka
