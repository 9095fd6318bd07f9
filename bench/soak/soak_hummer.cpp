// soak_hummer [--rate N] [--seconds S] [--keys N] [--ttl-ms N] [the engine's own options]
//
// A job that goes on for long with all that state does, at a rate that is no strain. From one
// stream of indexes, whose event time goes on as fast as the clock:
//
//   sessions   keys that come for a while (ten records each) and never again: a count per session
//   timers     the same keys in a keyed function: a value, cleared by the timer that puts it out
//   expiring   the same keys in a function whose value nothing clears but its time to live
//   held       a fixed number of keys in a function's value, a result per record; what is to go to
//              disk under a memory limit
//
// So what it holds stays as large as it is after a while, whatever it takes. At the end every
// result is compared with a plain model. One line of JSON. Watched by bench/soak/run.
#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <hummer/hummer.hpp>

#include "stateful/checksum_sink.hpp"
#include "stateful/workload.hpp"

namespace soak {
namespace {

using stateful::Checksum;
using stateful::SharedChecksum;

struct Result {
  std::uint64_t key;
  std::uint64_t value;
};

// A hundred keys at a time take turns, ten records each; then come the next hundred.
constexpr std::uint64_t keys_at_once = 100;
constexpr std::uint64_t records_per_key = 10;
constexpr std::uint64_t records_per_block = keys_at_once * records_per_key;

std::uint64_t passing_key(std::uint64_t index) {
  return index / records_per_block * keys_at_once + index % keys_at_once;
}

struct HeldKey {
  std::uint64_t keys;
  std::uint64_t operator()(const std::uint64_t& index) const {
    return stateful::below(stateful::mixed(index), keys);
  }
};

// Puts out what has come of a key, and forgets it, a while behind its first record.
struct CountUntilTimer {
  hummer::ValueState<std::uint64_t> count{"count"};
  hummer::Timestamp wait_ms;

  void process(const std::uint64_t&, hummer::KeyedOutput<Result>& out) {
    if (!count.has_value()) out.set_event_timer(out.time() + wait_ms);
    count.update(0, [](std::uint64_t& value) { ++value; });
  }
  void on_timer(hummer::Timestamp, hummer::KeyedOutput<Result>& out) {
    out.emit({out.key<std::uint64_t>(), count.get_or(0)});
    count.clear();
  }
  auto states() { return hummer::states(count); }
};

// Says so when a key has all of its records; the state is left to its time to live.
struct CountAndLeave {
  hummer::ValueState<std::uint64_t> count;

  explicit CountAndLeave(std::int64_t ttl_ms) : count("count", {.ttl_ms = ttl_ms}) {}
  void process(const std::uint64_t& index, hummer::KeyedOutput<Result>& out) {
    const std::uint64_t now = count.update(0, [](std::uint64_t& value) { ++value; });
    if (now == records_per_key) out.emit({passing_key(index), now});
  }
  auto states() { return hummer::states(count); }
};

struct CountHeld {
  hummer::ValueState<std::uint64_t> count{"count"};
  HeldKey key_of;

  void process(const std::uint64_t& index, hummer::KeyedOutput<Result>& out) {
    const std::uint64_t now = count.update(0, [](std::uint64_t& value) { ++value; });
    out.emit({key_of(index), now});
  }
  auto states() { return hummer::states(count); }
};

void sum_up(const char* name, const hummer::DataStream<Result>& results, SharedChecksum* total) {
  stateful::add_checksum(name, results, total,
                         [](Checksum& sum, const Result& one) { sum.add(one.key, one.value); });
}

enum Part : std::size_t { sessions, timers, expiring, held, parts };

// What the results must be.
std::array<Checksum, parts> expected(std::uint64_t records, std::uint64_t keys) {
  std::array<Checksum, parts> sums;
  for (std::uint64_t first = 0; first < records; first += records_per_block) {
    const std::uint64_t in_block = std::min(records_per_block, records - first);
    for (std::uint64_t i = 0; i < std::min(keys_at_once, in_block); ++i) {
      const std::uint64_t key = passing_key(first + i);
      const std::uint64_t count = (in_block - i + keys_at_once - 1) / keys_at_once;
      sums[sessions].add(key, count);
      sums[timers].add(key, count);
      if (count == records_per_key) sums[expiring].add(key, count);
    }
  }
  const HeldKey key_of{keys};
  std::vector<std::uint32_t> counts(keys);
  for (std::uint64_t index = 0; index < records; ++index) {
    const std::uint64_t key = key_of(index);
    sums[held].add(key, std::uint64_t{++counts[key]});
  }
  return sums;
}

int run(int argc, char** argv) {
  hummer::StreamExecutionEnvironment env(argc, argv);
  const auto number = [&](const char* name, const char* otherwise) {
    return std::stoull(env.argument_or(name, otherwise));
  };
  const std::uint64_t rate = number("rate", "100000");
  const std::uint64_t records = rate * number("seconds", "600");
  const std::uint64_t keys = number("keys", "2000000");
  const auto ttl_ms = static_cast<std::int64_t>(number("ttl-ms", "20000"));
  // As long as the records of a key take, and as much again.
  const auto wait_ms = static_cast<std::int64_t>(2 * records_per_block * 1000 / rate + 2);
  env.options().restart = hummer::RestartStrategy::no_restart();
  std::array<SharedChecksum, parts> totals;

  const auto indexes = env.generate(
      [](std::uint64_t index) { return index; },
      {.count = records, .records_per_second = static_cast<double>(rate)},
      [rate](std::uint64_t index) { return static_cast<hummer::Timestamp>(index * 1000 / rate); });
  const auto passing =
      indexes.key_by([](const std::uint64_t& index) { return passing_key(index); });
  sum_up("of sessions",
         passing.window(hummer::SessionWindows::with_gap(wait_ms))
             .count()
             .map([](const hummer::Windowed<std::uint64_t, std::uint64_t>& one) {
               return Result{one.key, one.value};
             }),
         &totals[sessions]);
  sum_up("of timers", passing.process(CountUntilTimer{.wait_ms = wait_ms}), &totals[timers]);
  sum_up("of expiring state", passing.process(CountAndLeave(ttl_ms)), &totals[expiring]);
  const HeldKey key_of{keys};
  sum_up("of held state", indexes.key_by(key_of).process(CountHeld{.key_of = key_of}),
         &totals[held]);
  const hummer::JobResult result = env.execute("soak");
  if (!result.ok()) return result.exit_code();

  const std::array<Checksum, parts> wanted = expected(records, keys);
  constexpr std::array<const char*, parts> names = {"sessions", "timers", "expiring", "held"};
  bool all_right = true;
  std::printf("{\"name\": \"soak\", \"records\": %" PRIu64 ", \"seconds\": %.3f", records,
              result.seconds);
  for (std::size_t i = 0; i < parts; ++i) {
    const bool right = totals[i].results == wanted[i].results && totals[i].sum == wanted[i].sum;
    all_right &= right;
    std::printf(", \"%s\": {\"results\": %" PRIu64 ", \"right\": %s}", names[i],
                totals[i].results.load(), right ? "true" : "false");
  }
  std::printf(", \"right\": %s}\n", all_right ? "true" : "false");
  return all_right ? 0 : 1;
}

}  // namespace
}  // namespace soak

int main(int argc, char** argv) { return soak::run(argc, argv); }
