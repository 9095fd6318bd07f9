// stuck_sink: what a sink that takes nothing costs the rest of the process.
//
//   stuck_sink --sink blocked|sleeping [--seconds 60] [--settle-seconds 10]
//              [--alone-seconds 15] [--speed-percent 95]
//
// A source at full speed feeds a sink in a slot of its own that answers `blocked` for --seconds, or
// that sleeps in its call for as long. Beside it a second job runs in the same process, on a slot
// of another environment: alone, beside the stuck job, and alone again.
//
// Asserted, with exit code 1 when it does not hold:
//   memory   the resident memory of the process, sampled every 100 ms: by the line through the
//            samples it grows by at most 1 MB from --settle-seconds to the end
//   speed    the median speed of the second job, in windows of a second, is at least
//            --speed-percent of its median alone, before and after taken together (0: not asserted)
//   name     JobHandle::stuck() names slot and operator of the stuck sink, and only it
//   held     the source was held back: the stuck sink took what was done before, and nothing else
// The last line has the results. Thread: main samples; each job has its slots.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <hummer/hummer.hpp>

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr double growth_limit_mb = 1;
constexpr milliseconds sample_interval(100);
constexpr int samples_per_window = 10;
constexpr int naming_samples = 150;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double seconds_of(milliseconds duration) { return std::chrono::duration<double>(duration).count(); }

double resident_mb() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
  statm >> all >> resident;
  return static_cast<double>(resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE))) / 1e6;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// What the jobs and main share; outlives the jobs.
struct Shared {
  std::atomic<std::uint64_t> made{0};         // by the source of the stuck job
  std::atomic<std::uint64_t> stuck_calls{0};  // of the stuck sink
  std::atomic<std::uint64_t> stuck_took{0};
  std::atomic<std::uint64_t> other_took{0};
  std::atomic<bool> released{false};
};

// (a) Has no room until it is released.
class BlockedSink : public hummer::SinkFunction<std::uint64_t> {
 public:
  explicit BlockedSink(Shared& shared) : shared_(shared) {}
  hummer::OperatorResult write(std::span<const std::uint64_t> records) override {
    shared_.stuck_calls.fetch_add(1, std::memory_order_relaxed);
    if (!shared_.released.load()) return hummer::OperatorResult::blocked;
    shared_.stuck_took.fetch_add(records.size());
    return hummer::OperatorResult::done;
  }

 private:
  Shared& shared_;
};

// (b) Breaks the rule that no call waits.
class SleepingSink : public hummer::SinkFunction<std::uint64_t> {
 public:
  explicit SleepingSink(Shared& shared) : shared_(shared) {}
  hummer::OperatorResult write(std::span<const std::uint64_t> records) override {
    shared_.stuck_calls.fetch_add(1, std::memory_order_relaxed);
    while (!shared_.released.load()) std::this_thread::sleep_for(milliseconds(20));
    shared_.stuck_took.fetch_add(records.size());
    return hummer::OperatorResult::done;
  }

 private:
  Shared& shared_;
};

class CountingSink : public hummer::SinkFunction<std::uint64_t> {
 public:
  explicit CountingSink(Shared& shared) : shared_(shared) {}
  hummer::OperatorResult write(std::span<const std::uint64_t> records) override {
    shared_.other_took.fetch_add(records.size(), std::memory_order_relaxed);
    return hummer::OperatorResult::done;
  }

 private:
  Shared& shared_;
};

template <typename Sink>
auto sink_factory(Shared& shared) {
  return hummer::make_operator_factory([&shared] {
    return std::make_unique<hummer::SinkFunctionOperator<std::uint64_t>>(
        std::make_unique<Sink>(shared));
  });
}

constexpr const char* stuck_name = "stuck sink";

hummer::EnvironmentOptions one_slot() {
  hummer::EnvironmentOptions options;
  options.parallelism = 1;
  return options;
}

struct Job {
  hummer::StreamExecutionEnvironment env;
  hummer::JobHandle handle;

