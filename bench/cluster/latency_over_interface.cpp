// How long small records take through --interface: a source on one TaskManager whose records
// arrive on a schedule (bench/latency/arrivals.hpp), --rate a second (default 10000) for --seconds,
// and a sink on another one behind an exchange. The latency of a record is the time at which the
// sink gets it, less the time at which it was due, by the clock of the machine that both share.
//
// The sink leaves out the records of the first --warm-seconds, fails the job when a record is
// missing, and writes a line of JSON to the file --report when it has all.
#include <array>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <hummer/hummer.hpp>

#include "latency/arrivals.hpp"
#include "latency/histogram.hpp"

namespace {

struct Tick {
  std::uint64_t index;
  std::int64_t due_ns;
  std::array<std::uint64_t, 6> rest;
};

// Of the process with the source.
struct Arrivals {
  latency::Run run;
  std::vector<std::uint64_t> made{0};
};

class LatencySink final : public hummer::SinkFunction<Tick> {
 public:
  LatencySink(std::uint64_t warm, std::uint64_t expected, std::string report)
      : warm_(warm), expected_(expected), report_(std::move(report)) {}

  hummer::Status open(hummer::OperatorContext& context) override {
    context_ = &context;
    return {};
  }
  hummer::OperatorResult write(std::span<const Tick> ticks) override {
    const std::int64_t now = latency::clock_ns();
    for (const Tick& tick : ticks) {
      if (tick.index != records_) {
        return fail("instead of record " + std::to_string(records_) + " came " +
                    std::to_string(tick.index));
      }
      ++records_;
      last_ns_ = now - tick.due_ns;
      if (tick.index >= warm_) latencies_.add(last_ns_);
    }
    return hummer::OperatorResult::done;
  }
  hummer::OperatorResult end() override {
    if (records_ != expected_) {
      return fail(std::to_string(records_) + " records of " + std::to_string(expected_));
    }
    if (report_.empty()) return hummer::OperatorResult::done;
    std::FILE* const file = std::fopen(report_.c_str(), "w");
    if (file == nullptr) return fail("can't write " + report_);
    const auto at = [&](double share) { return latencies_.at_us(share); };
    std::fprintf(file,
                 "{\"records\": %" PRIu64 ", \"measured\": %" PRIu64
                 ", \"p50\": %.1f, \"p90\": %.1f, \"p99\": %.1f, \"p99.9\": %.1f, \"most\": %.1f"
                 ", \"behind\": %.1f}\n",
                 records_, latencies_.total(), at(0.5), at(0.9), at(0.99), at(0.999),
                 latencies_.most_us(), static_cast<double>(last_ns_) / 1e3);
    return std::fclose(file) == 0 ? hummer::OperatorResult::done : fail("can't write " + report_);
  }

 private:
  hummer::OperatorResult fail(std::string why) {
    return context_->fail({hummer::ErrorCode::user_function_failed, std::move(why)});
  }

  const std::uint64_t warm_;      // records that are not measured
  const std::uint64_t expected_;  // of all
  const std::string report_;
  hummer::OperatorContext* context_ = nullptr;
  latency::Histogram latencies_;
  std::uint64_t records_ = 0;
  std::int64_t last_ns_ = 0;  // the latency of the newest record
};

Tick tick_of(std::uint64_t index, std::int64_t due_ns) {
  return {.index = index, .due_ns = due_ns, .rest = {}};
}
Tick no_tick(std::uint64_t) { return {}; }

}  // namespace

void latency_over_interface(hummer::StreamExecutionEnvironment& env) {
  const auto number = [&](const char* name, const char* otherwise, const char* description) {
    return std::stod(env.argument_or(name, otherwise, description));
  };
  const hummer::NetworkSettings through{.interface_or_address =
                                            env.argument_or("interface", "", "of the data edges")};
  const std::string report = env.argument_or("report", "", "file that the sink writes");
  const auto arrivals = std::make_shared<Arrivals>();
  arrivals->run.schedule = {.rate = number("rate", "10000", "records per second"),
                            .seconds = number("seconds", "5", "of the schedule"),
                            .warm_seconds = number("warm-seconds", "1", "not measured")};
  arrivals->run.sources = 1;
  const latency::Schedule& schedule = arrivals->run.schedule;
  const auto warm = static_cast<std::uint64_t>(schedule.rate * schedule.warm_seconds);
  const std::uint64_t records = schedule.records();

  using Source = latency::ArrivalSource<Tick, decltype(&tick_of), decltype(&no_tick)>;
  env.from_source<Tick>("arrivals", hummer::rebuildable([arrivals] {
                          return std::make_unique<Source>(&arrivals->run, &tick_of, &no_tick, false,
                                                          &arrivals->made);
                        }),
                        true)
      .parallelism(1)
      .resource_group("front")
      .network(through)
      .rebalance()
      .add_sink("latencies", hummer::rebuildable(
                                 [=]() -> std::unique_ptr<hummer::SinkFunction<Tick>> {
                                   return std::make_unique<LatencySink>(warm, records, report);
                                 },
                                 warm, records, report))
      .parallelism(1)
      .resource_group("back");
  env.execute(env.argument_or("name", "LatencyOverInterface", "the job's name"));
}

HUMMER_JOB(latency_over_interface)
