// slow_sink: checkpoints of a job whose sinks take one record every 50 ms.
//
//   slow_sink --directory DIR --mode unaligned|aligned [--way memory|tcp] [--seconds 180]
//             [--records 400000] [--limit-ms 2000]
//
// A source at full speed, an exchange by key, running counts, and chained to them a sink that takes
// one record per 50 ms and answers `blocked` otherwise; a checkpoint is begun every 2 s and given
// up after 20. How long each takes is read off its directory: from when it appears until its
// metadata does.
//
// unaligned: every checkpoint must be complete within --limit-ms. Then the job is cancelled and
// goes on from the newest one at another parallelism, with a sink that takes everything, to its
// end: the sinks must have got each count of each key once, those before the checkpoint included.
// aligned: says how many were complete; nothing is asserted.
//
// Exit code 1 when something does not hold. The last line has the results. Thread: main watches.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <hummer/hummer.hpp>

namespace {

using Clock = std::chrono::steady_clock;
using Count = hummer::KeyValue<std::uint64_t, std::uint64_t>;
constexpr std::int64_t pause_ns = 50'000'000;
constexpr std::uint64_t keys = 1000;
constexpr std::chrono::milliseconds watch_interval(5);

std::uint64_t mixed(std::uint64_t key, std::uint64_t count) {
  std::uint64_t value = (key + 1) * 0x9e3779b97f4a7c15 + count;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  return value ^ value >> 27;
}

// What all sinks have got when their streams have ended.
struct Totals {
  std::atomic<std::uint64_t> records{0};
  std::atomic<std::uint64_t> sum{0};
};

class SlowSink final : public hummer::Operator {
 public:
  SlowSink(Totals& totals, bool slow) : totals_(totals), slow_(slow) {}
  void declare(hummer::Output&) const override {}
  hummer::OperatorResult process(hummer::Batch& in, hummer::Output&) override {
    const auto counts = in.values<Count>();
    while (!in.finished()) {
      if (slow_ && context().now() < next_) return hummer::OperatorResult::blocked;
      next_ = context().now() + pause_ns;
      const Count& count = counts[in.position()];
      ++records_;
      sum_ += mixed(count.key, count.value);
      in.advance_to(in.position() + 1);
    }
    return hummer::OperatorResult::done;
  }
  hummer::OperatorResult end(hummer::Output&) override {
    totals_.records.fetch_add(records_);
    totals_.sum.fetch_add(sum_);
    return hummer::OperatorResult::done;
  }
  hummer::Status snapshot(hummer::ByteWriter& out) override {
    out.put_value(records_);
    out.put_value(sum_);
    return {};
  }
  hummer::Status restore(hummer::ByteReader& in) override {
    std::uint64_t records = 0;
    std::uint64_t sum = 0;
    if (!in.get_value(records) || !in.get_value(sum)) {
      return {hummer::ErrorCode::corrupt_record, "the state of the slow sink is cut short"};
    }
    records_ += records;
    sum_ += sum;
    return {};
  }

 private:
  Totals& totals_;
  const bool slow_;
  std::int64_t next_ = 0;
  std::uint64_t records_ = 0;
  std::uint64_t sum_ = 0;
};

struct Options {
  std::string directory;
  bool unaligned = false;
  bool over_tcp = false;
  double seconds = 180;
  std::uint64_t records = 400'000;
  double limit_ms = 2000;
};

void build(hummer::StreamExecutionEnvironment& env, const Options& options, Totals& totals,
           bool slow) {
  hummer::NetworkSettings way;
  if (options.over_tcp) way.transport = hummer::Transport::tcp;
  env.generate([](std::uint64_t index) { return index; }, {.count = options.records})
      .map([](std::uint64_t index) { return index * 7919 % keys; })
      .network(way)
      .key_by(hummer::identity)
      .count(hummer::Emit::every_record)
      .add_sink("slow sink", hummer::make_operator_factory([&totals, slow] {
                  return std::make_unique<SlowSink>(totals, slow);
                }));
}

hummer::EnvironmentOptions environment(const Options& options, int parallelism) {
  hummer::EnvironmentOptions made;
  made.parallelism = parallelism;
  made.quiet = true;
  made.checkpoints.directory = options.directory;
  made.checkpoints.interval_ms = 2000;
  made.checkpoints.timeout_ms = 20'000;
  made.checkpoints.tolerated_failures = 1'000'000;
  made.checkpoints.retained = 3;
  made.checkpoints.unaligned = options.unaligned;
  made.restart = hummer::RestartStrategy::no_restart();
  return made;
}

// How long the checkpoints in a directory take.
class Watch {
 public:
  explicit Watch(std::string directory) : directory_(std::move(directory)) {}

  void look() {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(directory_, error)) {
      const std::string name = entry.path().filename();
      if (!name.starts_with("chk-")) continue;
      Checkpoint& checkpoint = checkpoints_.try_emplace(name, Clock::now()).first->second;
      if (checkpoint.ms < 0 && std::filesystem::exists(entry.path() / "_metadata", error)) {
        checkpoint.ms = milliseconds_since(checkpoint.began);
        checkpoint.bytes = bytes_in(entry.path());
      }
    }
  }
  struct Checkpoint {
    explicit Checkpoint(Clock::time_point began_) : began(began_) {}
    Clock::time_point began;
    double ms = -1;  // not complete
    std::uintmax_t bytes = 0;
  };
  const std::map<std::string, Checkpoint>& checkpoints() const { return checkpoints_; }
  static double milliseconds_since(Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  }

