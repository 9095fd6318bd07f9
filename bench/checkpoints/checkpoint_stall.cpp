// checkpoint_stall: how long a record may have to wait because of a snapshot of large state.
//
//   checkpoint_stall --keys 60000000 --touched 600000 --records 200000000 [--rate 20000000]
//                    [--form count|windows]
//                    [--checkpoint-dir DIR --checkpoint-interval-ms 4000 ...]
//
// A running count per key, or a window per key that its trigger puts out with every record: first
// every key once, then so many records for --touched of them (as good as random; 0: all), in all
// --rate a second (0: as fast as it goes). The sink looks at the clock at every batch: the longest
// time between two, behind the first phase, is the longest that a record waited for anything. One
// line of JSON: records and seconds of the second phase, longest_gap_ms, behind how many records it
// ended, gaps_over_5_ms, and the same of the first phase as fill_*.
#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <hummer/hummer.hpp>

namespace {

using Clock = std::chrono::steady_clock;
using Total = hummer::KeyValue<std::uint64_t, std::uint64_t>;
using WindowTotal = hummer::Windowed<std::uint64_t, std::uint64_t>;

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

struct Gaps {
  std::uint64_t records = 0;
  double seconds = 0;
  double longest_ms = 0;
  std::uint64_t longest_at = 0;  // how many records of the phase had come when it ended
  std::uint64_t over_5_ms = 0;

  void add(std::size_t more, double gap_seconds) {
    records += more;
    seconds += gap_seconds;
    if (gap_seconds * 1e3 > longest_ms) {
      longest_ms = gap_seconds * 1e3;
      longest_at = records;
    }
    over_5_ms += gap_seconds > 0.005 ? 1 : 0;
  }
};

template <typename Result>
class GapSink final : public hummer::SinkFunction<Result> {
 public:
  GapSink(std::uint64_t keys, Gaps* fill, Gaps* steady)
      : keys_(keys), fill_(fill), steady_(steady) {}
  hummer::OperatorResult write(std::span<const Result> totals) override {
    const Clock::time_point now = Clock::now();
    const double gap = seen_ == 0 ? 0 : seconds_between(last_, now);
    (seen_ < keys_ ? fill_ : steady_)->add(totals.size(), gap);
    seen_ += totals.size();
    last_ = now;
    return hummer::OperatorResult::done;
  }

 private:
  const std::uint64_t keys_;
  std::uint64_t seen_ = 0;
  Clock::time_point last_;
  Gaps* fill_;
  Gaps* steady_;
};

std::uint64_t mixed(std::uint64_t x) {
  x *= 0x9E3779B97F4A7C15u;
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93u;
  return x ^ x >> 32;
}

struct KeyOfIndex {
  std::uint64_t keys;
  std::uint64_t touched;
  std::uint64_t operator()(std::uint64_t index) const {
    return index < keys ? index : mixed(mixed(index) % touched) % keys;
  }
};

template <typename Result>
void measure(const hummer::DataStream<Result>& totals, std::uint64_t keys, Gaps* fill,
             Gaps* steady) {
  totals
      .add_sink("gaps", hummer::make_operator_factory([=] {
                  return std::make_unique<hummer::SinkFunctionOperator<Result>>(
                      std::make_unique<GapSink<Result>>(keys, fill, steady));
                }))
      .parallelism(1);
}

void print(const char* prefix, const Gaps& gaps) {
  std::printf("\"%srecords\": %" PRIu64
              ", \"%sseconds\": %.3f, \"%slongest_gap_ms\": %.3f, "
              "\"%slongest_gap_at_record\": %" PRIu64 ", \"%sgaps_over_5_ms\": %" PRIu64,
              prefix, gaps.records, prefix, gaps.seconds, prefix, gaps.longest_ms, prefix,
              gaps.longest_at, prefix, gaps.over_5_ms);
}

}  // namespace

int main(int argc, char** argv) {
  hummer::StreamExecutionEnvironment env(argc, argv);
  const std::uint64_t keys = std::stoull(env.argument_or("keys", "1000000"));
  const std::uint64_t touched = std::stoull(env.argument_or("touched", "0"));
  const std::uint64_t records = std::stoull(env.argument_or("records", "10000000"));
  const std::string form = env.argument_or("form", "count");
  const double rate = std::stod(env.argument_or("rate", "0"));
  Gaps fill;
  Gaps steady;
  const auto by_key =
      env.generate(KeyOfIndex{keys, touched == 0 ? keys : touched},
                   {.count = keys + records,
                    .records_per_second = rate > 0 ? std::optional(rate) : std::nullopt})
          .parallelism(1)
          .key_by(hummer::identity);
  if (form == "windows") {
    measure<WindowTotal>(
        by_key.window(hummer::GlobalWindows{}).trigger(hummer::CountTrigger::of(1)).count(), keys,
        &fill, &steady);
  } else {
    measure<Total>(by_key.count(hummer::Emit::every_record), keys, &fill, &steady);
  }
  const hummer::JobResult result = env.execute("checkpoint stall");
  if (!result.ok()) return result.exit_code();
  std::printf("{");
  print("", steady);
  std::printf(", ");
  print("fill_", fill);
  std::printf("}\n");
  return 0;
}
