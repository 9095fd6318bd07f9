// What the jobs of the rows have in common: their input's scale, and where their results go.
#pragma once

#include <chrono>

#include <hummer/hummer.hpp>

#include "checksum_sink.hpp"
#include "rows.hpp"

namespace stateful {

inline std::int64_t nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// One job that is being built.
struct Job {
  hummer::StreamExecutionEnvironment& env;
  Row row;
  hummer::WindowStrategy strategy;
  SharedChecksum& total;
  std::atomic<std::int64_t>& warm_at;  // 0: not yet
  std::uint64_t records = 0;           // that the sources make, where they are not the scale's

  const Scale& scale() const { return row.scale; }
  KeyOfIndex key_of() const { return {row.scale, row.distribution}; }
  TimeOfIndex time_of() const { return TimeOfIndex(row.scale); }
  // The first round fills the state.
  bool has_warm_part() const {
    return row.distribution == Distribution::rounds && row.scale.records > row.scale.keys;
  }
};

// The key itself as the record; says when the first round is over.
struct MarkedKeyOfIndex {
  KeyOfIndex key_of;
  std::uint64_t mark;
  std::atomic<std::int64_t>* at;
  std::uint64_t operator()(std::uint64_t index) const {
    if (index == mark) [[unlikely]]
      *at = nanoseconds();
    return key_of(index);
  }
};
inline auto keys_of(const Job& job) {
  return job.env.generate(MarkedKeyOfIndex{job.key_of(), job.scale().keys, &job.warm_at},
                          {.count = job.scale().records});
}

// add(Checksum&, const Result&)
template <typename Result, typename Add>
void sum_up(const Job& job, const hummer::DataStream<Result>& results, Add add) {
  add_checksum("checksum", results, &job.total, add);
}

// ---- one function per row ----

void build_count(Job& job);
void build_function(Job& job);
void build_ysb(Job& job);
void build_nexmark7(Job& job);
void build_cm(Job& job);
void build_nexmark8(Job& job);
void build_nexmark11(Job& job);
void build_interval_join(Job& job);
void build_co_group(Job& job);
void build_async_map(Job& job);
void build_sessions(Job& job);
void build_top_n(Job& job);
void build_deduplicate(Job& job);
void build_count_window(Job& job);
void build_trigger(Job& job);
void build_broadcast(Job& job);

}  // namespace stateful
