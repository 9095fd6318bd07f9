// source → map on one slot, one memory channel, sink on another slot: their resource groups never
// share one.
#include "job_parts.hpp"
#include "jobs.hpp"

namespace micro {

int run_channel(hummer::StreamExecutionEnvironment& env) {
  const std::uint64_t count = number_argument(env, "records", 500'000'000, "how many");
  const Parameters parameters = parameters_of(env);
  SinkResult result;
  make_records(env, count, Make{parameters.seed}, TimeOf{parameters.seed})
      .map(Change{parameters.addend, parameters.mask})
      .parallelism(1)
      .resource_group("front")
      .add_sink("checksum", checksum_sink<std::uint64_t, Checksum>(keep_in(&result), is_timed(env)))
      .parallelism(1)
      .resource_group("back");
  const Stopwatch watch;
  const hummer::JobResult job = env.execute("channel");
  if (job.ok()) report("channel", result.records, watch.seconds(), result.hash, result.watermarks);
  return job.exit_code();
}

}  // namespace micro
