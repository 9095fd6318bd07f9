#include "platform/memory_limit.hpp"

#include <gtest/gtest.h>
#include <hummer/detail/memory_account.hpp>

#include <filesystem>
#include <fstream>

#include "platform/linux_memory.hpp"
#include "platform/simulation.hpp"
#include "platform/temporary_folder_for_test.hpp"

namespace hummer::memory_limit_test {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

// /proc and /sys of a machine with 4 GiB.
class MemoryGivenTest : public testing::Test {
 protected:
  MemoryGivenTest() { put("/proc/meminfo", "MemTotal:        4194304 kB\nMemFree: 1 kB\n"); }

  void put(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void mount_version_2(const std::string& mounted_root = "/") {
    put("/proc/self/mountinfo",
        "22 1 0:5 / /proc rw - proc proc rw\n"
        "30 24 0:26 " +
            mounted_root + " /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n");
  }
  MemoryGiven given() const { return linux_memory_given(root_); }

  const TemporaryFolder folder_;
  const std::string root_ = folder_.path();
};

TEST_F(MemoryGivenTest, WithoutACgroupItIsTheMachines) {
  EXPECT_EQ(given().bytes, 4096 * mebibyte);
  EXPECT_EQ(given().source, "the machine's memory");
}

TEST_F(MemoryGivenTest, OfGroupsInGroupsTheTightestCounts) {
  mount_version_2();
  put("/proc/self/cgroup", "0::/system.slice/hummer.service\n");
  put("/sys/fs/cgroup/system.slice/hummer.service/memory.max", "max\n");
  EXPECT_EQ(given().bytes, 4096 * mebibyte);
  put("/sys/fs/cgroup/system.slice/memory.max", "536870912\n");
  EXPECT_EQ(given().bytes, 512 * mebibyte);
  EXPECT_EQ(given().source, "/sys/fs/cgroup/system.slice/memory.max");
  put("/sys/fs/cgroup/system.slice/hummer.service/memory.max", "268435456\n");
  EXPECT_EQ(given().bytes, 256 * mebibyte);
  put("/sys/fs/cgroup/system.slice/hummer.service/memory.max", "1073741824\n");
  EXPECT_EQ(given().bytes, 512 * mebibyte);
}

TEST_F(MemoryGivenTest, AContainerFindsItsGroupAtTheMountPoint) {
  mount_version_2();
  put("/sys/fs/cgroup/memory.max", "268435456\n");
  put("/proc/self/cgroup", "0::/\n");  // with a name space of its own
  EXPECT_EQ(given().bytes, 256 * mebibyte);
  put("/proc/self/cgroup", "0::/../../other\n");  // moved out of it
  EXPECT_EQ(given().bytes, 256 * mebibyte);
  mount_version_2("/docker/4f2a");  // the host's name space
  put("/proc/self/cgroup", "0::/docker/4f2a/inner\n");
  put("/sys/fs/cgroup/inner/memory.max", "134217728\n");
  EXPECT_EQ(given().bytes, 128 * mebibyte);
}

TEST_F(MemoryGivenTest, VersionOneHasAFileOfItsOwn) {
  put("/proc/self/mountinfo",
      "31 24 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
      "32 24 0:28 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory\n");
  put("/proc/self/cgroup", "5:cpu,cpuacct:/other\n4:memory:/jobs/a\n1:name=systemd:/x\n");
  put("/sys/fs/cgroup/memory/jobs/a/memory.limit_in_bytes", "9223372036854771712\n");  // none
  EXPECT_EQ(given().bytes, 4096 * mebibyte);
  put("/sys/fs/cgroup/memory/jobs/memory.limit_in_bytes", "805306368\n");
  EXPECT_EQ(given().bytes, 768 * mebibyte);
  EXPECT_EQ(given().source, "/sys/fs/cgroup/memory/jobs/memory.limit_in_bytes");
}

TEST(MemoryLimit, WhatIsGivenWinsOverTheContext) {
  const auto node = make_simulated_platform({.memory_bytes = 512 * mebibyte});
  EXPECT_EQ(effective_memory_limit(*node, 0).bytes, 0u);
  EXPECT_EQ(effective_memory_limit(*node, 7).bytes, 7u);
  EXPECT_TRUE(effective_memory_limit(*node, 7).from.empty());
  const MemoryLimit half = effective_memory_limit(*node, memory_limit_from_environment);
  EXPECT_EQ(half.bytes, 256 * mebibyte);
  EXPECT_EQ(half.from, "half of 512 MiB, the simulated machine's memory");
  const auto unknown = make_simulated_platform({});
  EXPECT_EQ(effective_memory_limit(*unknown, memory_limit_from_environment).bytes, 0u);
}

}  // namespace
}  // namespace hummer::memory_limit_test
