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

// A millisecond of event time per 1,024 records; a watermark goes behind each of these runs.
inline constexpr std::uint64_t records_per_millisecond = 1024;

struct TimeOf {
  std::uint64_t seed;
  std::int64_t operator()(std::uint64_t made) const {
    return static_cast<std::int64_t>((made ^ seed) / records_per_millisecond);
  }
};

// Two words or four, as every x86-64 holds them in a register. Spelt out, because compilers find
// them by themselves in one of two programs and not in the other.
using Words64 [[gnu::vector_size(16)]] = std::uint64_t;
using Words32 [[gnu::vector_size(16)]] = std::uint32_t;

template <typename Vector>
Vector load(const void* from) {
  Vector vector;
  std::memcpy(&vector, from, sizeof vector);
  return vector;
}

inline std::uint64_t mix(std::uint64_t all, std::uint64_t word) {
  return all * 0x9e3779b97f4a7c15u + word;
}

// Fletcher's two sums in eight lanes: record i goes to lane i % 8, wherever batches begin and end.
class Checksum {
 public:
  void add(const std::uint64_t* values, std::size_t count) {
    std::size_t i = 0;
    for (; i < count && lane_ != 0; ++i) add_one(values[i]);
    Words64 sum0 = sums_[0], sum1 = sums_[1], sum2 = sums_[2], sum3 = sums_[3];
    Words64 order0 = orders_[0], order1 = orders_[1], order2 = orders_[2], order3 = orders_[3];
    for (; i + 8 <= count; i += 8) {
      order0 += sum0 += load<Words64>(values + i);
      order1 += sum1 += load<Words64>(values + i + 2);
      order2 += sum2 += load<Words64>(values + i + 4);
      order3 += sum3 += load<Words64>(values + i + 6);
    }
    sums_[0] = sum0, sums_[1] = sum1, sums_[2] = sum2, sums_[3] = sum3;
    orders_[0] = order0, orders_[1] = order1, orders_[2] = order2, orders_[3] = order3;
    for (; i < count; ++i) add_one(values[i]);
  }
  void add(const std::int64_t* values, std::size_t count) {
    add(reinterpret_cast<const std::uint64_t*>(values), count);
  }
  std::uint64_t value() const {
    std::uint64_t all = 0;
    for (const Words64& sum : sums_) all = mix(mix(all, sum[0]), sum[1]);
    for (const Words64& order : orders_) all = mix(mix(all, order[0]), order[1]);
    return all;
  }

 private:
  void add_one(std::uint64_t value) {
    sums_[lane_ / 2][lane_ % 2] += value;
    orders_[lane_ / 2][lane_ % 2] += sums_[lane_ / 2][lane_ % 2];
    lane_ = (lane_ + 1) % 8;
  }

  std::array<Words64, 4> sums_{};
  std::array<Words64, 4> orders_{};
  std::size_t lane_ = 0;
};

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
    const Words32 four = {first, first + 1, first + 2, first + 3};
    for (std::uint32_t i = 0; i < 6; ++i) {
      const Words32 words = four + 4 * i;
      std::memcpy(record.words.data() + 4 * i, &words, sizeof words);
    }
    return record;
  }
};

struct TimeOfRecord {
  std::int64_t operator()(const Record& record) const {
    return static_cast<std::int64_t>(record.number / records_per_millisecond);
  }
};

// One lane per word of a record.
class RecordChecksum {
 public:
  void add(const Record* records, std::size_t count) {
    std::uint32_t number_sum = number_sum_, number_order = number_order_;
    std::array<Words32, 6> sums = sums_;
    std::array<Words32, 6> orders = orders_;
    for (std::size_t r = 0; r < count; ++r) {
      number_order += number_sum += records[r].number;
      const std::uint32_t* words = records[r].words.data();
      for (std::size_t i = 0; i < 6; ++i) orders[i] += sums[i] += load<Words32>(words + 4 * i);
    }
    number_sum_ = number_sum, number_order_ = number_order;
    sums_ = sums;
    orders_ = orders;
  }
  std::uint64_t value() const {
    std::uint64_t all = mix(number_sum_, number_order_);
    for (std::size_t i = 0; i < 4; ++i) {
      for (const Words32& sum : sums_) all = mix(all, sum[i]);
      for (const Words32& order : orders_) all = mix(all, order[i]);
    }
    return all;
  }

 private:
  std::uint32_t number_sum_ = 0;
  std::uint32_t number_order_ = 0;
  std::array<Words32, 6> sums_{};
  std::array<Words32, 6> orders_{};
};

// As the engine's defaults.
inline constexpr std::size_t batch_records = 1024;
inline constexpr std::size_t socket_buffer_bytes = 64 * 1024;
// Of the hand-written ring: the best of 8, 16, 32 and 64 (a batch that comes back later is no
// longer in the other processor's first cache). The engine's default is 8 under way.
inline constexpr std::size_t ring_batches = 32;

}  // namespace micro
