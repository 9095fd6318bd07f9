// The rows of the workloads, for jobs and for bare loops: a row is a pure function of the seed,
// whose salt it is given, and of its number.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "stateful/workload.hpp"
#include "zipf.hpp"

namespace late_merge {

// Drawn by Zipf's law, or uniformly; the same rows as those of bench/stateful where the salt is 0
// and keys are uniform.
struct KeyDraws {
  std::uint64_t keys = 0;
  std::uint64_t salt = 0;
  std::optional<Zipf> zipf = {};
};
// As small as a pointer: what makes records is copied for each batch if it is small.
struct DrawnKey {
  const KeyDraws* draws = nullptr;
  std::uint64_t operator()(std::uint64_t index) const {
    const std::uint64_t draw = stateful::mixed(index ^ draws->salt);
    return draws->zipf ? (*draws->zipf)(draw) : stateful::below(draw, draws->keys);
  }
};

// What is counted: a key, and values that nobody reads.
struct KeyedRow {
  std::uint64_t key;
  std::array<std::uint64_t, 3> values;
};
static_assert(sizeof(KeyedRow) == 32);
struct KeyedRowOfIndex {
  DrawnKey key_of;
  std::uint64_t salt;
  KeyedRow operator()(std::uint64_t index) const {
    const std::uint64_t draw = stateful::mixed(~index ^ salt);
    return {key_of(index), {draw, ~draw, index}};
  }
};

// The fields of a row: what only aligns the next one is left out.
template <typename Record>
inline constexpr std::size_t row_bytes = sizeof(Record);
template <>
inline constexpr std::size_t row_bytes<stateful::Person> = 206;
template <>
inline constexpr std::size_t row_bytes<stateful::Auction> = 269;
template <>
inline constexpr std::size_t row_bytes<stateful::AdEvent> = 78;

template <typename Record>
std::uint64_t hash_of_bytes(const Record& record) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(&record);
  std::uint64_t hash = row_bytes<Record>;
  for (std::size_t at = 0; at < row_bytes<Record>; at += sizeof hash) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + at, std::min(sizeof word, row_bytes<Record> - at));
    hash = stateful::mixed(hash ^ word);
  }
  return hash;
}

}  // namespace late_merge
