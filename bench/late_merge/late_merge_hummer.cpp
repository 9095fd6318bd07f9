// A workload of the Slash paper (SIGMOD 2022) as a job through the public API, embedded or on a
// cluster, all of whose processes are this program; one line of JSON at the end.
//
//   late_merge_hummer --workload ysb --window-strategy late_merge --parallelism 2 --quiet
//   late_merge_hummer jobmanager & late_merge_hummer taskmanager --slots 1 & ...
//   late_merge_hummer --job-manager ADDRESS --workload ysb --transport shm --quiet
//
// `seconds` begins when the first sink is opened and ends with the last sink's last record: neither
// the start of processes nor the submission counts.
#include <cstdio>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <tuple>

#include "late_merge_job.hpp"

namespace late_merge {
namespace {

struct Workload {
  std::string_view name;
  std::string_view row;  // of bench/stateful, whose size it has
  const char* skew;      // 0: uniform
  void (*build)(Job&);
};
// The bids per auction of NEXMark 7 are Pareto distributed, with the shape log4(5) = 1.16, by which
// a fifth of the auctions gets four fifths of the bids. Frequencies of this shape are Zipf's by
// rank, with its inverse as exponent.
constexpr Workload workloads[] = {
    {"ysb", "ysb", "0", &build_ysb},
    {"nexmark7", "nexmark7", "0.86", &build_nexmark7},
    {"nexmark8", "nexmark8", "0", &build_nexmark8},
    {"nexmark11", "nexmark11", "0", &build_nexmark11},
    {"cm", "cm", "0", &build_cm},
    {"ro", "count", "0", &build_ro},
};

const Workload& workload_of(std::string_view name) {
  for (const Workload& one : workloads) {
    if (one.name == name) return one;
  }
  throw std::invalid_argument("--workload takes ysb, nexmark7, nexmark8, nexmark11, cm or ro");
}

hummer::Transport transport_of(std::string_view name) {
  using hummer::Transport;
  for (const Transport one :
       {Transport::automatic, Transport::memory, Transport::shm, Transport::tcp, Transport::rdma}) {
    if (to_string(one) == name) return one;
  }
  throw std::invalid_argument("--transport takes automatic, memory, shm, tcp or rdma");
}

// What a worker has built outlives this function's caller, so the draws are kept for good.
DrawnKey drawn_key(std::uint64_t keys, std::uint64_t salt, double exponent) {
  static std::mutex mutex;
  static std::map<std::tuple<std::uint64_t, std::uint64_t, double>, KeyDraws> kept;
  const std::scoped_lock lock(mutex);
  const auto [at, is_new] = kept.try_emplace({keys, salt, exponent}, KeyDraws{});
  if (is_new) {
    at->second = {.keys = keys, .salt = salt};
    if (exponent != 0 && keys != 0) at->second.zipf.emplace(keys, exponent);
  }
  return {&at->second};
}

std::uint64_t number(hummer::StreamExecutionEnvironment& env, const char* name,
                     std::uint64_t otherwise, const char* description) {
  return std::stoull(env.argument_or(name, std::to_string(otherwise), description));
}

// ---- what is known at the end ----

// Of a metric of all operators and subtasks.
struct Metric {
  std::uint64_t count = 0;
  double least = 0;
  double greatest = 0;
};
Metric metric_of(const hummer::JobResult& result, std::string_view name) {
  Metric found;
  for (const hummer::VertexSummary& vertex : result.vertices) {
    for (const hummer::OperatorSummary& op : vertex.operators) {
      for (const hummer::MetricSummary& one : op.metrics) {
        if (one.name != name) continue;
        found.count += one.count;
        found.least = one.min;
        found.greatest = one.max;
      }
    }
  }
  return found;
}

// Records that have gone from one vertex to another: only those behind an exchange read any.
std::uint64_t exchanged_records(const hummer::JobResult& result) {
  std::uint64_t records = 0;
  for (const hummer::VertexSummary& vertex : result.vertices) {
    if (!vertex.operators.empty()) records += vertex.operators.front().records_in;
  }
  return records;
}
bool has_partial_operator(const hummer::JobResult& result) {
  for (const hummer::VertexSummary& vertex : result.vertices) {
    for (const hummer::OperatorSummary& op : vertex.operators) {
      if (op.name.starts_with("partial_")) return true;
    }
  }
  return false;
}

void report(const Job& job, const std::string& workload, std::uint64_t seed,
            const hummer::JobResult& result) {
  const stateful::Scale& scale = job.scale();
  const auto count = [&](std::string_view name) { return metric_of(result, name).count; };
  std::printf("{\"workload\": \"%s\", \"seed\": %" PRIu64 ", \"skew\": %s, \"records\": %" PRIu64
              ", \"keys\": %" PRIu64 ", \"records_per_window\": %" PRIu64
              ", \"window_ms\": %" PRId64 ", \"row_bytes\": %.1f",
              workload.c_str(), seed, job.skew.c_str(), scale.records, scale.keys,
              scale.records_per_window, scale.window_ms, job.row_bytes);
  std::printf(", \"seconds\": %.6f, \"job_seconds\": %.6f, \"records_late\": %" PRIu64,
              metric_of(result, ended_metric).greatest - metric_of(result, opened_metric).least,
              result.seconds, result.records_late);
  const std::uint64_t exchanged = exchanged_records(result);
  const double each =
      has_partial_operator(result) ? static_cast<double>(job.part_bytes) : job.exchanged_bytes;
  std::printf(", \"exchanged_records\": %" PRIu64 ", \"exchanged_bytes\": %.0f", exchanged,
              static_cast<double>(exchanged) * each);
  for (const auto& metric : hummer::detail::engine_metrics) {
    if (metric.kind != hummer::MetricKind::counter) continue;
    const std::string_view name = metric.name.substr(metric.name.find('.') + 1);
    std::printf(", \"%.*s\": %" PRIu64, static_cast<int>(name.size()), name.data(),
                count(metric.name));
  }
  std::printf(", \"rows_hash\": \"%016" PRIx64 "\", \"pairs_hash\": \"%016" PRIx64
              "\", \"results\": %" PRIu64 ", \"hash\": \"%016" PRIx64 "\"}\n",
              count(rows_hash_metric), count(pairs_hash_metric), count(results_metric),
              count(hash_metric));
  std::fflush(stdout);
}

}  // namespace

hummer::JobResult run(hummer::StreamExecutionEnvironment& env) {
  const std::string name = env.argument("workload", "ysb, nexmark7, nexmark8, nexmark11, cm or ro");
  const Workload& workload = workload_of(name);
  const std::string records = env.argument_or("records", "", "rows in all, of all nodes together");
  const std::string keys = env.argument_or("keys", "", "different keys, but in joins");
  const std::string per_window =
      env.argument_or("records-per-window", "", "rows per window, or per gap of a session");
  const std::uint64_t seed = number(env, "seed", 0, "of the rows; 0: those of bench/stateful");
  Job job{.env = env,
          .row = stateful::row_of(workload.row, records, keys, per_window, "uniform"),
          .salt = stateful::mixed(seed)};
  job.skew = env.argument_or("skew", workload.skew, "exponent of Zipf's law; 0: uniform keys");
  job.check_rows = env.flag("check-rows", "hash all bytes of all rows");
  job.watermark_interval = static_cast<std::uint32_t>(number(
      env, "watermark-interval", job.watermark_interval, "rows of a source between watermarks"));
  job.begun_us = static_cast<std::int64_t>(
      number(env, "begun-us", 0, "microseconds since 1970 at which the run began"));
  job.output =
      env.argument_or("output", "", "folder for the results of ysb, nexmark7 and cm as lines");
  const hummer::NetworkSettings defaults;
  job.network.transport =
      transport_of(env.argument_or("transport", "automatic", "memory, shm, tcp or rdma"));
  job.network.interface_or_address =
      env.argument_or("interface", "", "name or address of the exchange's network interface");
  job.network.buffer_size_bytes =
      number(env, "buffer-size", defaults.buffer_size_bytes, "bytes of a transport's buffer");
  job.network.credits =
      static_cast<int>(number(env, "credits", static_cast<std::uint64_t>(defaults.credits),
                              "buffers that may be under way in a channel"));
  job.key = drawn_key(job.scale().keys, job.salt, std::stod(job.skew));
  workload.build(job);
  const hummer::JobResult result = env.execute("late_merge " + name);
  if (result.ok() && !env.is_rebuilt() && env.options().explain.empty()) {
    report(job, name, seed, result);
  }
  return result;
}

}  // namespace late_merge

HUMMER_JOB(late_merge::run)