  template <typename Build>
  Job(const char* name, Build build)
      : env(one_slot()), handle((build(env), env.execute_async(name))) {}
  // Ends it; the result must be that of a cancelled job.
  bool cancel() {
    handle.cancel();
    const hummer::JobResult result = handle.wait();
    if (result.status.code() == hummer::ErrorCode::cancelled) return true;
    std::printf("WRONG END: %s\n", result.status.to_string().c_str());
    return false;
  }
};

Job start_stuck(Shared& shared, bool sleeping) {
  return Job("Stuck", [&](hummer::StreamExecutionEnvironment& env) {
    env.generate(
           [&shared](std::uint64_t index) {
             shared.made.store(index + 1, std::memory_order_relaxed);
             return index;
           },
           {})
        .add_sink(stuck_name,
                  sleeping ? sink_factory<SleepingSink>(shared) : sink_factory<BlockedSink>(shared))
        .resource_group("a slot of its own");
  });
}

// Enough arithmetic per record that its speed is that of its slot's processor.
Job start_other(Shared& shared) {
  return Job("Other", [&](hummer::StreamExecutionEnvironment& env) {
    env.generate([](std::uint64_t index) { return index; }, {})
        .map([](std::uint64_t value) {
          for (int round = 0; round < 8; ++round) value = value * 0x9e3779b97f4a7c15 ^ value >> 29;
          return value;
        })
        .filter([](std::uint64_t value) { return value % 2 == 0; })
        .add_sink("count", sink_factory<CountingSink>(shared));
  });
}

struct Samples {
  std::vector<double> at_seconds;
  std::vector<double> resident_mb;
  std::vector<double> speeds;  // of the second job, records per second, one per window

  // Of the line through the samples from `from` on, over their time.
  double growth_mb(double from) const {
    double n = 0, x = 0, y = 0, xx = 0, xy = 0, first = 0, last = 0;
    for (std::size_t i = 0; i < at_seconds.size(); ++i) {
      if (at_seconds[i] < from) continue;
      if (n == 0) first = at_seconds[i];
      last = at_seconds[i];
      n += 1;
      x += at_seconds[i];
      y += resident_mb[i];
      xx += at_seconds[i] * at_seconds[i];
      xy += at_seconds[i] * resident_mb[i];
    }
    const double spread = n * xx - x * x;
    return spread > 0 ? (n * xy - x * y) / spread * (last - first) : 0;
  }
};

template <typename AtSample>
Samples watch(Shared& shared, double seconds, AtSample at_sample) {
  Samples samples;
  const Clock::time_point begin = Clock::now();
  Clock::time_point window_begin = begin;
  std::uint64_t window_first = shared.other_took.load();
  for (int sample = 1; seconds_since(begin) < seconds; ++sample) {
    std::this_thread::sleep_until(begin + sample * sample_interval);
    samples.at_seconds.push_back(seconds_since(begin));
    samples.resident_mb.push_back(resident_mb());
    at_sample(samples.at_seconds.back());
    if (sample % samples_per_window != 0) continue;
    const std::uint64_t now_took = shared.other_took.load();
    samples.speeds.push_back(static_cast<double>(now_took - window_first) /
                             seconds_since(window_begin));
    window_first = now_took;
    window_begin = Clock::now();
  }
  return samples;
}

struct Options {
  bool sleeping = false;
  double seconds = 60;
  double settle_seconds = 10;
  double alone_seconds = 15;
  double speed_percent = 95;
};

bool parse(int argc, char** argv, Options& options) {
  bool sink_named = false;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    const std::string value = argv[i + 1];
    double number = 0;
    const char* const end = value.data() + value.size();
    const bool is_number = std::from_chars(value.data(), end, number).ptr == end;
    if (name == "--sink" && (value == "blocked" || value == "sleeping")) {
      options.sleeping = value == "sleeping";
      sink_named = true;
    } else if (name == "--seconds" && is_number) {
      options.seconds = number;
    } else if (name == "--settle-seconds" && is_number) {
      options.settle_seconds = number;
    } else if (name == "--alone-seconds" && is_number) {
      options.alone_seconds = number;
    } else if (name == "--speed-percent" && is_number) {
      options.speed_percent = number;
    } else {
      return false;
    }
  }
  return sink_named && argc % 2 == 1;
}

