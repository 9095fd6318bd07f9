// latency_hummer --row count|function|join [--rate N] [--event-rate N] [--seconds S]
//                [--warm-seconds S] [--keys N] [--window-ms N]
//                [--checkpoint-dir DIR --checkpoint-interval-ms N ...]
//
// How long results take under load. `count`: an aggregate that counts, with a result per record;
// `function`: a keyed function with a ValueState that does the same; `join`: two streams of
// 100-byte records in tumbling windows, whose pairs have one key each.
//
// A result is due when its record was, and a pair when its window ends, on the schedule
// (arrivals.hpp). Latency is the time at which the sink gets it, less that. --rate is of all
// streams together; 0: as fast as it goes. A plain loop says afterwards what the results must be.
// One line of JSON.
#include <sys/resource.h>

#include <cinttypes>
#include <cstdio>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "arrivals.hpp"
#include "histogram.hpp"
#include "stateful/workload.hpp"

namespace latency {
namespace {

using stateful::Checksum;

struct Arrival {
  std::uint64_t key;
  std::int64_t due_ns;
};
struct Side {
  std::uint64_t key;
  std::int64_t due_ns;
  std::array<char, 84> payload;
};
struct Result {
  std::uint64_t key;
  std::uint64_t value;
  std::int64_t due_ns;
};

struct Seen {
  std::mutex mutex;
  Histogram latencies;
  Checksum results;
  std::int64_t last_ns = 0;
};

class LatencySink final : public hummer::SinkFunction<Result> {
 public:
  LatencySink(const Run* run, Seen* seen) : run_(run), seen_(seen) {}

  hummer::OperatorResult write(std::span<const Result> results) override {
    const std::int64_t now = clock_ns();
    const std::int64_t from = run_->start_ns == 0 ? INT64_MAX : run_->measure_from();
    for (const Result& one : results) {
      sum_.add(one.key, one.value);
      if (one.due_ns >= from) latencies_.add(now - one.due_ns);
    }
    last_ns_ = now;
    return hummer::OperatorResult::done;
  }
  hummer::OperatorResult end() override {
    const std::lock_guard lock(seen_->mutex);
    seen_->latencies.add(latencies_);
    seen_->results.results += sum_.results;
    seen_->results.sum += sum_.sum;
    seen_->last_ns = std::max(seen_->last_ns, last_ns_);
    return hummer::OperatorResult::done;
  }

 private:
  const Run* const run_;
  Seen* const seen_;
  Histogram latencies_;
  Checksum sum_;
  std::int64_t last_ns_ = 0;
};

// Counts, and knows when its last record was due.
struct CountArrivals {
  struct Accumulator {
    std::uint64_t count = 0;
    std::int64_t due_ns = 0;
  };
  using Result = Accumulator;
  void add(Accumulator& to, bool, const Arrival& arrival) const {
    ++to.count;
    to.due_ns = arrival.due_ns;
  }
  void merge(Accumulator& to, bool, const Accumulator& other) const {
    to.count += other.count;
    to.due_ns = std::max(to.due_ns, other.due_ns);
  }
  Result result(const Accumulator& of) const { return of; }
};

struct CountInState {
  hummer::ValueState<std::uint64_t> count{"count"};
  void process(const Arrival& arrival, hummer::KeyedOutput<Result>& out) {
    const std::uint64_t now = count.update(0, [](std::uint64_t& value) { ++value; });
    out.emit({arrival.key, now, arrival.due_ns});
  }
  auto states() { return hummer::states(count); }
};

struct KeyOfIndex {
  std::uint64_t keys;
  std::uint64_t operator()(std::uint64_t index) const {
    return stateful::below(stateful::mixed(index), keys);
  }
};

struct Job {
  hummer::StreamExecutionEnvironment& env;
  Run& run;
  std::int64_t window_ms;
  std::array<std::vector<std::uint64_t>, 2> made;  // by stream and subtask

  template <typename Record, typename Make, typename Fill>
  auto arrivals(const char* name, int stream, bool timed, Make make, Fill fill) {
    const int subtasks = env.options().parallelism;
    made[static_cast<std::size_t>(stream)].assign(static_cast<std::size_t>(subtasks), 0);
    run.sources += subtasks;
    return env.from_source<Record>(
        name,
        [=, run = &run, made = &made[static_cast<std::size_t>(stream)]] {
          return std::make_unique<ArrivalSource<Record, Make, Fill>>(run, make, fill, timed, made);
        },
        true);
  }
  auto keyed() {
    const KeyOfIndex key_of{run.schedule.keys};
    return arrivals<Arrival>(
               "arrivals", 0, false,
               [key_of](std::uint64_t index, std::int64_t due) {
                 return Arrival{key_of(index), due};
               },
               [](std::uint64_t key) { return Arrival{key, 0}; })
        .key_by(&Arrival::key);
  }
  auto side(const char* name, int stream) {
    return arrivals<Side>(
               name, stream, true,
               [](std::uint64_t index, std::int64_t due) {
                 Side record{.key = index, .due_ns = due, .payload = {}};
                 stateful::fill(record.payload, stateful::letters(stateful::mixed(index)));
                 return record;
               },
               [](std::uint64_t key) { return Side{.key = key, .due_ns = 0, .payload = {}}; })
        .key_by(&Side::key);
  }

