// source → map → sink of 8-byte records, fused into one task on one slot.
#include "job_parts.hpp"
#include "jobs.hpp"

namespace micro {

int run_chain(hummer::StreamExecutionEnvironment& env) {
  const std::uint64_t count = number_argument(env, "records", 1'000'000'000, "how many");
  const Parameters parameters = parameters_of(env);
  SinkResult result;
  make_records(env, count, Make{parameters.seed}, TimeOf{parameters.seed})
      .map(Change{parameters.addend, parameters.mask})
      .parallelism(1)
      .resource_group("front")
      .add_sink("checksum", checksum_sink<std::uint64_t, Checksum>(keep_in(&result), is_timed(env)))
      .parallelism(1)
      .resource_group("front");
  const Stopwatch watch;
  const hummer::JobResult job = env.execute("chain");
  if (job.ok()) report("chain", result.records, watch.seconds(), result.hash, result.watermarks);
  return job.exit_code();
}

}  // namespace micro
