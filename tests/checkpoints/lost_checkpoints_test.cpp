// A job whose checkpoints vanish between two of its attempts: it begins at zero only if it may.
#include <gtest/gtest.h>

#include <hummer/hummer.hpp>

#include "checkpoints/failing_jobs.hpp"
#include "platform/simulation.hpp"

namespace hummer::lost_checkpoints_test {
namespace {

using Index = std::uint64_t;
constexpr Index keys = 7;
constexpr Index records = 5000;

// Fails once, in the middle; then its directories are gone, as those of a mount that went.
JobResult run(SimulatedPlatform& node, bool allow_fresh_start) {
  EnvironmentOptions options;
  options.platform = &node;
  options.parallelism = 2;
  options.batch_records = 32;
  options.quiet = true;
  options.checkpoints.directory = "/checkpoints";
  options.checkpoints.interval_ms = 50;
  options.checkpoints.allow_fresh_start = allow_fresh_start;
  options.restart = RestartStrategy::fixed_delay(20, 10);
  Index seen = 0;
  StreamExecutionEnvironment env(options);
  env.generate([](Index i) { return i; }, {.count = records, .records_per_second = 5000})
      .map([&](Index i) {
        if (++seen == records / 2) {
          for (const std::string directory : {"/checkpoints", "/out"}) {
            EXPECT_TRUE(node.files().rename(directory, directory + "-before").ok());
          }
          throw std::runtime_error("planned");
        }
        return i % keys;
      })
      .key_by(identity)
      .count(Emit::every_record)
      .write_file("/out");
  return env.execute("running counts");
}

TEST(LostCheckpoints, AreTheEndOfAJob) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    auto node = make_simulated_platform({.seed = seed});
    const JobResult result = run(*node, false);
    EXPECT_EQ(result.status.code(), ErrorCode::not_found) << result.status.to_string();
    EXPECT_NE(result.status.message().find("'/checkpoints'"), std::string::npos);
    EXPECT_NE(result.status.message().find("--allow-fresh-start"), std::string::npos);
    EXPECT_TRUE(visible_lines(node->files(), "/out").empty());
  }
}

TEST(LostCheckpoints, LetAJobBeginAnewThatMay) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    auto node = make_simulated_platform({.seed = seed});
    const JobResult result = run(*node, true);
    ASSERT_TRUE(result.ok()) << result.status.to_string();
    EXPECT_EQ(visible_lines(node->files(), "/out"), expected_counts(records, keys));
  }
}

}  // namespace
}  // namespace hummer::lost_checkpoints_test
