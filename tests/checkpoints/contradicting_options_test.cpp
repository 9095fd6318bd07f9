// Options of checkpoints that no run could keep are refused before anything runs.
#include <gtest/gtest.h>

#include <hummer/hummer.hpp>

#include "platform/simulation.hpp"

namespace hummer::contradicting_options_test {
namespace {

JobResult run(EnvironmentOptions options) {
  auto node = make_simulated_platform({.seed = 1});
  options.platform = node.get();
  StreamExecutionEnvironment env(options);
  env.generate([](std::uint64_t i) { return i; }, {.count = 10}).write_file("/out");
  JobResult result = env.execute("numbers");
  EXPECT_FALSE(node->files().stat("/out").ok());
  return result;
}

TEST(ContradictingOptions, AJobThatBeginsWithACheckpointNeedsADirectoryForItsOwn) {
  EnvironmentOptions options;
  options.checkpoints.restore = "/checkpoints/chk-0000000007";
  const JobResult result = run(options);
  EXPECT_EQ(result.status.code(), ErrorCode::invalid_configuration) << result.status.to_string();
  EXPECT_NE(result.status.message().find("--checkpoint-dir"), std::string::npos);
  EXPECT_EQ(result.exit_code(), 2);
}

}  // namespace
}  // namespace hummer::contradicting_options_test
