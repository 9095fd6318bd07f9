// A job as fast as it goes: --count records (default: without end), dealt to all subtasks across
// the network and counted by --keys keys there. What was counted goes to --output when the records
// end; without one it goes nowhere. --name is the job's name.
#include <hummer/hummer.hpp>

#include <cstdint>
#include <optional>
#include <string>

void full_speed(hummer::StreamExecutionEnvironment& env) {
  const std::string text = env.argument_or("count", "", "records; without it there is no end");
  const std::uint64_t keys = std::stoull(env.argument_or("keys", "1000", "different keys"));
  const std::string output = env.argument_or("output", "", "file of the counts");
  std::optional<std::uint64_t> count;
  if (!text.empty()) count = std::stoull(text);
  const auto counts = env.generate([](std::uint64_t index) { return index; }, {.count = count})
                          .rebalance()
                          .key_by(hummer::rebuildable([keys](std::uint64_t i) { return i % keys; }))
                          .count();
  if (output.empty()) {
    counts.for_each([](const auto&) {});
  } else {
    counts.write_file(output);
  }
  env.execute(env.argument_or("name", "FullSpeed", "the job's name"));
}

HUMMER_JOB(full_speed)
