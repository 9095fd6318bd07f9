// What the jobs share: their arguments, their event time and the sink that takes the checksum.
#pragma once

#include <memory>
#include <span>
#include <string>

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

// What is known of the records when the last has come.
struct SinkResult {
  std::uint64_t records = 0;
  std::uint64_t hash = 0;
  double seconds = 0;  // since the first batch
};

template <typename T, typename Sum>
class ChecksumSink final : public hummer::SinkFunction<T> {
 public:
  explicit ChecksumSink(SinkResult* result) : result_(result) {}

  hummer::Answer write(std::span<const T> records) override {
    if (records_ == 0) watch_ = Stopwatch();
    sum_.add(records.data(), records.size());
    records_ += records.size();
    return hummer::Answer::done;
  }
  hummer::Answer end() override {
    *result_ = {records_, sum_.value(), watch_.seconds()};
    return hummer::Answer::done;
  }

 private:
  SinkResult* result_;
  Sum sum_;
  std::uint64_t records_ = 0;
  Stopwatch watch_;
};

template <typename T, typename Sum>
auto checksum_sink(SinkResult* result) {
  return hummer::make_operator_factory([result] {
    return std::make_unique<hummer::SinkFunctionOperator<T>>(
        std::make_unique<ChecksumSink<T, Sum>>(result));
  });
}

}  // namespace micro
