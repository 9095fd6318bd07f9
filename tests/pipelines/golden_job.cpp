// A golden pipeline as a job for clusters: --pipeline NAME reads the lines of --input at --rate a
// second and writes to --output. bench/acceptance/exactly-once/02-three-ways submits it.
#include "pipelines/golden_pipelines.hpp"

#include <fstream>
#include <vector>

void golden_job(hummer::StreamExecutionEnvironment& env) {
  using hummer::GoldenReading;
  const std::string pipeline = env.argument("pipeline");
  const std::string input = env.argument("input");
  const double rate = std::stod(env.argument_or("rate", "400", "lines per second"));
  std::vector<std::string> lines;
  std::ifstream file(input);
  if (!file) throw std::invalid_argument("--input '" + input + "' cannot be read");
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  const auto readings =
      env.generate(hummer::rebuildable([lines](std::uint64_t i) -> std::string { return lines[i]; },
                                       lines),
                   {.count = lines.size(), .records_per_second = rate})
          .map([](std::string_view line) { return hummer::parse_golden_reading(line); })
          .assign_timestamps(&GoldenReading::time, hummer::WatermarkStrategy::bounded(50));
  hummer::build_golden_pipeline(pipeline, readings, env.argument("output"));
  env.execute(pipeline);
}

HUMMER_JOB(golden_job)
