// The example of docs/testing_a_job.md, compiled and run.
#include <gtest/gtest.h>
#include <hummer/hummer.hpp>
#include <hummer/testing/mini_cluster.hpp>
#include <hummer/testing/operator_bench.hpp>

struct Reading {
  std::uint32_t sensor;
  double value;
};

// Tells a sensor that says nothing for a minute.
struct Silence {
  hummer::ValueState<hummer::Timestamp> last{"last"};

  void process(const Reading&, hummer::KeyedOutput<std::uint32_t>& out) {
    last.set(out.time());
    out.set_event_timer(out.time() + 60'000);
  }
  void on_timer(hummer::Timestamp time, hummer::KeyedOutput<std::uint32_t>& out) {
    if (last.get_or(0) + 60'000 == time) out.emit(out.key<std::uint32_t>());
  }
};

TEST(Silence, IsToldOncePerSensor) {
  const auto silence = hummer::keyed_operator<Reading, std::uint32_t>(&Reading::sensor, Silence{});
  hummer::OperatorBench<Reading> bench(silence);
  bench.record({7, 20.5}, 0);
  bench.record({7, 20.6}, 30'000);
  bench.watermark(60'000);
  EXPECT_TRUE(bench.take<std::uint32_t>().empty());

  // What was true before a failure is true after it.
  hummer::OperatorBench<Reading> after(silence);
  ASSERT_TRUE(after.restore(bench.snapshot()).ok());
  after.watermark(90'000);
  EXPECT_EQ(after.take<std::uint32_t>(), std::vector<std::uint32_t>{7});
}

void silent_sensors(hummer::StreamExecutionEnvironment& env) {
  env.generate([](std::uint64_t i) { return Reading{static_cast<std::uint32_t>(i % 10), 20.0}; },
               {.count = 1000}, [](std::uint64_t i) { return static_cast<hummer::Timestamp>(i); })
      .key_by(&Reading::sensor)
      .process(Silence{})
      .write_file(env.argument("output"));
  env.execute("silent sensors");
}

TEST(SilentSensors, AreToldByTwoTaskManagers) {
  const std::string output = testing::TempDir() + "silent_sensors";
  hummer::MiniCluster cluster(&hummer::call_job<&silent_sensors>, {.task_managers = 2});
  ASSERT_TRUE(cluster.start().ok());
  const hummer::JobResult result = cluster.run({"--output", output, "--parallelism", "2"});
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_EQ(hummer::MiniCluster::lines_of(output).size(), 10u);
}
