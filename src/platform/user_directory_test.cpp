#include "platform/user_directory.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include "platform/simulation.hpp"
#include "platform/temporary_folder_for_test.hpp"

namespace hummer::user_directory_test {
namespace {

unsigned mode_of(const std::string& path) {
  struct stat found{};
  EXPECT_EQ(::stat(path.c_str(), &found), 0) << path;
  return found.st_mode & 0777;
}

TEST(UserDirectory, IsThisUsersAlone) {
  const auto platform = make_linux_platform();
  const Result<std::string> directory = user_directory(*platform);
  ASSERT_TRUE(directory.ok()) << directory.status().to_string();
  EXPECT_EQ(mode_of(*directory), 0700u);
  const Result<std::string> again = user_directory(*platform);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*again, *directory);
}

TEST(UserDirectory, APrivateFileIsNewAndForItsOwnerOnly) {
  const TemporaryFolder folder;
  const auto platform = make_linux_platform();
  const std::string path = folder.path() + "/secret";
  ASSERT_TRUE(write_private_file(*platform, path, "x\n").ok());
  EXPECT_EQ(mode_of(path), 0600u);
  EXPECT_EQ(platform->files().stat(path)->size_bytes, 2u);
  const Status again = write_private_file(*platform, path, "y");
  EXPECT_EQ(again.code(), ErrorCode::invalid_argument);
  EXPECT_NE(again.message().find(path), std::string::npos);
}

TEST(UserDirectory, ANodeOfASimulationHasOneToo) {
  const auto platform = make_simulated_platform({});
  const Result<std::string> directory = user_directory(*platform);
  ASSERT_TRUE(directory.ok());
  const std::string path = *directory + "/secret";
  EXPECT_TRUE(write_private_file(*platform, path, "x").ok());
  EXPECT_EQ(write_private_file(*platform, path, "x").code(), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace hummer::user_directory_test
