#include "platform/core_claim.hpp"

#include <gtest/gtest.h>

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>
#include <set>
#include <thread>
#include <vector>

#include "platform/temporary_folder_for_test.hpp"

namespace hummer::core_claim_test {
namespace {

std::set<int> own_cores() {
  cpu_set_t mask;
  EXPECT_EQ(::sched_getaffinity(0, sizeof(mask), &mask), 0);
  std::set<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(static_cast<unsigned>(core), &mask)) cores.insert(core);
  }
  return cores;
}

class CoreClaimTest : public testing::Test {
 protected:
  std::vector<CoreClaim> claim_all() const {
    std::vector<CoreClaim> claims;
    for (;;) {
      Result<CoreClaim> claim = claim_linux_core(directory_);
      if (claim.ok()) {
        claims.push_back(std::move(*claim));
        continue;
      }
      EXPECT_EQ(claim.status().code(), ErrorCode::limit_exceeded) << claim.status().to_string();
      return claims;
    }
  }

  TemporaryFolder folder_;
  const std::string directory_ = folder_.path() + "/cores";
};

TEST_F(CoreClaimTest, EveryCoreOfTheProcessIsClaimedOnce) {
  std::vector<CoreClaim> claims = claim_all();
  std::set<int> claimed;
  for (const CoreClaim& claim : claims) EXPECT_TRUE(claimed.insert(claim.core).second);
  EXPECT_EQ(claimed, own_cores());
  const int given_back = claims.back().core;
  claims.pop_back();
  const Result<CoreClaim> again = claim_linux_core(directory_);
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_EQ(again->core, given_back);
}

TEST_F(CoreClaimTest, OnlyCoresOfTheMaskAreClaimed) {
  const int last = *own_cores().rbegin();
  std::thread([&] {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    CPU_SET(static_cast<unsigned>(last), &mask);
    ASSERT_EQ(::sched_setaffinity(0, sizeof(mask), &mask), 0);
    const std::vector<CoreClaim> claims = claim_all();
    ASSERT_EQ(claims.size(), 1u);
    EXPECT_EQ(claims[0].core, last);
  }).join();
}

TEST_F(CoreClaimTest, TheDeathOfAProcessGivesItsCoresBack) {
  int ready[2], die[2];
  ASSERT_EQ(::pipe(ready), 0);
  ASSERT_EQ(::pipe(die), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(die[1]);
    const std::vector<CoreClaim> claims = claim_all();
    char byte = 'x';
    if (::write(ready[1], &byte, 1) == 1) (void)!::read(die[0], &byte, 1);
    ::_exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_TRUE(claim_all().empty());
  ::close(die[1]);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(claim_all().size(), own_cores().size());
}

}  // namespace
}  // namespace hummer::core_claim_test
