// A job whose result shows every loss and every duplicate: --count records at --rate a second, by
// --keys keys; each key's running count, 1, 2, 3, ..., one line each, in --output.
#include <hummer/hummer.hpp>

#include <cstdint>
#include <string>

void running_counts(hummer::StreamExecutionEnvironment& env) {
  const std::uint64_t count = std::stoull(env.argument_or("count", "100000", "records"));
  const double rate = std::stod(env.argument_or("rate", "2000", "records per second"));
  const std::uint64_t keys = std::stoull(env.argument_or("keys", "97", "different keys"));
  env.generate([](std::uint64_t index) { return index; },
               {.count = count, .records_per_second = rate})
      .map(hummer::rebuildable([keys](std::uint64_t index) { return index % keys; }))
      .key_by(hummer::identity)
      .count(hummer::Emit::every_record)
      .write_file(env.argument("output"));
  env.execute(env.argument_or("name", "RunningCounts", "the job's name"));
}

HUMMER_JOB(running_counts)
