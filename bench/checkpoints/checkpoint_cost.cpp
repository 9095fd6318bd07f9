// The job whose checkpoints bench/acceptance/exactly-once/05-checkpoint-cost measures on a cluster:
// a running count of --keys keys (default a million), as good as random. Every second count of
// every thousandth key goes to --output, so that each checkpoint has something to commit. It never
// ends by itself; --progress: see progress_page.hpp.
#include <cstdint>
#include <string>

#include <hummer/hummer.hpp>

#include "checkpoints/progress_page.hpp"

namespace {

void checkpoint_cost(hummer::StreamExecutionEnvironment& env) {
  const std::uint64_t keys = std::stoull(env.argument_or("keys", "1000000", "different keys"));
  const std::string path = env.argument("progress", "a file of eight bytes");
  const auto key_of = [keys, page = checkpoints::ProgressPage(path)](std::uint64_t index) {
    page.made(index);
    const std::uint64_t mixed = index * 0x9e3779b97f4a7c15;
    return (mixed ^ mixed >> 29) % keys;
  };
  env.generate([](std::uint64_t index) { return index; }, {})
      .map(hummer::rebuildable(key_of, keys, path))
      .key_by(hummer::identity)
      .count(hummer::Emit::every_record)
      .filter([](const auto& count) { return count.key % 1000 == 0 && count.value % 2 == 0; })
      .write_file(env.argument("output", "a directory"));
  env.execute("CheckpointCost");
}

}  // namespace

HUMMER_JOB(checkpoint_cost)
