// What the jobs share: their arguments, their event time and the sink that takes the checksum.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <hummer/hummer.hpp>

#include "kernels.hpp"
#include "report.hpp"

namespace micro {

inline std::uint64_t number_argument(hummer::StreamExecutionEnvironment& env, const char* name,
                                     std::uint64_t otherwise, const char* description) {
  return std::stoull(env.argument_or(name, std::to_string(otherwise), description));
}

inline Parameters parameters_of(hummer::StreamExecutionEnvironment& env) {
  Parameters defaults;
  return {number_argument(env, "seed", defaults.seed, "a parameter of the source's function"),
          number_argument(env, "addend", defaults.addend, "a parameter of the map's function"),
          number_argument(env, "mask", defaults.mask, "a parameter of the map's function")};
}

// A millisecond of event time per 1,024 records, and a watermark behind each of them.
struct EventTime {
  hummer::Timestamp operator()(std::uint64_t index) const {
    return static_cast<hummer::Timestamp>(index / 1024);
  }
};

inline hummer::GeneratorOptions generator_options(std::uint64_t count) {
  return {.count = count, .watermark_interval = 1024, .timestamps = false};
}

inline bool is_timed(hummer::StreamExecutionEnvironment& env) {
  return number_argument(env, "timed", 0, "1: every record has its event time") != 0;
}

// The records that `make` makes. With event time: each with its own, as a user assigns it, and a
// generator makes the watermarks. Else watermarks alone.
template <typename Make, typename Time>
auto make_records(hummer::StreamExecutionEnvironment& env, std::uint64_t count, Make make,
                  Time time_of) {
  if (is_timed(env)) {
    return env.generate(make, {.count = count})
        .parallelism(1)
        .resource_group("front")
        .assign_timestamps(time_of, hummer::WatermarkStrategy::ascending())
        .parallelism(1)
        .resource_group("front");
  }
  return env.generate(make, generator_options(count), EventTime{})
      .parallelism(1)
      .resource_group("front");
}

// What is known of the records when the last has come.
struct SinkResult {
  std::uint64_t records = 0;
  std::uint64_t watermarks = 0;  // of the timed form
  std::uint64_t hash = 0;
  double seconds = 0;  // since the first batch
};

// What a sink does with it, once.
using TakeResult = std::function<void(const SinkResult&)>;

inline TakeResult keep_in(SinkResult* kept) {
  return [kept](const SinkResult& result) { *kept = result; };
}

template <typename T, typename Sum>
class ChecksumSink final : public hummer::SinkFunction<T> {
 public:
  explicit ChecksumSink(TakeResult take) : take_(std::move(take)) {}

  hummer::OperatorResult write(std::span<const T> records) override {
    if (records_ == 0) watch_ = Stopwatch();
    sum_.add(records.data(), records.size());
    records_ += records.size();
    return hummer::OperatorResult::done;
  }
  hummer::OperatorResult end() override {
    take_({records_, 0, sum_.value(), watch_.seconds()});
    return hummer::OperatorResult::done;
  }

 private:
  TakeResult take_;
  Sum sum_;
  std::uint64_t records_ = 0;
  Stopwatch watch_;
};

// The timestamps are in the checksum too, and watermarks are counted. An operator: a SinkFunction
// is given neither.
template <typename T, typename Sum>
class TimedChecksumSink final : public hummer::Operator {
 public:
  explicit TimedChecksumSink(TakeResult take) : take_(std::move(take)) {}

  void declare(hummer::Output&) const override {}
  hummer::OperatorResult process(hummer::Batch& in, hummer::Output&) override {
    if (records_ == 0) watch_ = Stopwatch();
    const std::span<const T> records = in.values<T>().subspan(in.position());
    HUMMER_ASSERT(in.has_timestamps());
    sum_.add(records.data(), records.size());
    times_.add(in.timestamps().data() + in.position(), records.size());
    records_ += records.size();
    in.advance_to(in.size());
    return hummer::OperatorResult::done;
  }
  hummer::OperatorResult watermark(hummer::Timestamp, hummer::Output&) override {
    ++watermarks_;
    return hummer::OperatorResult::done;
  }
  hummer::OperatorResult end(hummer::Output&) override {
    take_({records_, watermarks_, mix(sum_.value(), times_.value()), watch_.seconds()});
    return hummer::OperatorResult::done;
  }

 private:
  TakeResult take_;
  Sum sum_;
  Checksum times_;
  std::uint64_t records_ = 0;
  std::uint64_t watermarks_ = 0;
  Stopwatch watch_;
};

template <typename T, typename Sum>
std::shared_ptr<const hummer::OperatorFactory> checksum_sink(TakeResult take, bool timed) {
  if (timed) {
    return hummer::make_operator_factory(
        [take] { return std::make_unique<TimedChecksumSink<T, Sum>>(take); });
  }
  return hummer::make_operator_factory([take] {
    return std::make_unique<hummer::SinkFunctionOperator<T>>(
        std::make_unique<ChecksumSink<T, Sum>>(take));
  });
}

}  // namespace micro
