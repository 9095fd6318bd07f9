// A job as fast as it goes: --count records (default: without end), dealt to all subtasks across
// the network and counted by --keys keys there. What was counted goes to --output when the records
// end; without one it goes nowhere. --name is the job's name.
//
// --timeline FOLDER: each slot writes there, into a file of its own, how many records it counted in
// each 100 ms in which there were any: lines of the bucket's begin (CLOCK_MONOTONIC, in ms) and the
// number.
#include <hummer/hummer.hpp>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <optional>
#include <random>
#include <string>
#include <utility>

namespace {

class Timeline {
 public:
  void note(const std::string& folder) {
    if (++pending_ < records_per_look) return;
    const std::int64_t bucket = now_ms() / bucket_ms;
    if (bucket != bucket_) begin(bucket, folder);
    counted_ += std::exchange(pending_, 0);
  }

 private:
  static constexpr std::uint64_t records_per_look = 1024;
  static constexpr std::int64_t bucket_ms = 100;

  static std::int64_t now_ms() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  }
  void begin(std::int64_t bucket, const std::string& folder) {
    if (folder != folder_) {
      folder_ = folder;
      file_ = std::ofstream(folder + "/slot-" + std::to_string(std::random_device()()));
    } else {
      file_ << bucket_ * bucket_ms << '\t' << counted_ << std::endl;
    }
    bucket_ = bucket;
    counted_ = 0;
  }

  std::uint64_t pending_ = 0;
  std::uint64_t counted_ = 0;
  std::int64_t bucket_ = 0;
  std::string folder_;
  std::ofstream file_;
};

// One job has the slot, which is a thread.
thread_local Timeline timeline;

}  // namespace

void full_speed(hummer::StreamExecutionEnvironment& env) {
  const std::string text = env.argument_or("count", "", "records; without it there is no end");
  const std::uint64_t keys = std::stoull(env.argument_or("keys", "1000", "different keys"));
  const std::string output = env.argument_or("output", "", "file of the counts");
  const std::string folder = env.argument_or("timeline", "", "folder of the counts per 100 ms");
  std::optional<std::uint64_t> count;
  if (!text.empty()) count = std::stoull(text);
  auto records =
      env.generate([](std::uint64_t index) { return index; }, {.count = count}).rebalance();
  if (!folder.empty()) {
    records = records.map(hummer::rebuildable([folder](std::uint64_t index) {
      timeline.note(folder);
      return index;
    }));
  }
  const auto counts =
      records.key_by(hummer::rebuildable([keys](std::uint64_t i) { return i % keys; })).count();
  if (output.empty()) {
    counts.for_each([](const auto&) {});
  } else {
    counts.write_file(output);
  }
  env.execute(env.argument_or("name", "FullSpeed", "the job's name"));
}

HUMMER_JOB(full_speed)
