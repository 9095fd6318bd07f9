#include "platform/abort_stacks.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

namespace hummer {
namespace {

TEST(AbortStacksDeathTest, SayWhereThatWas) {
  EXPECT_EXIT(
      {
        std::signal(SIGABRT, SIG_DFL);
        write_stacks_of_aborts();
        write_stacks_of_aborts();
        std::abort();
      },
      ::testing::KilledBySignal(SIGABRT), "Aborted in native code, at:\n.*hummer_platform_tests");
}

}  // namespace
}  // namespace hummer
