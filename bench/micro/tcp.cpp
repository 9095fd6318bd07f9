// source in process 0, sink in process 1, 100-byte records over a TCP connection between them:
//
//   micro_hummer --job tcp --parallelism 1 --peers 127.0.0.1:7001,127.0.0.1:7002 --process 0 &
//   micro_hummer --job tcp --parallelism 1 --peers 127.0.0.1:7001,127.0.0.1:7002 --process 1
//
// Process 1 reports; its clock runs from the first batch, so that no start of a process counts.
#include "job_parts.hpp"
#include "jobs.hpp"

namespace micro {

int run_tcp(hummer::StreamExecutionEnvironment& env) {
  const std::uint64_t count = number_argument(env, "records", 50'000'000, "how many");
  const Parameters parameters = parameters_of(env);
  const bool is_sink = env.options().process == 1;
  SinkResult result;
  make_records(env, count, MakeRecord{static_cast<std::uint32_t>(parameters.seed)}, TimeOfRecord{})
      .add_sink("checksum", checksum_sink<Record, RecordChecksum>(&result, is_timed(env)))
      .parallelism(1)
      .resource_group("back");
  const hummer::JobResult job = env.execute("tcp");
  if (job.ok() && is_sink) {
    report("tcp", result.records, result.seconds, result.hash, result.watermarks);
  }
  return job.exit_code();
}

}  // namespace micro
