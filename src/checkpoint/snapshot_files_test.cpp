#include "checkpoint/snapshot_files.hpp"

#include <gtest/gtest.h>

#include "platform/simulation.hpp"

namespace hummer::snapshot_files_test {
namespace {

constexpr const char* path = "/checkpoints/chk-0000000007";
constexpr SnapshotFiles::Writer task{.vertex = 3, .subtask = 1, .parallelism = 2};

TaskSnapshot snapshot_of(const std::string& state) {
  return {.epoch = 7, .pieces = {{.uid = "count", .bytes = state}}};
}

// What is left of an attempt that was cut off goes on writing: to what is there, it does nothing.
TEST(SnapshotFiles, NeverWriteOverThoseOfAnotherAttempt) {
  auto node = make_simulated_platform({.seed = 1});
  ASSERT_TRUE(node->files().create_directories(path).ok());
  SnapshotFiles current(node->files(), 5, 1, node->random());
  const auto file = current.add(task, 7, path, snapshot_of("new"));
  ASSERT_TRUE(file.ok() && *file) << file.status().to_string();

  SnapshotFiles cut_off(node->files(), 5, 1, node->random());
  const auto refused = cut_off.add(task, 7, path, snapshot_of("old"));
  EXPECT_EQ(refused.status().code(), ErrorCode::io_error) << "a job begins again after it";
  EXPECT_NE(refused.status().message().find("3-1.state"), std::string::npos);

  CheckpointMetadata metadata;
  metadata.id = 7;
  metadata.job = 5;
  std::string read;
  const auto visit = [&](std::string_view, std::string_view piece) {
    read = piece.substr(1);  // behind the byte that says what it is
    return Status();
  };
  ASSERT_TRUE(CheckpointStore::read_file(node->files(), path, metadata, **file, visit).ok());
  EXPECT_EQ(read, "new");
}

}  // namespace
}  // namespace hummer::snapshot_files_test
