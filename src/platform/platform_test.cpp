#include "platform/platform.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>
#include <csignal>
#include <string>

#include "platform/run_task.hpp"
#include "platform/task.hpp"

namespace hummer::platform_test {
namespace {

Task<void> raise_flag(Platform& platform, std::atomic<bool>& flag) {
  co_await sleep_for(milliseconds(2));
  flag = true;
  platform.notify_main();
}

TEST(LinuxPlatform, RunUntilSeesWhatAnExecutorDid) {
  auto platform = make_linux_platform();
  auto executor = platform->make_executor({});
  std::atomic<bool> flag{false};
  executor->spawn(raise_flag(*platform, flag));
  EXPECT_EQ(platform->run_until([&] { return flag.load(); }, never), RunEnd::satisfied);
  EXPECT_EQ(platform->run_until([] { return false; }, platform->now() + milliseconds(1)),
            RunEnd::timed_out);
}

TEST(LinuxPlatform, KnowsItsContext) {
  auto platform = make_linux_platform();
  EXPECT_GE(platform->processors(), 1);
  EXPECT_GT(platform->resident_bytes(), 0u);
  EXPECT_GT(platform->wall_time_ms(), 1'600'000'000'000);
  EXPECT_NE(platform->random().next(), platform->random().next());
  const Nanoseconds before = platform->now();
  EXPECT_GE(platform->now(), before);
}

TEST(LinuxPlatform, ASignalToEndIsNotedAndASecondOneEndsTheProcess) {
  auto platform = make_linux_platform();
  {
    const auto watch = platform->watch_signals();
    EXPECT_EQ(watch->received(), 0);
    ::raise(SIGTERM);
    EXPECT_EQ(platform->run_until([&] { return watch->received() != 0; }, never),
              RunEnd::satisfied);
    EXPECT_EQ(watch->exit_code(), 143);
#if !defined(__SANITIZE_THREAD__)  // which holds signals back in a forked process
    EXPECT_EXIT(::raise(SIGINT), testing::ExitedWithCode(130), "");
#endif
  }
  ::signal(SIGHUP, SIG_DFL);  // also under nohup
  const auto again = platform->watch_signals(Hangup::asks_to_reload);
  EXPECT_EQ(again->exit_code(), 0) << "a watch knows only what came since it was made";
  ::raise(SIGHUP);
  EXPECT_EQ(again->received(), 0) << "a hangup asks for no end";
  EXPECT_TRUE(again->take_hangup());
  EXPECT_FALSE(again->take_hangup());
  ::raise(SIGTERM);
  EXPECT_EQ(platform->watch_signals()->received(), 0) << "the second watch at a time";
  EXPECT_EQ(again->exit_code(), 143);
}

TEST(LinuxPlatform, RaisesTheLimitOfDescriptorsAsFarAsItMay) {
  auto platform = make_linux_platform();
  const Result<std::uint64_t> now = platform->raise_descriptor_limit(1);
  ASSERT_TRUE(now.ok());
  EXPECT_GE(*now, 16u);  // not lowered
  const Result<std::uint64_t> more = platform->raise_descriptor_limit(*now + 1);
  ASSERT_TRUE(more.ok());
  EXPECT_GE(*more, *now);
  EXPECT_EQ(platform->raise_descriptor_limit(1).value(), *more);
}

TEST(LinuxPlatform, FullStandardOutputIsAFailureByName) {
  auto platform = make_linux_platform();
  const int full = ::open("/dev/full", O_WRONLY);
  if (full < 0) GTEST_SKIP() << "no /dev/full";
  std::fflush(stdout);
  const int saved = ::dup(1);
  ::dup2(full, 1);
  const Status status = platform->write_standard(1, "text\n");
  ::dup2(saved, 1);
  ::close(saved);
  ::close(full);
  EXPECT_EQ(status.code(), ErrorCode::disk_full);
  EXPECT_NE(status.message().find("standard output"), std::string::npos);
}

TEST(Random, IsSeededAndStaysInBounds) {
  Random a(5), b(5), c(6);
  bool differs = false;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t value = a.next();
    EXPECT_EQ(value, b.next());
    differs |= value != c.next();
    EXPECT_LT(a.below(7), 7u);
    b.below(7);
    const std::int64_t between = c.between(-3, 3);
    EXPECT_TRUE(-3 <= between && between <= 3);
  }
  EXPECT_TRUE(differs);
  EXPECT_FALSE(a.chance(0));
  EXPECT_TRUE(a.chance(1));
}

}  // namespace
}  // namespace hummer::platform_test
