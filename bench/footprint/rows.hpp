// The rows of bench/footprint and how they are held, for Hummer and RocksDB: a first phase of
// one record per key fills the state, a second one reads it back, so that a key that was lost, or
// has another value, is seen in the checksum of the results.
#pragma once

#include <array>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <string>

#include "stateful/workload.hpp"

namespace memory_per_key {

using stateful::SharedChecksum;

// Each index of [0, keys) has a key of its own, in an order without locality; so has each of the
// next phase.
inline stateful::KeyOfIndex key_of_index(std::uint64_t keys) {
  return {{.records = 2 * keys, .keys = keys}, stateful::Distribution::rounds};
}

// What a join keeps of its first side.
struct Kept {
  std::uint64_t key;
  std::array<char, 100> payload;

  static Kept of(std::uint64_t key) {
    Kept record{.key = key, .payload = {}};
    stateful::fill(record.payload, stateful::letters(stateful::mixed(key)));
    return record;
  }
};

// A time for each key, none before 0.
inline std::int64_t timer_of(std::uint64_t key) { return static_cast<std::int64_t>(key + 1); }

// Behind the first phase: state is full and nothing is under way. Whoever runs the program measures
// it, and lets it go on with a line.
inline void wait_to_be_measured() {
  std::printf("{\"filled\": true}\n");
  std::fflush(stdout);
  for (int read = std::getchar(); read != '\n' && read != EOF; read = std::getchar()) continue;
}

inline void report(const char* name, const std::string& row, std::uint64_t keys,
                   std::uint64_t disk_bytes, const SharedChecksum& total) {
  std::printf("{\"name\": \"%s\", \"row\": \"%s\", \"keys\": %" PRIu64 ", \"disk_bytes\": %" PRIu64
              ", \"results\": %" PRIu64 ", \"hash\": \"%016" PRIx64 "\"}\n",
              name, row.c_str(), keys, disk_bytes, total.results.load(), total.sum.load());
}

}  // namespace memory_per_key
