#include <algorithm>

#include <gtest/gtest.h>
#include <hummer/detail/connector_factories.hpp>

#include "connectors/connector_test_context.hpp"
#include "connectors/file/sink_names.hpp"

namespace hummer::two_phase_file_writer_test {
namespace {

using Names = std::vector<std::string>;

constexpr std::uint64_t run = 0xabc;
const std::string uid = "sink";

std::string visible(int subtask, std::uint64_t epoch, std::uint64_t id = sink_id(run, uid)) {
  return visible_name({subtask, epoch, id});
}

class TwoPhaseFileWriterTest : public testing::Test {
 protected:
  // A subtask of an attempt that begins with the checkpoint `epoch`.
  struct Subtask {
    Subtask(Platform& platform, int number, int parallelism, std::uint32_t attempt,
            std::uint64_t epoch, std::uint64_t superseded, std::uint64_t of_run = run,
            const std::string& of_uid = uid, const std::string& directory = "/out")
        : context(platform, number, parallelism),
          writer(make_two_phase_file_writer(directory)->make()) {
      context.set_attempt(of_run, attempt, epoch, superseded);
      context.set_uid(of_uid);
    }
    Status open(const Names& handles = {}) {
      HUMMER_TRY(writer->open(context));
      return writer->abort_all_but(handles);
    }
    std::string prepare(std::uint64_t epoch, std::string_view lines) {
      EXPECT_EQ(writer->write(lines), OperatorResult::done);
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
  void commit_up_to(std::uint64_t last) {
    Subtask first = attempt(0, 0, 0);
    ASSERT_TRUE(first.open().ok());
    for (std::uint64_t epoch = 1; epoch <= last; ++epoch) {
      const std::string handle = first.prepare(epoch, std::to_string(epoch) + "\n");
      ASSERT_TRUE(first.writer->commit(handle).ok());
    }
    first.writer->close();
  }
  // A sink of another run or another operator, at parallelism 1.
  Subtask other(std::uint64_t of_run, const std::string& of_uid, std::uint32_t number = 0,
                std::uint64_t epoch = 0, const std::string& directory = "/out") {
    return Subtask(*platform_, 0, 1, number, epoch, 0, of_run, of_uid, directory);
  }
  // But for claims.
  Names names() {
    Names found = *platform_->files().list_directory("/out");
    std::erase_if(found, [](const std::string& name) { return name.starts_with(".sink-"); });
    return found;
  }

  std::unique_ptr<SimulatedPlatform> platform_ = make_simulated_platform({});
};

TEST_F(TwoPhaseFileWriterTest, CommittingTwiceIsCommittingOnce) {
  Subtask one = attempt(0, 0);
  ASSERT_TRUE(one.open().ok());
  const std::string handle = one.prepare(1, "a\n");
  EXPECT_TRUE(names().front().starts_with(".part-00000-"));
  ASSERT_TRUE(one.writer->commit(handle).ok());
  ASSERT_TRUE(one.writer->commit(handle).ok());
  EXPECT_EQ(names(), Names{visible(0, 1)});
  EXPECT_EQ(get_file(*platform_, "/out/" + visible(0, 1)), "a\n");
}

TEST_F(TwoPhaseFileWriterTest, AFileThatSomebodyTookIsNotMissed) {
  Subtask one = attempt(0, 0);
  ASSERT_TRUE(one.open().ok());
  const std::string handle = one.prepare(1, "a\n");
  ASSERT_TRUE(one.writer->commit(handle).ok());
  ASSERT_TRUE(platform_->files().remove("/out/" + visible(0, 1)).ok());
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
  ASSERT_EQ(one.writer->write("b\n"), OperatorResult::done);
  EXPECT_EQ(names().size(), 2u);
  one.writer->close();
  EXPECT_EQ(names(), Names{handle.substr(0, handle.find('/'))});
}

TEST_F(TwoPhaseFileWriterTest, WhatIsWrittenAgainIsSetAside) {
  commit_up_to(5);
  Subtask next = attempt(1, 3, 5);
  ASSERT_TRUE(next.open().ok());
  const Names expected = {"." + visible(0, 4) + ".superseded", "." + visible(0, 5) + ".superseded",
                          visible(0, 1), visible(0, 2), visible(0, 3)};
  EXPECT_EQ(names(), expected);
  // One that was cut off, and opens only now, takes nothing of the newer checkpoints away.
  ASSERT_TRUE(next.writer->commit(next.prepare(6, "6\n")).ok());
  Subtask late = attempt(1, 3, 5);
  EXPECT_FALSE(late.open().ok());
  EXPECT_EQ(names().back(), visible(0, 6));
}

TEST_F(TwoPhaseFileWriterTest, WhatWouldBeWrittenTwiceIsRefused) {
  commit_up_to(5);
  const Status later = attempt(0, 3).open();
  EXPECT_EQ(later.code(), ErrorCode::invalid_configuration);
  EXPECT_NE(later.message().find(visible(0, 4)), std::string::npos) << later.message();
  EXPECT_NE(later.message().find("checkpoint 3"), std::string::npos) << later.message();
  const Status anew = attempt(0, 0).open();
  EXPECT_EQ(anew.code(), ErrorCode::invalid_configuration);
  EXPECT_NE(anew.message().find("at the beginning"), std::string::npos) << anew.message();
  EXPECT_TRUE(attempt(0, 5).open().ok());
  EXPECT_EQ(names().size(), 5u);
}

TEST_F(TwoPhaseFileWriterTest, EachSubtaskLooksAfterItsShareOfTheOldOnes) {
  Subtask subtasks[] = {attempt(0, 0, 0, 0, 3), attempt(0, 0, 0, 1, 3), attempt(0, 0, 0, 2, 3)};
  for (Subtask& each : subtasks) ASSERT_TRUE(each.open().ok());
  for (Subtask& each : subtasks) {
    ASSERT_TRUE(each.writer->commit(each.prepare(1, "1\n")).ok());
    ASSERT_TRUE(each.writer->commit(each.prepare(2, "2\n")).ok());
  }
  ASSERT_TRUE(attempt(1, 1, 2, 1, 2).open().ok());
  EXPECT_EQ(names(), (Names{"." + visible(1, 2) + ".superseded", visible(0, 1), visible(0, 2),
                            visible(1, 1), visible(2, 1), visible(2, 2)}));
  ASSERT_TRUE(attempt(1, 1, 2, 0, 2).open().ok());
  EXPECT_EQ(names().size(), 6u);
  EXPECT_TRUE(names()[2].ends_with(".superseded"));
}

// What came to light: a file that nobody committed was taken for committed by the next attempt.
TEST_F(TwoPhaseFileWriterTest, AFileOfAnEarlierAttemptThatIsGoneBeforeItsCommitIsLost) {
  Subtask one = attempt(0, 0);
  ASSERT_TRUE(one.open().ok());
  ASSERT_TRUE(one.writer->commit(one.prepare(1, "a\n")).ok());
  const std::string handle = one.prepare(2, "b\n");
  one.writer->close();
  ASSERT_TRUE(platform_->files().remove("/out/" + names().front()).ok());
  Subtask next = attempt(1, 2);
  ASSERT_TRUE(next.open({handle}).ok());
  const Status lost = next.writer->commit(handle);
  EXPECT_EQ(lost.code(), ErrorCode::not_found);
  EXPECT_NE(lost.message().find(handle.substr(0, handle.find('/'))), std::string::npos)
      << lost.message();
}

TEST_F(TwoPhaseFileWriterTest, TwoSinksOfAJobAndTwoJobsKeepApart) {
  Subtask first = attempt(0, 0);
  Subtask second = other(run, "another sink");
  Subtask third = other(run + 1, uid);
  for (Subtask* each : {&first, &second, &third}) ASSERT_TRUE(each->open().ok());
  std::vector<std::string> handles;
  for (Subtask* each : {&first, &second, &third}) handles.push_back(each->prepare(1, "line\n"));
  // An attempt of each that begins again leaves what the others have pending.
  Subtask again = other(run, "another sink", 1, 1);
  ASSERT_TRUE(again.open({handles[1]}).ok());
  ASSERT_TRUE(again.writer->commit(handles[1]).ok());
  ASSERT_TRUE(first.writer->commit(handles[0]).ok());
  ASSERT_TRUE(third.writer->commit(handles[2]).ok());
  Names expected = {visible(0, 1), visible(0, 1, sink_id(run, "another sink")),
                    visible(0, 1, sink_id(run + 1, uid))};
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(names(), expected);
  // And none is refused for what the others have made since it began.
  EXPECT_TRUE(attempt(1, 0).open().code() == ErrorCode::invalid_configuration);  // its own
  EXPECT_TRUE(attempt(1, 1).open().ok());
}

TEST_F(TwoPhaseFileWriterTest, AnotherJobThatBeginsBehindIsRefused) {
  commit_up_to(2);
  const Status refused = other(run + 1, uid).open();
  EXPECT_EQ(refused.code(), ErrorCode::invalid_configuration);
  EXPECT_NE(refused.message().find(visible(0, 1)), std::string::npos) << refused.message();
}

TEST_F(TwoPhaseFileWriterTest, ARunThatGoesOnFromAnotherTakesOverWhatThatLeft) {
  Subtask one = attempt(0, 0);
  ASSERT_TRUE(one.open().ok());
  const std::string handle = one.prepare(1, "a\n");
  ASSERT_EQ(one.writer->write("never prepared\n"), OperatorResult::done);
  one.writer.reset();  // as a process that dies
  Subtask stranger = other(run + 7, "stranger");
  ASSERT_TRUE(stranger.open().ok());
  const std::string pending = stranger.prepare(1, "s\n");
  Subtask successor = other(run + 1, uid, 0, 1);
  ASSERT_TRUE(successor.open({handle}).ok());
  ASSERT_TRUE(successor.writer->commit(handle).ok());
  EXPECT_EQ(get_file(*platform_, "/out/" + visible(0, 1)), "a\n");
  EXPECT_EQ(names(), (Names{pending.substr(0, pending.find('/')), visible(0, 1)}));
  EXPECT_TRUE(stranger.writer->commit(pending).ok());
}

TEST_F(TwoPhaseFileWriterTest, AHandleIsCommittedWhereItWasWritten) {
  Subtask one = attempt(0, 0);
  ASSERT_TRUE(one.open().ok());
  const std::string handle = one.prepare(1, "a\n");
  Subtask elsewhere = other(run + 1, uid, 0, 1, "/new");
  ASSERT_TRUE(elsewhere.open({handle}).ok());
  ASSERT_TRUE(elsewhere.writer->commit(handle).ok());
  EXPECT_EQ(names(), Names{visible(0, 1)});
}

TEST_F(TwoPhaseFileWriterTest, NothingIsRenamedOverWhatIsThere) {
  Subtask one = attempt(0, 0);
  ASSERT_TRUE(one.open().ok());
  const std::string handle = one.prepare(1, "a\n");
  put_file(*platform_, "/out/" + visible(0, 1), "somebody else's\n");
  const Status refused = one.writer->commit(handle);
  EXPECT_EQ(refused.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(get_file(*platform_, "/out/" + visible(0, 1)), "somebody else's\n");
}

// Two machines, each with a disk of its own.
TEST_F(TwoPhaseFileWriterTest, ADirectoryThatEachWorkerHasForItselfIsFoundOut) {
  const auto elsewhere = make_simulated_platform({});
  Subtask here = attempt(0, 0, 0, 0, 2);
  Subtask there(*elsewhere, 1, 2, 0, 0, 0);
  ASSERT_TRUE(here.open().ok());
  ASSERT_TRUE(there.open().ok());
  const std::string handles[] = {here.prepare(1, "0\n"), there.prepare(1, "1\n")};
  const Status first = here.writer->commit(handles[0]);
  EXPECT_EQ(first.code(), ErrorCode::invalid_configuration);
  EXPECT_NE(first.message().find("/out"), std::string::npos) << first.message();
  EXPECT_EQ(there.writer->commit(handles[1]).code(), ErrorCode::invalid_configuration);
  EXPECT_EQ(names().size(), 1u);  // the hidden one
  EXPECT_TRUE(names().front().starts_with("."));
}

// Also by one that has written nothing itself.
TEST_F(TwoPhaseFileWriterTest, AnEmptyTransactionHasAHandleToo) {
  const auto elsewhere = make_simulated_platform({});
  Subtask here = attempt(0, 0, 0, 0, 2);
  Subtask there(*elsewhere, 1, 2, 0, 0, 0);
  ASSERT_TRUE(here.open().ok());
  ASSERT_TRUE(there.open().ok());
  const Result<std::string> handle = here.writer->prepare(1);
  ASSERT_TRUE(handle.ok());
  EXPECT_EQ(here.writer->commit(*handle).code(), ErrorCode::invalid_configuration);
}

TEST_F(TwoPhaseFileWriterTest, AnEntryThatACrashCutOffSpoilsNoOther) {
  const std::string whole = claim_text("write_file", uid, run) + committed_text(41);
  EXPECT_EQ(newest_committed(whole), 41u);
  const std::string cut = whole + committed_text(42).substr(0, 15);
  EXPECT_EQ(newest_committed(cut), 41u);
  EXPECT_EQ(newest_committed(cut + committed_text(43)), 43u);
  EXPECT_EQ(newest_committed(whole + std::string(9, '\0') + committed_text(44)), 44u);
  EXPECT_EQ(newest_committed(""), 0u);
}

}  // namespace
}  // namespace hummer::two_phase_file_writer_test
