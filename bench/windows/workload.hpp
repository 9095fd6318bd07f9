// The input and the checksum that the job and the bare program share: keys as good
// as random, so many records per millisecond of event time, and an order-independent
// sum over the results.
#pragma once

#include <chrono>
#include <cinttypes>
#include <cstdint>
#include <cstdio>

namespace windows {

struct Workload {
  std::uint64_t records = 60'000'000;
  std::uint64_t keys = 10'000'000;
  std::uint64_t records_per_ms = 1'000;
  std::int64_t size_ms = 20'000;
  std::int64_t slide_ms = 20'000;
};

inline std::uint64_t mixed(std::uint64_t x) {
  x *= 0x9E3779B97F4A7C15u;
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93u;
  return x ^ x >> 32;
}

struct KeyOfIndex {
  std::uint64_t keys;
  std::uint64_t operator()(std::uint64_t index) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>(mixed(index)) * keys) >> 64);
  }
};
struct TimeOfIndex {
  std::uint64_t records_per_ms;
  std::int64_t operator()(std::uint64_t index) const {
    return static_cast<std::int64_t>(index / records_per_ms);
  }
};

struct Checksum {
  std::uint64_t results = 0;
  std::uint64_t sum = 0;
  void add(std::uint64_t key, std::int64_t start, std::int64_t end, std::uint64_t count) {
    ++results;
    sum += mixed(key ^ mixed(static_cast<std::uint64_t>(start + 3 * end) ^ count << 40));
  }
};

inline void report(const char* name, const Workload& work, double seconds, const Checksum& sum) {
  std::printf("{\"name\": \"%s\", \"records\": %" PRIu64
              ", \"seconds\": %.6f, \"results\": %" PRIu64 ", \"hash\": \"%016" PRIx64 "\"}\n",
              name, work.records, seconds, sum.results, sum.sum);
}

}  // namespace windows
