// A sink whose checksum and times are metrics of the job, so that they come back to the client from
// whatever process it runs in.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>

#include <hummer/hummer.hpp>

#include "stateful/workload.hpp"

namespace late_merge {

// Names of metrics.
inline constexpr const char* results_metric = "results";
inline constexpr const char* hash_metric = "results_hash";
inline constexpr const char* opened_metric = "opened_s";
inline constexpr const char* ended_metric = "ended_s";

// Of the clock that all machines have, since `begun_us`: the metrics keep nine digits.
inline double seconds_since(std::int64_t begun_us) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now - std::chrono::microseconds(begun_us)).count();
}

// add(Checksum&, const Result&)
template <typename Result, typename Add>
class ResultsSink final : public hummer::SinkFunction<Result> {
 public:
  ResultsSink(Add add, std::int64_t begun_us) : add_(add), begun_us_(begun_us) {}
  hummer::Status open(hummer::OperatorContext&) override {
    opened_.set(seconds_since(begun_us_));
    return {};
  }
  hummer::OperatorResult write(std::span<const Result> results) override {
    for (const Result& one : results) add_(sum_, one);
    return hummer::OperatorResult::done;
  }
  hummer::OperatorResult end() override {
    results_.add(sum_.results);
    hash_.add(sum_.sum);
    ended_.set(seconds_since(begun_us_));
    return hummer::OperatorResult::done;
  }

 private:
  Add add_;
  std::int64_t begun_us_;
  stateful::Checksum sum_;
  hummer::Counter results_{results_metric};
  hummer::Counter hash_{hash_metric};
  hummer::Gauge opened_{opened_metric};
  hummer::Gauge ended_{ended_metric};
};

template <typename Result, typename Add>
void sum_up(const hummer::DataStream<Result>& results, std::int64_t begun_us, Add add) {
  // A restored attempt's sums begin at nothing: exactly-once is shown by files (Job::output).
  const auto make = [add, begun_us]() -> std::unique_ptr<hummer::SinkFunction<Result>> {
    return std::make_unique<ResultsSink<Result, Add>>(add, begun_us);
  };
  results.add_sink("results", hummer::rebuildable(make, begun_us));
}

}  // namespace late_merge