int run(const Options& options) {
  Shared shared;
  bool right = true;
  const auto expect = [&](bool holds, const char* what) {
    if (!holds) std::printf("DOES NOT HOLD: %s\n", what);
    right = right && holds;
  };
  const auto nothing = [](double) {};

  Job other = start_other(shared);
  (void)watch(shared, std::min(2.0, options.alone_seconds), nothing);  // until it is warm
  Samples alone = watch(shared, options.alone_seconds, nothing);

  Job stuck = start_stuck(shared, options.sleeping);
  std::vector<std::string> named;
  double named_at_seconds = 0;
  std::uint64_t made_at_half = 0;
  const Samples beside = watch(shared, options.seconds, [&](double at_seconds) {
    if (at_seconds < options.seconds / 2) made_at_half = shared.made.load();
    for (const std::string& text : other.handle.stuck()) {
      std::printf("named without reason: %s\n", text.c_str());
      right = false;
    }
    const std::vector<std::string> now = stuck.handle.stuck();
    if (named.empty() && !now.empty()) named_at_seconds = at_seconds;
    if (!now.empty()) named = now;
  });
  // Naming takes its time; a run that is shorter than that waits for it.
  for (int sample = 0; named.empty() && sample < naming_samples; ++sample) {
    std::this_thread::sleep_for(sample_interval);
    named = stuck.handle.stuck();
    named_at_seconds = options.seconds + (sample + 1) * seconds_of(sample_interval);
  }
  const std::uint64_t made = shared.made.load();
  const std::uint64_t calls = shared.stuck_calls.load();
  expect(calls > 0, "the stuck sink was called");
  expect(shared.stuck_took.load() == 0, "the stuck sink took nothing");
  expect(made > 0 && made == made_at_half, "the source is held back");
  expect(!stuck.handle.finished(), "the stuck job runs");
  shared.released.store(true);  // a call that sleeps must end before the job can
  expect(stuck.cancel(), "the stuck job can be cancelled");

  const Samples after = watch(shared, options.alone_seconds, nothing);
  alone.speeds.insert(alone.speeds.end(), after.speeds.begin(), after.speeds.end());
  expect(other.cancel(), "the second job can be cancelled");

  for (const std::string& text : named) {
    std::printf("named after %.1f s: %s\n", named_at_seconds, text.c_str());
  }
  expect(named.size() == 1, "JobHandle::stuck() names one task");
  expect(!named.empty() && named.front().find("slot") != std::string::npos &&
             named.front().find(stuck_name) != std::string::npos,
         "JobHandle::stuck() names the slot and the operator that is stuck");
  const double growth = beside.growth_mb(options.settle_seconds);
  expect(growth <= growth_limit_mb, "memory does not grow");
  const double percent =
      median(alone.speeds) > 0 ? median(beside.speeds) / median(alone.speeds) * 100 : 0;
  expect(percent > 0, "the second job goes on");
  expect(percent >= options.speed_percent, "the second job keeps its speed");
  std::printf(
      "%s: memory %+.2f MB over seconds %.0f to %.0f (at %.0f MB), second job at %.1f %% of %.0f M "
      "records/s, %llu records held, %llu calls, %s\n",
      options.sleeping ? "sleeping sink" : "blocked sink", growth, options.settle_seconds,
      options.seconds, beside.resident_mb.back(), percent, median(alone.speeds) / 1e6,
      static_cast<unsigned long long>(made), static_cast<unsigned long long>(calls),
      named.empty() ? "NOT NAMED" : "named");
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(stderr,
                 "usage: stuck_sink --sink blocked|sleeping [--seconds S] [--settle-seconds S] "
                 "[--alone-seconds S] [--speed-percent P]\n");
    return 2;
  }
  return run(options);
}
