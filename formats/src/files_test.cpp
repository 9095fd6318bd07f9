// Formats through files that are followed and rolled.
#include <hummer/formats/files.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include <hummer/formats/csv.hpp>
#include <hummer/hummer.hpp>

#include "job_files_for_test.hpp"

namespace hummer::formats::files_test {
namespace {

struct Reading {
  std::int64_t time_ms = 0;
  std::string sensor;
  double value = 0;
};

// Each file that is read and each that is written has a header, and columns in an order of its own.
TEST(FormatsInFiles, FilesAreFollowedAndRolledInAFormat) {
  auto node = make_simulated_platform({.seed = 3});
  std::vector<std::string> expected;
  std::string first = "sensor,time_ms,value\n", second = "value,sensor,extra,time_ms\n";
  for (int i = 0; i < 500; ++i) {
    const std::string time = std::to_string(i * 20'000), number = std::to_string(i);
    first += "\"a,1\"," + time + "," + number + "\n";
    second += number + ",b,x," + time + "\n";
    expected.push_back(time + ",\"a,1\"," + number);
    expected.push_back(time + ",b," + number);
  }
  put_file(*node, "/in/first.csv", first);
  put_file(*node, "/in/second.csv", second);
  put_file(*node, "/in/_END", "");
  EnvironmentOptions options = on(*node, 2, 64);
  options.checkpoints.directory = "/checkpoints";
  options.checkpoints.interval_ms = 5;
  StreamExecutionEnvironment env(options);
  FollowOptions follow{.settle_ms = 0, .end_marker = "_END"};
  follow.file = csv_file({}, {.split_size_bytes = 1000, .block_size_bytes = 300});
  const auto readings = decode<Reading>(follow_files(env, "/in", follow), csv());
  write_files(readings, "/out", csv(), {.roll_records = 40, .suffix = ".csv"},
              hourly(&Reading::time_ms));
  const JobResult result = env.execute("followed and rolled");
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  std::vector<std::string> found;
  for (const auto& [path, text] : node->files_below("/out")) {
    if (path.starts_with('.')) continue;
    EXPECT_TRUE(path.starts_with("dt=1970-01-01/hour=0") && path.ends_with(".csv")) << path;
    std::istringstream lines{std::string(text)};
    std::string line;
    std::getline(lines, line);
    EXPECT_EQ(line, "time_ms,sensor,value") << path;
    int records = 0;
    while (std::getline(lines, line)) {
      found.push_back(line);
      ++records;
    }
    EXPECT_LE(records, 40) << path;
  }
  std::sort(found.begin(), found.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace hummer::formats::files_test
