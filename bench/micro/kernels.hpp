// What both sides of a pair compute: the records, the user's functions with their run-time
// parameters, and checksums in which the order counts.
//
// Everything is header-only and free of the engine, so that the jobs and the hand-written
// programs are compiled from the same lines with the same flags. The functions are as cheap as
// can be: what is measured is what the engine adds around them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace micro {

// Known only at run time.
struct Parameters {
  std::uint64_t seed = 0x5bd1e995;
  std::uint64_t addend = 12345;
  std::uint64_t mask = 0xa5a5a5a5;
};

struct Make {
  std::uint64_t seed;
  std::uint64_t operator()(std::uint64_t index) const { return index ^ seed; }
};

struct Change {
  std::uint64_t addend;
  std::uint64_t mask;
  std::uint64_t operator()(std::uint64_t value) const { return (value + addend) ^ mask; }
};

// Fletcher's two sums in `lanes` lanes that vector units can hold: record i goes to lane i % lanes,
// wherever batches begin and end.
template <typename Word, std::size_t lanes>
class LaneChecksum {
 public:
  void add(const Word* words, std::size_t count) {
    std::size_t i = 0;
    for (; i < count && lane_ != 0; ++i) add_one(words[i]);
    std::array<Word, lanes> sums = sums_;
    std::array<Word, lanes> orders = orders_;
    for (; i + lanes <= count; i += lanes) {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        sums[lane] += words[i + lane];
        orders[lane] += sums[lane];
      }
    }
    sums_ = sums;
    orders_ = orders;
    for (; i < count; ++i) add_one(words[i]);
  }
  std::uint64_t value() const {
    std::uint64_t all = 0;
    for (const Word sum : sums_) all = all * 0x9e3779b97f4a7c15u + sum;
    for (const Word order : orders_) all = all * 0x9e3779b97f4a7c15u + order;
    return all;
  }

 private:
  void add_one(Word word) {
    sums_[lane_] += word;
    orders_[lane_] += sums_[lane_];
    lane_ = (lane_ + 1) % lanes;
  }

  std::array<Word, lanes> sums_{};
  std::array<Word, lanes> orders_{};
  std::size_t lane_ = 0;
};

using Checksum = LaneChecksum<std::uint64_t, 8>;

// 100 bytes without padding.
struct Record {
  std::uint32_t number;
  std::array<std::uint32_t, 24> words;
};
static_assert(sizeof(Record) == 100);

struct MakeRecord {
  std::uint32_t seed;
  Record operator()(std::uint64_t index) const {
    Record record;
    record.number = static_cast<std::uint32_t>(index);
    const std::uint32_t first = (record.number ^ seed) * 2654435761u;
    for (std::uint32_t i = 0; i < record.words.size(); ++i) record.words[i] = first + i;
    return record;
  }
};

// One lane per word of a record.
class RecordChecksum {
 public:
  void add(const Record* records, std::size_t count) {
    std::array<std::uint32_t, words> sums = sums_;
    std::array<std::uint32_t, words> orders = orders_;
    for (std::size_t r = 0; r < count; ++r) {
      std::array<std::uint32_t, words> record;
      std::memcpy(record.data(), records + r, sizeof record);
      for (std::size_t i = 0; i < words; ++i) {
        sums[i] += record[i];
        orders[i] += sums[i];
      }
    }
    sums_ = sums;
    orders_ = orders;
  }
  std::uint64_t value() const {
    std::uint64_t all = 0;
    for (const std::uint32_t sum : sums_) all = all * 0x9e3779b97f4a7c15u + sum;
    for (const std::uint32_t order : orders_) all = all * 0x9e3779b97f4a7c15u + order;
    return all;
  }

 private:
  static constexpr std::size_t words = sizeof(Record) / 4;
  std::array<std::uint32_t, words> sums_{};
  std::array<std::uint32_t, words> orders_{};
};

// As the engine's defaults.
inline constexpr std::size_t batch_records = 1024;
inline constexpr std::size_t ring_batches = 8;
inline constexpr std::size_t socket_buffer_bytes = 64 * 1024;

}  // namespace micro
