// Zipf's law: of N keys the one of rank k is drawn with a probability in proportion to k^-z, for
// any z >= 0. The draw is a look-up in a table, not an approximation by octaves as in
// bench/stateful, since z is what is varied here.
//
//   const Zipf zipf(1'000'000, 0.9);
//   const std::uint64_t key = zipf(mixed(index));   // 0 is the most frequent one
//
// Ranks up to 127 have an entry each, those behind share entries of at most 1/64 of their rank,
// within which all are as likely (the error of a probability is below 0.0001 of it). A guide table
// by the upper bits of the draw says where the search begins.
//
// duckdb_late_merge.py makes the same table by the same steps.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "stateful/keys.hpp"

namespace late_merge {

class Zipf {
 public:
  // REQUIRES: keys > 0.
  Zipf(std::uint64_t keys, double exponent) {
    std::vector<double> cumulated;
    double total = 0;
    for (std::uint64_t rank = 1; rank <= keys;) {
      const std::uint64_t share = std::max<std::uint64_t>(1, std::bit_floor(rank) >> 6);
      const std::uint64_t size = std::min(share, keys + 1 - rank);
      const double middle = static_cast<double>(rank) + static_cast<double>(size - 1) / 2;
      total += static_cast<double>(size) * std::pow(middle, -exponent);
      cumulated.push_back(total);
      entries_.push_back({.last_draw = UINT64_MAX, .first_key = rank - 1, .size = size});
      rank += size;
    }
    for (std::size_t i = 0; i + 1 < entries_.size(); ++i) {
      const double share = cumulated[i] / total;
      if (share < 1) entries_[i].last_draw = static_cast<std::uint64_t>(share * 0x1p64) - 1;
    }
    fill_guide();
  }

  std::uint64_t operator()(std::uint64_t draw) const {
    const Entry* entry = entries_.data() + guide_[draw >> guide_shift];
    while (draw > entry->last_draw) ++entry;
    return entry->first_key + stateful::below(stateful::mixed(draw), entry->size);
  }

 private:
  struct Entry {
    std::uint64_t last_draw;
    std::uint64_t first_key;
    std::uint64_t size;
  };
  static constexpr int guide_shift = 50;

  void fill_guide() {
    guide_.resize(std::size_t{1} << (64 - guide_shift));
    std::size_t at = 0;
    for (std::size_t i = 0; i < guide_.size(); ++i) {
      while (entries_[at].last_draw < static_cast<std::uint64_t>(i) << guide_shift) ++at;
      guide_[i] = static_cast<std::uint16_t>(at);
    }
  }

  std::vector<Entry> entries_;
  std::vector<std::uint16_t> guide_;  // the first entry that a draw with these upper bits may be of
};

}  // namespace late_merge
