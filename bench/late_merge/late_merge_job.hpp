// What the jobs of the workloads have in common: their rows, and where their results go.
//
// A row is a pure function of seed and number. Subtask s of p makes the rows s, s + p, s + 2p, and
// so on: all nodes together make the same rows, however many they are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include <hummer/hummer.hpp>

#include "results_sink.hpp"
#include "stateful/rows.hpp"
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

// One job that is being built.
struct Job {
  hummer::StreamExecutionEnvironment& env;
  stateful::Row row;
  std::uint64_t salt = 0;
  std::string skew = {};  // as on the command line: what workers compare
  DrawnKey key = {};
  hummer::NetworkSettings network = {};  // of the exchange by key
  bool check_rows = false;
  std::int64_t begun_us = 0;
  std::string output = {};  // where windowed aggregates are written, too; empty: nowhere
  // What the builder says of its records, in bytes: one of the benchmark's rows, and what goes over
  // the exchange, as it is in memory, with the partial operator in the plan and without it.
  double row_bytes = 0;
  std::size_t part_bytes = 0;
  double exchanged_bytes = 0;

  const stateful::Scale& scale() const { return row.scale; }
  stateful::TimeOfIndex time_of() const { return stateful::TimeOfIndex(row.scale); }
  auto tumbling() const { return hummer::TumblingWindows::of(row.scale.window_ms); }
  // A function that depends on what the command line says of the rows and on nothing else.
  template <typename Function>
  auto of_rows(Function function) const {
    return hummer::rebuildable(function, salt, row.scale.keys, skew);
  }
};

// ---- the bytes of rows ----

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

// Names of metrics: of all rows where they are made, and of pairs behind the exchange.
inline constexpr const char* rows_hash_metric = "rows_hash";
inline constexpr const char* pairs_hash_metric = "pairs_hash";
// Hands each row on, and adds a hash of all its bytes to a metric.
template <typename Record>
struct HashRow {
  hummer::Counter hash{rows_hash_metric};
  Record operator()(const Record& record) const {
    hash.add(hash_of_bytes(record));
    return record;
  }
};

// Each row is made whole, into the batch that goes on.
template <typename Make, typename... Time>
auto make_rows(const Job& job, std::uint64_t count, Make make, Time... time) {
  using Record = decltype(make(std::uint64_t{}));
  hummer::DataStream<Record> rows =
      job.env.generate(job.of_rows(make), {.count = count}, job.of_rows(time)...);
  return job.check_rows ? rows.map(HashRow<Record>()) : rows;
}

// ---- one function per workload ----

void build_ysb(Job& job);
void build_nexmark7(Job& job);
void build_cm(Job& job);
void build_ro(Job& job);
void build_nexmark8(Job& job);
void build_nexmark11(Job& job);

}  // namespace late_merge