 private:
  static std::uintmax_t bytes_in(const std::filesystem::path& directory) {
    std::uintmax_t bytes = 0;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
      bytes += entry.file_size(error);
    }
    return bytes;
  }

  const std::string directory_;
  std::map<std::string, Checkpoint> checkpoints_;
};

bool parse(int argc, char** argv, Options& options) {
  bool mode_named = false;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    const std::string value = argv[i + 1];
    if (name == "--directory") {
      options.directory = value;
    } else if (name == "--mode" && (value == "unaligned" || value == "aligned")) {
      options.unaligned = value == "unaligned";
      mode_named = true;
    } else if (name == "--way" && (value == "memory" || value == "tcp")) {
      options.over_tcp = value == "tcp";
    } else if (name == "--seconds") {
      options.seconds = std::atof(value.c_str());
    } else if (name == "--records") {
      options.records = std::strtoull(value.c_str(), nullptr, 10);
    } else if (name == "--limit-ms") {
      options.limit_ms = std::atof(value.c_str());
    } else {
      return false;
    }
  }
  return mode_named && argc % 2 == 1 && !options.directory.empty();
}

bool goes_on_right(const Options& options) {
  Totals totals;
  hummer::EnvironmentOptions made = environment(options, 3);
  made.checkpoints.restore = "latest";
  hummer::StreamExecutionEnvironment env(std::move(made));
  build(env, options, totals, false);
  const hummer::JobResult result = env.execute("SlowSink");
  std::uint64_t sum = 0;
  for (std::uint64_t key = 0; key < keys; ++key) {
    const std::uint64_t times = options.records / keys + (key < options.records % keys ? 1 : 0);
    for (std::uint64_t count = 1; count <= times; ++count) sum += mixed(key, count);
  }
  std::printf("restored at parallelism 3: %s, %llu of %llu counts, sum %s\n",
              result.ok() ? "finished" : result.status.to_string().c_str(),
              static_cast<unsigned long long>(totals.records.load()),
              static_cast<unsigned long long>(options.records),
              totals.sum.load() == sum ? "equal" : "DIFFERS");
  return result.ok() && totals.records.load() == options.records && totals.sum.load() == sum;
}

int run(const Options& options) {
  Totals totals;
  hummer::StreamExecutionEnvironment env(environment(options, 2));
  build(env, options, totals, true);
  hummer::JobHandle handle = env.execute_async("SlowSink");
  Watch watch(options.directory);
  const Clock::time_point begin = Clock::now();
  while (Watch::milliseconds_since(begin) < options.seconds * 1000 && !handle.finished()) {
    watch.look();
    std::this_thread::sleep_for(watch_interval);
  }
  bool right = !handle.finished();
  if (!right) std::printf("the job ended before its time\n");
  // One that has just begun may take its time.
  const Clock::time_point last_look = Clock::now();
  while (options.unaligned && Watch::milliseconds_since(last_look) < options.limit_ms) {
    const auto& checkpoints = watch.checkpoints();
    if (std::all_of(checkpoints.begin(), checkpoints.end(),
                    [](const auto& each) { return each.second.ms >= 0; })) {
      break;
    }
    watch.look();
    std::this_thread::sleep_for(watch_interval);
  }
  handle.cancel();
  const hummer::JobResult result = handle.wait();
  if (result.status.code() != hummer::ErrorCode::cancelled) {
    std::printf("WRONG END: %s\n", result.status.to_string().c_str());
    right = false;
  }

  std::vector<double> times;
  std::uintmax_t bytes = 0;
  for (const auto& [name, checkpoint] : watch.checkpoints()) {
    if (checkpoint.ms < 0) continue;
    times.push_back(checkpoint.ms);
    bytes = std::max(bytes, checkpoint.bytes);
  }
  std::sort(times.begin(), times.end());
  const std::size_t begun = watch.checkpoints().size();
  if (options.unaligned) {
    const auto expected = static_cast<std::size_t>(options.seconds / 4);
    if (times.size() < begun || begun < expected || times.empty() ||
        times.back() > options.limit_ms) {
      std::printf("DOES NOT HOLD: every checkpoint is complete within %.0f ms\n", options.limit_ms);
      right = false;
    }
    right = goes_on_right(options) && right;
  }
  std::printf(
      "%s over %s: %zu of %zu checkpoints complete, median %.0f ms, slowest %.0f ms, up to "
      "%.1f MB%s\n",
      options.unaligned ? "unaligned" : "aligned", options.over_tcp ? "tcp" : "memory",
      times.size(), begun, times.empty() ? 0 : times[times.size() / 2],
      times.empty() ? 0 : times.back(), static_cast<double>(bytes) / 1e6,
      right ? "" : ", NOT RIGHT");
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(stderr,
                 "usage: slow_sink --directory DIR --mode unaligned|aligned [--way memory|tcp]\n"
                 "                 [--seconds S] [--records N] [--limit-ms MS]\n");
    return 2;
  }
  return run(options);
}
