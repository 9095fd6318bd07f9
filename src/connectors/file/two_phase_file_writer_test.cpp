#include <gtest/gtest.h>
#include <hummer/connectors.hpp>

#include "connectors/connector_test_context.hpp"

namespace hummer {
namespace {

using Names = std::vector<std::string>;

constexpr std::uint64_t run = 0xabc;

class TwoPhaseFileWriterTest : public testing::Test {
 protected:
  // A subtask of an attempt that begins with the checkpoint `epoch`.
  struct Subtask {
    Subtask(Platform& platform, int number, int parallelism, std::uint32_t attempt,
            std::uint64_t epoch, std::uint64_t superseded)
        : context(platform, number, parallelism),
          writer(make_two_phase_file_writer("/out")->make()) {
      context.set_attempt(run, attempt, epoch, superseded);
    }
    Status open(const Names& handles = {}) {
      HUMMER_TRY(writer->open(context));
      return writer->abort_all_but(handles);
    }
    std::string prepare(std::uint64_t epoch, std::string_view lines) {
      EXPECT_EQ(writer->write(lines), Answer::done);
      const Result<std::string> handle = writer->prepare(epoch);
      EXPECT_TRUE(handle.ok()) << handle.status().to_string();
      return handle.ok() ? *handle : std::string();
    }
    ConnectorTestContext context;
    std::unique_ptr<TwoPhaseWriter> writer;
  };
  Subtask attempt(std::uint32_t number, std::uint64_t epoch, std::uint64_t superseded = 0,
                  int subtask = 0, int parallelism = 1) {
    return Subtask(*platform_, subtask, parallelism, number, epoch, superseded);
  }
  // Files of the checkpoints 1 to `last`, one line each.
  void commit_up_to(std::uint64_t last, int subtask = 0, int parallelism = 1) {
    Subtask first = attempt(0, 0, 0, subtask, parallelism);
    ASSERT_TRUE(first.open().ok());
    for (std::uint64_t epoch = 1; epoch <= last; ++epoch) {
      const std::string handle = first.prepare(epoch, std::to_string(epoch) + "\n");
      ASSERT_TRUE(first.writer->commit(handle).ok());
    }
    first.writer->close();
  }
  Names names() { return *platform_->files().list_directory("/out"); }

  std::unique_ptr<SimulatedPlatform> platform_ = make_simulated_platform({});
};

TEST_F(TwoPhaseFileWriterTest, CommittingTwiceIsCommittingOnce) {
  Subtask one = attempt(0, 0);
  ASSERT_TRUE(one.open().ok());
  const std::string handle = one.prepare(1, "a\n");
  EXPECT_TRUE(names().front().starts_with(".part-00000-"));
  ASSERT_TRUE(one.writer->commit(handle).ok());
  ASSERT_TRUE(one.writer->commit(handle).ok());
  EXPECT_EQ(names(), Names{"part-00000-0000000001"});
  EXPECT_EQ(get_file(*platform_, "/out/part-00000-0000000001"), "a\n");
}

TEST_F(TwoPhaseFileWriterTest, AFileThatSomebodyTookIsNotMissed) {
  Subtask one = attempt(0, 0);
  ASSERT_TRUE(one.open().ok());
  const std::string handle = one.prepare(1, "a\n");
  ASSERT_TRUE(one.writer->commit(handle).ok());
  ASSERT_TRUE(platform_->files().remove("/out/part-00000-0000000001").ok());
  one.writer->close();
  Subtask next = attempt(1, 1);
  ASSERT_TRUE(next.open({handle}).ok());
  EXPECT_TRUE(next.writer->commit(handle).ok());
  EXPECT_TRUE(names().empty());
}

TEST_F(TwoPhaseFileWriterTest, AnOwnFileThatIsGoneBeforeItsCommitIsLost) {
  Subtask one = attempt(0, 0);
  ASSERT_TRUE(one.open().ok());
  const std::string handle = one.prepare(1, "a\n");
  ASSERT_TRUE(platform_->files().remove("/out/" + names().front()).ok());
  EXPECT_EQ(one.writer->commit(handle).code(), ErrorCode::not_found);
}

TEST_F(TwoPhaseFileWriterTest, ClosingRemovesWhatWasNotPrepared) {
  Subtask one = attempt(0, 0);
  ASSERT_TRUE(one.open().ok());
  const std::string handle = one.prepare(1, "a\n");
  ASSERT_EQ(one.writer->write("b\n"), Answer::done);
  EXPECT_EQ(names().size(), 2u);
  one.writer->close();
  EXPECT_EQ(names(), Names{handle.substr(0, handle.find('/'))});
}

TEST_F(TwoPhaseFileWriterTest, WhatIsWrittenAgainIsSetAside) {
  commit_up_to(5);
  Subtask next = attempt(1, 3, 5);
  ASSERT_TRUE(next.open().ok());
  const Names expected = {".part-00000-0000000004.superseded", ".part-00000-0000000005.superseded",
                          "part-00000-0000000001", "part-00000-0000000002",
                          "part-00000-0000000003"};
  EXPECT_EQ(names(), expected);
  // One that was cut off, and opens only now, takes nothing of the newer checkpoints away.
  ASSERT_TRUE(next.writer->commit(next.prepare(6, "6\n")).ok());
  Subtask late = attempt(1, 3, 5);
  EXPECT_FALSE(late.open().ok());
  EXPECT_EQ(names().back(), "part-00000-0000000006");
}

TEST_F(TwoPhaseFileWriterTest, WhatWouldBeWrittenTwiceIsRefused) {
  commit_up_to(5);
  const Status later = attempt(0, 3).open();
  EXPECT_EQ(later.code(), ErrorCode::invalid_configuration);
  EXPECT_NE(later.message().find("part-00000-0000000004"), std::string::npos) << later.message();
  EXPECT_NE(later.message().find("checkpoint 3"), std::string::npos) << later.message();
  const Status anew = attempt(0, 0).open();
  EXPECT_EQ(anew.code(), ErrorCode::invalid_configuration);
  EXPECT_NE(anew.message().find("at the beginning"), std::string::npos) << anew.message();
  EXPECT_TRUE(attempt(0, 5).open().ok());
  EXPECT_EQ(names().size(), 5u);
}

TEST_F(TwoPhaseFileWriterTest, EachSubtaskLooksAfterItsShareOfTheOldOnes) {
  for (int subtask = 0; subtask < 3; ++subtask) commit_up_to(2, subtask, 3);
  ASSERT_TRUE(attempt(1, 1, 2, 1, 2).open().ok());
  EXPECT_EQ(names(), (Names{".part-00001-0000000002.superseded", "part-00000-0000000001",
                            "part-00000-0000000002", "part-00001-0000000001",
                            "part-00002-0000000001", "part-00002-0000000002"}));
  ASSERT_TRUE(attempt(1, 1, 2, 0, 2).open().ok());
  EXPECT_EQ(names().size(), 6u);
  EXPECT_TRUE(names()[2].ends_with(".superseded"));
}

}  // namespace
}  // namespace hummer
