// OnPlatforms: what tests of pipelines share that run under Linux and under virtual time, at
// parallelism 1 and 2.
//
// Sale: their records, which come out of order within disorder_ms.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "pipelines/collected.hpp"
#include "platform/simulation.hpp"

namespace hummer {

struct PlatformSetting {
  std::uint64_t seed;  // of the simulation; 0: Linux
  int parallelism;
};
inline std::ostream& operator<<(std::ostream& out, const PlatformSetting& setting) {
  out << (setting.seed == 0 ? "linux" : "seed" + std::to_string(setting.seed));
  return out << "_p" << setting.parallelism;
}

class OnPlatforms : public testing::TestWithParam<PlatformSetting> {
 public:
  static auto simulated_only() {
    return testing::Values(PlatformSetting{1, 1}, PlatformSetting{2, 1}, PlatformSetting{3, 2},
                           PlatformSetting{4, 2});
  }
  static auto everywhere() {
    return testing::Values(PlatformSetting{0, 1}, PlatformSetting{0, 2}, PlatformSetting{1, 1},
                           PlatformSetting{2, 2}, PlatformSetting{3, 2});
  }

 protected:
  OnPlatforms()
      : platform_(simulated() ? make_simulated_platform({.seed = GetParam().seed}) : nullptr) {}
  static bool simulated() { return GetParam().seed != 0; }
  static int parallelism() { return GetParam().parallelism; }
  EnvironmentOptions options() {
    EnvironmentOptions options;
    options.parallelism = parallelism();
    options.batch_records = GetParam().seed % 2 == 0 ? 1024 : 7;
    options.channel_credits = 2;
    options.platform = platform_.get();
    return options;
  }
  // One record at a time, so that a watermark follows each: one subtask does what a loop does.
  EnvironmentOptions record_by_record() {
    EnvironmentOptions one = options();
    one.parallelism = 1;
    one.batch_records = 1;
    return one;
  }
  static JobResult run(StreamExecutionEnvironment& env) {
    JobResult result = env.execute("pipeline");
    EXPECT_TRUE(result.ok()) << result.status.to_string();
    return result;
  }

  std::unique_ptr<SimulatedPlatform> platform_;
};

struct Sale {
  Timestamp time;
  std::uint32_t user;
  std::int64_t value;
};
inline constexpr Timestamp disorder_ms = 40;

inline std::vector<Sale> random_sales(std::uint64_t seed, int count) {
  std::mt19937_64 random(seed);
  std::vector<Sale> sales;
  for (int i = 0; i < count; ++i) {
    const auto time =
        static_cast<Timestamp>(4 * i) + static_cast<Timestamp>(random() % disorder_ms);
    sales.push_back({time, static_cast<std::uint32_t>(random() % 5),
                     static_cast<std::int64_t>(random() % 1000)});
  }
  return sales;
}
// With their event times, and a watermark every five records.
inline DataStream<Sale> timed(StreamExecutionEnvironment& env, const std::vector<Sale>& sales) {
  return env.generate(
      [sales](std::uint64_t i) { return sales[i]; },
      {.count = sales.size(), .watermark_interval = 5, .out_of_order_ms = disorder_ms},
      [sales](std::uint64_t i) { return sales[i].time; });
}

}  // namespace hummer
