// beyond_memory: more keyed state than memory (run with and without --memory-limit).
//
//   beyond_memory --form count|process|sessions|windows|sliding [--keys N] [--rounds N]
//                 [--memory-limit SIZE]
//
// Every key comes once per round, each round in another order without any locality: nothing that a
// cache likes. `count` is an aggregate (deltas go to disk), `process` reads and writes a state per
// record, `sessions` a window with a timer, all of which are due at the end. `windows` are two
// tumbling windows one after the other, each with all rounds; `sliding` the same by half a window.
// All results are checked. One line of JSON at the end, with the most memory that the process has
// had.
#include <sys/resource.h>

#include <cstdio>
#include <hummer/hummer.hpp>
#include <memory>
#include <span>
#include <string>

namespace {

constexpr std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

// Strides have no factor in common with the number of keys, which is no multiple of them.
constexpr std::uint64_t strides[] = {7919, 104729, 1299709, 15485863};

struct KeyOfIndex {
  std::uint64_t keys;
  std::uint64_t operator()(std::uint64_t index) const {
    const std::uint64_t round = index / keys;
    return mixed(index % keys * strides[round % std::size(strides)] % keys);
  }
};

using Count = hummer::KeyValue<std::uint64_t, std::uint64_t>;

// Says so when a key has come for the last time.
struct CountInState {
  std::uint64_t rounds = 1;
  hummer::ValueState<std::uint64_t> seen{"seen"};
  void process(std::uint64_t key, hummer::KeyedOutput<Count>& out) {
    const std::uint64_t count = seen.update(0, [](std::uint64_t& value) { ++value; });
    if (count == rounds) out.emit(Count{key, count});
  }
};

struct Checksum {
  std::uint64_t results = 0;
  std::uint64_t sum = 0;
  void add(std::uint64_t key, std::uint64_t count) {
    ++results;
    sum += mixed(key ^ mixed(count));
  }
  friend bool operator==(const Checksum&, const Checksum&) = default;
};

class ChecksumSink final : public hummer::SinkFunction<Count> {
 public:
  explicit ChecksumSink(Checksum* total) : total_(total) {}
  hummer::OperatorResult write(std::span<const Count> counts) override {
    for (const Count& one : counts) sum_.add(one.key, one.value);
    return hummer::OperatorResult::done;
  }
  hummer::OperatorResult end() override {
    *total_ = sum_;
    return hummer::OperatorResult::done;
  }

 private:
  Checksum* total_;
  Checksum sum_;
};

}  // namespace

int main(int argc, char** argv) {
  hummer::StreamExecutionEnvironment env(argc, argv);
  const std::string form = env.argument_or("form", "count");
  const std::uint64_t keys = std::stoull(env.argument_or("keys", "1000000"));
  const std::uint64_t rounds = std::stoull(env.argument_or("rounds", "2"));
  const bool sliding = form == "sliding";
  const bool windows = sliding || form == "windows";
  const std::uint64_t records = keys * rounds * (windows ? 2 : 1);
  Checksum total;
  const auto time_of_index = [](std::uint64_t index) {
    return static_cast<hummer::Timestamp>(index);
  };
  const bool timed = windows || form == "sessions";
  const hummer::GeneratorOptions options{.count = records, .timestamps = timed};
  const auto generated = timed ? env.generate(KeyOfIndex{keys}, options, time_of_index)
                               : env.generate(KeyOfIndex{keys}, options);
  const auto keyed = generated.key_by(hummer::identity);
  const auto of_window = [](const hummer::Windowed<std::uint64_t, std::uint64_t>& one) {
    return Count{one.key, one.value};
  };
  const auto window_ms = static_cast<std::int64_t>(keys * rounds);
  const auto of_slices = [&](const auto& grid) {
    return keyed.window(grid).strategy(hummer::WindowStrategy::repartition).count().map(of_window);
  };
  const auto counts =
      sliding             ? of_slices(hummer::SlidingWindows::of(window_ms, window_ms / 2))
      : windows           ? of_slices(hummer::TumblingWindows::of(window_ms))
      : form == "process" ? keyed.process(CountInState{.rounds = rounds})
      : form == "sessions"
          ? keyed.window(hummer::SessionWindows::with_gap(INT64_C(1) << 40)).count().map(of_window)
          : keyed.count();
  counts
      .add_sink("checksum", hummer::make_operator_factory([&total] {
                  return std::make_unique<hummer::SinkFunctionOperator<Count>>(
                      std::make_unique<ChecksumSink>(&total));
                }))
      .parallelism(1);
  const hummer::JobResult result = env.execute("beyond_memory");
  if (!result.ok()) return result.exit_code();
  Checksum expected;
  for (std::uint64_t key = 0; key < keys; ++key) {
    expected.add(mixed(key), rounds);
    if (windows) expected.add(mixed(key), rounds);
    if (!sliding) continue;
    // Between the two, and before and behind them: with an even number of rounds.
    expected.add(mixed(key), rounds);
    expected.add(mixed(key), rounds / 2);
    expected.add(mixed(key), rounds / 2);
  }
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  std::printf(
      "{\"form\": \"%s\", \"keys\": %llu, \"records\": %llu, \"seconds\": %.3f, \"right\": %s, "
      "\"most_resident_mib\": %ld}\n",
      form.c_str(), static_cast<unsigned long long>(keys), static_cast<unsigned long long>(records),
      result.seconds, total == expected ? "true" : "false", usage.ru_maxrss / 1024);
  return total == expected ? 0 : 1;
}