  hummer::DataStream<Result> row(const std::string& name) {
    if (name == "count") {
      return keyed()
          .aggregate("count", CountArrivals{}, hummer::Emit::every_record)
          .map([](const hummer::KeyValue<std::uint64_t, CountArrivals::Accumulator>& one) {
            return Result{one.key, one.value.count, one.value.due_ns};
          });
    }
    if (name == "function") return keyed().process(CountInState{});
    if (name != "join") throw std::invalid_argument("--row takes count, function or join");
    // Of a closed loop what is due is not known before, and its latencies mean nothing.
    const auto window_ns = window_ms * 1'000'000;
    return side("left", 0)
        .join(side("right", 1))
        .window(hummer::TumblingWindows::of(window_ms))
        .apply([run = &run, window_ns](const Side& left, const Side& right) {
          const std::int64_t since = (left.due_ns - run->start_ns) / window_ns + 1;
          return Result{left.key, stateful::first_letters(right.payload),
                        run->start_ns + since * window_ns};
        });
  }

  // What the results must be, of the records that were made.
  Checksum expected(const std::string& name) const {
    Checksum sum;
    const std::size_t subtasks = made[0].size();
    if (name == "join") {
      for (std::size_t s = 0; s < subtasks; ++s) {
        for (std::uint64_t i = 0; i < std::min(made[0][s], made[1][s]); ++i) {
          const std::uint64_t index = s + i * subtasks;
          sum.add(index, stateful::letters(stateful::mixed(index)));
        }
      }
      return sum;
    }
    const KeyOfIndex key_of{run.schedule.keys};
    std::vector<std::uint32_t> counts(run.schedule.keys, 1);
    for (std::uint64_t key = 0; key < run.schedule.keys; ++key) sum.add(key, std::uint64_t{1});
    for (std::size_t s = 0; s < subtasks; ++s) {
      for (std::uint64_t i = 0; i < made[0][s]; ++i) {
        const std::uint64_t key = key_of(s + i * subtasks);
        sum.add(key, std::uint64_t{++counts[key]});
      }
    }
    return sum;
  }
};

int measure(int argc, char** argv) {
  hummer::StreamExecutionEnvironment env(argc, argv);
  const auto number = [&](const char* name, const char* otherwise) {
    return std::stod(env.argument_or(name, otherwise));
  };
  const std::string row = env.argument("row", "count, function or join");
  const auto keys = static_cast<std::uint64_t>(number("keys", "1000000"));
  const bool join = row == "join";
  const double streams = join ? 2 : 1;
  Run run;
  run.schedule = {.rate = number("rate", "0") / streams,
                  .event_rate = number("event-rate", "1000000") / streams,
                  .seconds = number("seconds", "5"),
                  .warm_seconds = number("warm-seconds", "1"),
                  .keys = join ? 0 : keys};
  if (env.options().parallelism == 0) env.options().parallelism = 2;
  env.options().restart = hummer::RestartStrategy::no_restart();
  Seen seen;
  Job job{env, run, static_cast<std::int64_t>(number("window-ms", "100")), {}};
  job.row(row).add_sink("latencies", [run = &run, seen = &seen] {
    return std::unique_ptr<hummer::SinkFunction<Result>>(std::make_unique<LatencySink>(run, seen));
  });
  const hummer::JobResult result = env.execute("latency");
  if (!result.ok()) return result.exit_code();
  std::uint64_t records = 0;
  for (const auto& stream : job.made) {
    for (const std::uint64_t made : stream) records += made;
  }
  const Checksum expected = job.expected(row);
  const bool right = expected.results == seen.results.results && expected.sum == seen.results.sum;
  const double warm = run.schedule.seconds - run.schedule.warm_seconds;
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  std::printf("{\"name\": \"hummer\", \"row\": \"%s\", \"rate\": %.0f, \"records\": %" PRIu64
              ", \"results\": %" PRIu64
              ", \"right\": %s, \"made_per_second\": %.0f"
              ", \"behind_seconds\": %.3f, \"measured\": %" PRIu64,
              row.c_str(), run.schedule.rate * streams, records, seen.results.results,
              right ? "true" : "false", static_cast<double>(run.made_warm) / warm,
              static_cast<double>(seen.last_ns - run.end_ns()) / 1e9, seen.latencies.total());
  constexpr std::pair<const char*, double> shares[] = {
      {"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}, {"p99.99", 0.9999}};
  for (const auto& [name, share] : shares) {
    std::printf(", \"%s\": %.1f", name, seen.latencies.at_us(share));
  }
  std::printf(", \"most\": %.1f, \"most_resident_mib\": %ld}\n", seen.latencies.most_us(),
              usage.ru_maxrss / 1024);
  return right ? 0 : 1;
}

}  // namespace
}  // namespace latency

int main(int argc, char** argv) {
  try {
    return latency::measure(argc, argv);
  } catch (const std::invalid_argument& wrong) {
    std::fprintf(stderr, "latency_hummer: %s\n", wrong.what());
    return 2;
  }
}
