// The job of docs/coming_from_flink.md, compiled and run; it is there as it is here.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include <hummer/hummer.hpp>
#include <hummer/testing/mini_cluster.hpp>

#include "support/test_paths.hpp"

namespace {

struct Click {
  std::string user;
  std::int64_t time_ms;
};

// "ann 61000"
Click parse_click(std::string_view line) {
  const std::size_t space = line.find(' ');
  return {std::string(line.substr(0, space)), std::stoll(std::string(line.substr(space + 1)))};
}

}  // namespace

void clicks_per_minute(hummer::StreamExecutionEnvironment& env) {
  env.from_file(env.argument("input"))
      .map(parse_click)
      .assign_timestamps(&Click::time_ms, hummer::WatermarkStrategy::bounded(5'000))
      .key_by(&Click::user)
      .window(hummer::TumblingWindows::of(60'000))
      .count()
      .write_file(env.argument("output"));
  env.execute("clicks per minute");
}

TEST(ComingFromFlink, TheJobOfThePageCountsClicks) {
  const std::string input = testing::TempDir() + "clicks";
  const std::string output = testing::TempDir() + "clicks_per_minute";
  std::ofstream(input) << "ann 1000\nbob 2000\nann 59999\nann 60000\n";
  const char* const arguments[] = {"clicks",      "--quiet",  "--input",
                                   input.c_str(), "--output", output.c_str()};
  hummer::StreamExecutionEnvironment env(static_cast<int>(std::size(arguments)), arguments);
  clicks_per_minute(env);
  EXPECT_EQ(hummer::MiniCluster::lines_of(output).size(), 3u);
}

TEST(ComingFromFlink, ThePageHasTheJobAsItIsHere) {
  const auto text_of = [](const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  };
  const std::string tests = hummer::test_path("sources");
  const std::string here = text_of(tests + "/documents/coming_from_flink_test.cpp");
  const std::size_t begin = here.find("void clicks_per_minute(");
  const std::string job = here.substr(begin, here.find("\n}\n", begin) + 3 - begin);
  EXPECT_NE(text_of(tests + "/../docs/coming_from_flink.md").find(job), std::string::npos);
}
