#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <hummer/detail/connector_factories.hpp>

#include "connectors/connector_test_context.hpp"

namespace hummer::file_writer_test {
namespace {

class FileWriterTest : public testing::Test {
 protected:
  // One subtask that writes `text` and commits.
  Status write(const std::string& path, std::string_view text, int subtask = 0,
               int parallelism = 1) {
    ConnectorTestContext context(*platform_, subtask, parallelism);
    const auto writer = make_file_writer(path)->make();
    Status status = writer->open(context);
    if (status.ok() && !text.empty() && writer->write(text) != OperatorResult::done) {
      status = context.failure();
    }
    if (status.ok()) status = writer->commit();
    writer->close();
    return status;
  }
  std::vector<std::string> names(const std::string& path) {
    auto found = platform_->files().list_directory(path);
    return found.ok() ? *found : std::vector<std::string>{found.status().to_string()};
  }

  std::unique_ptr<SimulatedPlatform> platform_ = make_simulated_platform({});
};

TEST_F(FileWriterTest, TheFileAppearsWhenItIsComplete) {
  put_file(*platform_, "/out/result", "old\n");
  ConnectorTestContext context(*platform_);
  const auto writer = make_file_writer("/out/result")->make();
  ASSERT_TRUE(writer->open(context).ok());
  ASSERT_EQ(writer->write("one\n"), OperatorResult::done);
  EXPECT_EQ(get_file(*platform_, "/out/result"), "old\n");
  ASSERT_EQ(writer->write("two\n"), OperatorResult::done);
  ASSERT_TRUE(writer->commit().ok());
  writer->close();
  EXPECT_EQ(get_file(*platform_, "/out/result"), "one\ntwo\n");
  EXPECT_EQ(names("/out"), std::vector<std::string>{"result"});
  EXPECT_EQ(context.report().bytes, 8u);
}

TEST_F(FileWriterTest, MakesMissingDirectories) {
  const Status status = write("/a/b/c", "x\n");
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(get_file(*platform_, "/a/b/c"), "x\n");
  ASSERT_TRUE(write("/at_root", "x\n").ok());
  EXPECT_EQ(get_file(*platform_, "/at_root"), "x\n");
  ASSERT_TRUE(write("/empty", "").ok());
  EXPECT_EQ(get_file(*platform_, "/empty"), "");
}

TEST_F(FileWriterTest, WithoutCommitNothingIsLeft) {
  put_file(*platform_, "/out/result", "old\n");
  for (const int parallelism : {1, 2}) {
    const std::string path = parallelism == 1 ? "/out/result" : "/parts";
    ConnectorTestContext context(*platform_, 0, parallelism);
    const auto writer = make_file_writer(path)->make();
    ASSERT_TRUE(writer->open(context).ok());
    ASSERT_EQ(writer->write("one\n"), OperatorResult::done);
    writer->close();
  }
  EXPECT_EQ(get_file(*platform_, "/out/result"), "old\n");
  EXPECT_EQ(names("/out"), std::vector<std::string>{"result"});
  EXPECT_FALSE(platform_->files().stat("/parts").ok());
}

TEST_F(FileWriterTest, ADiskThatIsFullNamesThePathAndLeavesNothing) {
  platform_->simulation().options().disk_capacity_bytes = 10;
  const Status status = write("/out/result", "more than ten bytes\n");
  EXPECT_EQ(status.code(), ErrorCode::disk_full);
  EXPECT_NE(status.message().find("/out/result"), std::string::npos);
  EXPECT_TRUE(names("/out").empty());
}

TEST_F(FileWriterTest, AFileIsCompleteAfterAPowerCut) {
  ASSERT_TRUE(write("/out/result", "complete\n").ok());
  platform_->crash_disk();
  EXPECT_EQ(get_file(*platform_, "/out/result"), "complete\n");
}

TEST_F(FileWriterTest, SeveralSubtasksWriteParts) {
  for (int subtask = 0; subtask < 3; ++subtask) {
    ASSERT_TRUE(write("/parts", std::to_string(subtask) + "\n", subtask, 3).ok());
  }
  EXPECT_EQ(names("/parts"), (std::vector<std::string>{"part-00000", "part-00001", "part-00002"}));
  EXPECT_EQ(get_file(*platform_, "/parts/part-00002"), "2\n");
}

TEST_F(FileWriterTest, WhatIsAlreadyThereIsNotMixedWithTheResult) {
  // The same job again: every subtask finds its own part.
  for (int subtask = 0; subtask < 2; ++subtask) {
    ASSERT_TRUE(write("/parts", "x\n", subtask, 2).ok());
  }
  for (int subtask = 0; subtask < 2; ++subtask) {
    const Status status = write("/parts", "y\n", subtask, 2);
    EXPECT_EQ(status.code(), ErrorCode::invalid_argument);
    EXPECT_NE(status.message().find("not empty"), std::string::npos);
  }
  EXPECT_EQ(get_file(*platform_, "/parts/part-00000"), "x\n");
  put_file(*platform_, "/other/file", "");
  EXPECT_EQ(write("/other", "x\n", 1, 2).code(), ErrorCode::invalid_argument);
  // A directory where one file is wanted, and the other way round.
  EXPECT_EQ(write("/other", "x\n").code(), ErrorCode::not_a_file);
  EXPECT_EQ(write("/other/file", "x\n", 0, 2).code(), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace hummer::file_writer_test
