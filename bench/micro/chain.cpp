// source → map → sink of 8-byte records, fused into one task on one slot.
#include "job_parts.hpp"
#include "jobs.hpp"

namespace micro {

int run_chain(hummer::StreamExecutionEnvironment& env) {
  const std::uint64_t count = number_argument(env, "records", 1'000'000'000, "how many");
  const Parameters parameters = parameters_of(env);
  SinkResult result;
  env.generate(Make{parameters.seed}, generator_options(count), EventTime{})
      .parallelism(1)
      .map(Change{parameters.addend, parameters.mask})
      .parallelism(1)
      .add_sink("checksum", checksum_sink<std::uint64_t, Checksum>(&result))
      .parallelism(1);
  const Stopwatch watch;
  const hummer::JobResult job = env.execute("chain");
  if (job.ok()) report("chain", result.records, watch.seconds(), result.hash);
  return job.exit_code();
}

}  // namespace micro
