#include "platform/child_process.hpp"

#include <gtest/gtest.h>

#include "platform/platform.hpp"

namespace hummer::child_process_test {
namespace {

class ChildProcessTest : public testing::Test {
 private:
  const std::unique_ptr<Platform> platform_ = make_linux_platform();
};

// All that a program writes of what it is given.
std::string output_of(ChildProcess& child, std::string_view input) {
  std::string output;
  while (!input.empty()) EXPECT_TRUE(child.exchange(input, output, seconds(10)).ok());
  child.end_input();
  for (;;) {
    const Result<bool> more = child.read(output, seconds(10));
    EXPECT_TRUE(more.ok());
    if (!more.ok() || !*more) return output;
  }
}

TEST_F(ChildProcessTest, GivesAndTakesMoreThanAPipeHolds) {
  const std::string input(3'000'000, 'a');
  auto child = ChildProcess::start("tr a b");
  ASSERT_TRUE(child.ok()) << child.status().to_string();
  EXPECT_EQ(output_of(**child, input), std::string(3'000'000, 'b'));
  const Result<ChildEnd> end = (*child)->wait();
  ASSERT_TRUE(end.ok());
  EXPECT_TRUE(end->ok());
}

TEST_F(ChildProcessTest, SaysHowItEnded) {
  auto child = ChildProcess::start("exit 7");
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(output_of(**child, "nobody reads this"), "");
  EXPECT_EQ((*child)->wait()->exit_code, 7);
  auto killed = ChildProcess::start("kill -TERM $$");
  ASSERT_TRUE(killed.ok());
  EXPECT_EQ(output_of(**killed, ""), "");
  EXPECT_EQ((*killed)->wait()->signal, 15);
}

TEST_F(ChildProcessTest, HasVariables) {
  auto child = ChildProcess::start("printf %s \"$GREETING\"", {"GREETING=good day"});
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(output_of(**child, ""), "good day");
}

TEST_F(ChildProcessTest, OneThatHasEndedDropsItsInput) {
  auto child = ChildProcess::start("head --lines 1");
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(output_of(**child, "first\n" + std::string(1'000'000, 'x')), "first\n");
  EXPECT_TRUE((*child)->wait()->ok());
}

TEST_F(ChildProcessTest, DestroyingItEndsIt) {
  auto child = ChildProcess::start("sleep 1000");
  ASSERT_TRUE(child.ok());
  child->reset();
}

}  // namespace
}  // namespace hummer::child_process_test
