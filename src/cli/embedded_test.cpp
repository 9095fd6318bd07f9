#include "cli/embedded.hpp"

#include <gtest/gtest.h>

#include <hummer/hummer.hpp>
#include <stdexcept>

#include "cli/command.hpp"
#include "cli/embedded.hpp"

namespace hummer::embedded_test {
namespace {

int run(JobFunction job, const std::vector<std::string>& words) {
  const std::unique_ptr<Platform> platform = make_linux_platform();
  ::testing::internal::CaptureStderr();
  ::testing::internal::CaptureStdout();
  const int code = run_embedded(*platform, job, "job", words, own_origin(*platform, "job"));
  ::testing::internal::GetCapturedStdout();
  ::testing::internal::GetCapturedStderr();
  return code;
}

JobResult numbers(StreamExecutionEnvironment& env) {
  const std::uint64_t count = std::stoull(env.argument("count", "how many"));
  env.generate([](std::uint64_t index) { return index; }, {.count = count})
      .for_each([](std::uint64_t) {});
  return env.execute("Numbers");
}

TEST(RunEmbedded, ExitCodesTellSuccessFailureAndWrongUsage) {
  EXPECT_EQ(run(&numbers, {"--count", "100"}), 0);
  EXPECT_EQ(run(&numbers, {"--help"}), 0);
  EXPECT_EQ(run(&numbers, {"--count", "100", "--explain"}), 0);
  EXPECT_EQ(run(&numbers, {}), 2);
  EXPECT_EQ(run(&numbers, {"--count", "100", "--cuont", "1"}), 2);
  EXPECT_EQ(run(&numbers, {"--count", "many"}), 1);
}

// What a run says on standard error.
std::string complaint(JobFunction job, const std::vector<std::string>& words) {
  const std::unique_ptr<Platform> platform = make_linux_platform();
  ::testing::internal::CaptureStderr();
  ::testing::internal::CaptureStdout();
  (void)run_embedded(*platform, job, "job", words, own_origin(*platform, "job"));
  ::testing::internal::GetCapturedStdout();
  return ::testing::internal::GetCapturedStderr();
}

TEST(RunEmbedded, AMisspeltArgumentIsNamedRatherThanTheOneThatIsMissingByIt) {
  const JobFunction reads = [](StreamExecutionEnvironment& env) {
    env.from_file(env.argument("input", "a file")).print();
    return env.execute("Reads");
  };
  const std::string misspelt = "unknown option --inputt, did you mean --input?";
  EXPECT_NE(complaint(reads, {"--inputt", "x"}).find(misspelt), std::string::npos);
  EXPECT_NE(complaint(reads, {}).find("the job needs --input VALUE (a file)"), std::string::npos);
  // Also where the function makes an exception of the missing one; what it has not asked for yet is
  // not held against it.
  const std::string thrown = complaint(&numbers, {"--later", "1", "--cuont", "1"});
  EXPECT_NE(thrown.find("unknown option --cuont, did you mean --count?"), std::string::npos)
      << thrown;
  EXPECT_NE(complaint(&numbers, {"--later", "1"}).find("the job needs --count VALUE"),
            std::string::npos);
}

TEST(RunEmbedded, AJobWithoutASinkIsRefusedByItsStream) {
  const JobFunction no_sink = [](StreamExecutionEnvironment& env) {
    env.from_file("/dev/null").map([](std::string_view line) { return line.size(); });
    return env.execute("Nothing");
  };
  EXPECT_EQ(run(no_sink, {}), 1);
  EXPECT_NE(complaint(no_sink, {}).find("nobody reads the stream of 'map' (node 2)"),
            std::string::npos);
}

TEST(RunEmbedded, AFunctionThatThrowsOrExecutesNothingFails) {
  const JobFunction throws = [](StreamExecutionEnvironment&) -> JobResult {
    throw std::runtime_error("no such table");
  };
  EXPECT_EQ(run(throws, {}), 1);
  const JobFunction nothing = [](StreamExecutionEnvironment& env) { return env.last_result(); };
  EXPECT_EQ(run(nothing, {}), 1);
}

TEST(CommandWords, OwnOptionsEndAtTheFirstArgument) {
  const std::string with_value[] = {"--job-manager"};
  const CommandWords split = split_at_first_argument(
      {"--detached", "--job-manager", "host:1", "a.job.so", "--input", "x"}, with_value);
  EXPECT_EQ(split.own,
            (std::vector<std::string>{"--detached", "--job-manager", "host:1", "a.job.so"}));
  EXPECT_EQ(split.of_job, (std::vector<std::string>{"--input", "x"}));
  EXPECT_TRUE(split_at_first_argument({}, with_value).own.empty());
  EXPECT_EQ(split_at_first_argument({"--job-manager"}, with_value).own.size(), 1u);
}

std::int64_t interval_ms(std::vector<const char*> words) {
  words.insert(words.begin(), "job");
  const StreamExecutionEnvironment env(static_cast<int>(words.size()), words.data());
  return env.options().checkpoints.interval_ms;
}

TEST(CheckpointInterval, ZeroIsOneTooInAnyOrder) {
  EXPECT_EQ(interval_ms({}), 0);
  EXPECT_EQ(interval_ms({"--checkpoint-dir=/d"}), 10'000);
  EXPECT_EQ(interval_ms({"--checkpoint-dir=/d", "--checkpoint-interval-ms=0"}), 0);
  EXPECT_EQ(interval_ms({"--checkpoint-interval-ms=0", "--checkpoint-dir=/d"}), 0);
  EXPECT_EQ(interval_ms({"--checkpoint-interval-ms=7", "--checkpoint-dir=/d"}), 7);
}

}  // namespace
}  // namespace hummer::embedded_test
