// What the jobs of the workloads have in common: their rows, and where their results go.
//
// Subtask s of p makes the rows s, s + p, s + 2p, and so on: all nodes together make the same rows,
// however many they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <hummer/hummer.hpp>

#include "late_merge_rows.hpp"
#include "results_sink.hpp"
#include "stateful/rows.hpp"

namespace late_merge {

// One job that is being built.
struct Job {
  hummer::StreamExecutionEnvironment& env;
  stateful::Row row;
  std::uint64_t salt = 0;
  std::string skew = {};  // as on the command line: what workers compare
  DrawnKey key = {};
  hummer::NetworkSettings network = {};  // of the exchange by key
  bool check_rows = false;
  std::uint32_t watermark_interval = 1024;  // rows of a source from one watermark to the next
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
  hummer::DataStream<Record> rows = job.env.generate(
      job.of_rows(make), {.count = count, .watermark_interval = job.watermark_interval},
      job.of_rows(time)...);
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
