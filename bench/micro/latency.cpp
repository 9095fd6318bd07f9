// One record about every millisecond, source → one memory channel → sink, on an otherwise idle
// engine: from the clock reading in the source's function to that in the sink's.
//
// --spin-us -1 is busy-poll, --spin-us 0 is parked.
#include <algorithm>
#include <chrono>
#include <vector>

#include "job_parts.hpp"
#include "jobs.hpp"

namespace micro {
namespace {

std::int64_t clock_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double microseconds_at(const std::vector<std::int64_t>& sorted_ns, double share) {
  if (sorted_ns.empty()) return 0;
  const auto last = static_cast<double>(sorted_ns.size() - 1);
  return static_cast<double>(sorted_ns[static_cast<std::size_t>(share * last)]) / 1e3;
}

}  // namespace

int run_latency(hummer::StreamExecutionEnvironment& env) {
  const std::uint64_t count = number_argument(env, "records", 5000, "how many");
  const double rate = static_cast<double>(number_argument(env, "rate", 1000, "records per second"));
  std::vector<std::int64_t> waits_ns;
  std::vector<std::int64_t>* waits = &waits_ns;
  waits_ns.reserve(count);
  env.generate([](std::uint64_t) { return clock_ns(); },
               {.count = count, .records_per_second = rate})
      .parallelism(1)
      .resource_group("front")
      .for_each([waits](std::int64_t emitted) { waits->push_back(clock_ns() - emitted); })
      .parallelism(1)
      .resource_group("back");
  const Stopwatch watch;
  const hummer::JobResult job = env.execute("latency");
  if (!job.ok()) return job.exit_code();
  std::sort(waits_ns.begin(), waits_ns.end());
  std::printf(
      "{\"name\": \"latency\", \"records\": %zu, \"seconds\": %.6f, \"p50_us\": %.1f, "
      "\"p90_us\": %.1f, \"p99_us\": %.1f, \"max_us\": %.1f, "
      "\"processor_seconds\": %.6f}\n",
      waits_ns.size(), watch.seconds(), microseconds_at(waits_ns, 0.5),
      microseconds_at(waits_ns, 0.9), microseconds_at(waits_ns, 0.99), microseconds_at(waits_ns, 1),
      processor_seconds());
  return 0;
}

}  // namespace micro
