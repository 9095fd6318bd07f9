// A job that never ends by itself: --rate records a second (default 20000), counted by key across
// the network; the last counts of each key go nowhere. --name is the job's name.
#include <hummer/hummer.hpp>

#include <cstdint>
#include <string>

void steady_count(hummer::StreamExecutionEnvironment& env) {
  const double rate = std::stod(env.argument_or("rate", "20000", "records per second"));
  env.generate([](std::uint64_t index) { return index * 0x9e3779b97f4a7c15 >> 54; },
               {.records_per_second = rate})
      .key_by(hummer::identity)
      .count()
      .for_each([](const auto&) {});
  env.execute(env.argument_or("name", "SteadyCount", "the job's name"));
}

HUMMER_JOB(steady_count)
