#include "checkpoint/checkpoint_coordinator.hpp"

#include <gtest/gtest.h>

namespace hummer::checkpoint_coordinator_test {
namespace {

constexpr Nanoseconds ms = 1'000'000;

CheckpointFile file(std::uint32_t subtask) { return {.name = "f", .subtask = subtask}; }

CheckpointOptions every_100_ms() {
  CheckpointOptions options;
  options.directory = "/d";
  options.interval_ms = 100;
  options.timeout_ms = 1000;
  return options;
}

// Both of two tasks acknowledge, and the metadata is stored.
void finish(CheckpointCoordinator& coordinator, std::uint64_t id, Nanoseconds now) {
  coordinator.acknowledged(id, 0, file(0));
  EXPECT_FALSE(coordinator.take_completed());
  coordinator.acknowledged(id, 1, file(1));
  const auto completed = coordinator.take_completed();
  ASSERT_TRUE(completed);
  EXPECT_EQ(completed->checkpoint, id);
  EXPECT_EQ(completed->files.size(), 2u);
  EXPECT_FALSE(coordinator.take_completed());
  coordinator.stored(id, now, {});
}

TEST(CheckpointCoordinator, BeginsByTimeAndCompletesWhenAllHaveAcknowledged) {
  CheckpointCoordinator coordinator(every_100_ms(), 2, 5, 0);
  EXPECT_FALSE(coordinator.take_begin(99 * ms));
  EXPECT_EQ(coordinator.next_deadline(), 100 * ms);
  ASSERT_EQ(coordinator.take_begin(100 * ms)->checkpoint, 5u);
  EXPECT_FALSE(coordinator.take_begin(300 * ms));  // one at a time
  finish(coordinator, 5, 310 * ms);
  EXPECT_EQ(coordinator.last_complete(), 5u);
  EXPECT_EQ(coordinator.last_duration(), 210 * ms);
  ASSERT_EQ(coordinator.take_begin(310 * ms)->checkpoint, 6u);  // missed ones are not made up for
  finish(coordinator, 6, 311 * ms);
  EXPECT_FALSE(coordinator.take_begin(320 * ms));
}

TEST(CheckpointCoordinator, RepeatedAndForeignAcknowledgementsCountOnce) {
  CheckpointCoordinator coordinator(every_100_ms(), 2, 1, 0);
  ASSERT_TRUE(coordinator.take_begin(100 * ms));
  coordinator.acknowledged(1, 0, file(0));
  coordinator.acknowledged(1, 0, file(0));
  coordinator.acknowledged(7, 1, file(1));
  EXPECT_FALSE(coordinator.take_completed());
  coordinator.acknowledged(1, 1, file(1));
  EXPECT_TRUE(coordinator.take_completed());
}

TEST(CheckpointCoordinator, GivesUpAfterTheTimeoutOrADeclineAndToleratesAsManyAsTold) {
  CheckpointOptions options = every_100_ms();
  options.tolerated_failures = 1;
  CheckpointCoordinator coordinator(options, 2, 1, 0);
  ASSERT_TRUE(coordinator.take_begin(100 * ms));
  coordinator.acknowledged(1, 0, file(0));
  EXPECT_EQ(coordinator.next_deadline(), 1100 * ms);
  EXPECT_FALSE(coordinator.take_given_up(1099 * ms));
  EXPECT_EQ(coordinator.take_given_up(1100 * ms), 1u);
  EXPECT_TRUE(coordinator.failure().ok());
  coordinator.acknowledged(1, 1, file(1));  // too late
  EXPECT_FALSE(coordinator.take_completed());
  ASSERT_EQ(coordinator.take_begin(1200 * ms)->checkpoint, 2u);
  coordinator.declined(2, 1210 * ms, {ErrorCode::disk_full, "no space"});
  EXPECT_EQ(coordinator.take_given_up(1210 * ms), 2u);
  EXPECT_EQ(coordinator.failure().code(), ErrorCode::disk_full);
  EXPECT_FALSE(coordinator.take_begin(5000 * ms));
  EXPECT_EQ(coordinator.failed(), 2u);
}

TEST(CheckpointCoordinator, ToleratesThreeFailuresInARowUnlessTold) {
  CheckpointCoordinator coordinator(every_100_ms(), 2, 1, 0);
  for (Nanoseconds now = 1000 * ms; now <= 4000 * ms; now += 1000 * ms) {
    EXPECT_TRUE(coordinator.failure().ok()) << now;
    const auto begun = coordinator.take_begin(now);
    ASSERT_TRUE(begun);
    coordinator.declined(begun->checkpoint, now, {ErrorCode::disk_full, "no space"});
    EXPECT_TRUE(coordinator.take_given_up(now));
  }
  EXPECT_EQ(coordinator.failure().code(), ErrorCode::disk_full);
}

TEST(CheckpointCoordinator, ASuccessForgetsEarlierFailures) {
  CheckpointOptions options = every_100_ms();
  options.tolerated_failures = 1;
  CheckpointCoordinator coordinator(options, 2, 1, 0);
  for (std::uint64_t round = 0; round < 5; ++round) {
    const Nanoseconds now = (1 + 2 * static_cast<Nanoseconds>(round)) * 1000 * ms;
    const auto begun = coordinator.take_begin(now);
    ASSERT_TRUE(begun);
    coordinator.declined(begun->checkpoint, now, {ErrorCode::io_error, "disk"});
    EXPECT_TRUE(coordinator.take_given_up(now));
    const auto again = coordinator.take_begin(now + 1000 * ms);
    ASSERT_TRUE(again);
    finish(coordinator, again->checkpoint, now + 1000 * ms);
  }
  EXPECT_TRUE(coordinator.failure().ok());
}

TEST(CheckpointCoordinator, KeepsTheMinimumPause) {
  CheckpointOptions options = every_100_ms();
  options.minimum_pause_ms = 80;
  CheckpointCoordinator coordinator(options, 2, 1, 0);
  ASSERT_TRUE(coordinator.take_begin(100 * ms));
  finish(coordinator, 1, 190 * ms);
  EXPECT_FALSE(coordinator.take_begin(269 * ms));
  EXPECT_TRUE(coordinator.take_begin(270 * ms));
}

TEST(CheckpointCoordinator, ASavepointComesWithoutAnInterval) {
  CheckpointOptions options = every_100_ms();
  options.interval_ms = 0;
  CheckpointCoordinator coordinator(options, 2, 1, 0);
  EXPECT_FALSE(coordinator.take_begin(1000 * ms));
  EXPECT_TRUE(coordinator.request_savepoint());
  EXPECT_FALSE(coordinator.request_savepoint());
  const auto begun = coordinator.take_begin(1000 * ms);
  ASSERT_TRUE(begun);
  EXPECT_TRUE(begun->savepoint);
  finish(coordinator, 1, 1010 * ms);
  EXPECT_FALSE(coordinator.take_begin(2000 * ms));
}

TEST(CheckpointCoordinator, AFinalCheckpointFollowsTheEndOfAllTasksAtOnce) {
  CheckpointCoordinator coordinator(every_100_ms(), 2, 1, 0);
  coordinator.ended(0);
  coordinator.ended(0);
  EXPECT_FALSE(coordinator.take_begin(10 * ms));
  coordinator.ended(1);
  ASSERT_TRUE(coordinator.all_ended());
  ASSERT_TRUE(coordinator.take_begin(10 * ms));
  EXPECT_FALSE(coordinator.final_complete());
  finish(coordinator, 1, 11 * ms);
  EXPECT_TRUE(coordinator.final_complete());
  EXPECT_FALSE(coordinator.take_begin(1000 * ms));
}

TEST(CheckpointCoordinator, ACheckpointUnderWayWhenTheLastTaskEndsIsNotTheFinalOne) {
  CheckpointCoordinator coordinator(every_100_ms(), 2, 1, 0);
  ASSERT_TRUE(coordinator.take_begin(100 * ms));
  coordinator.acknowledged(1, 0, file(0));
  coordinator.ended(0);
  coordinator.ended(1);
  coordinator.acknowledged(1, 1, file(1));
  ASSERT_TRUE(coordinator.take_completed());
  coordinator.stored(1, 110 * ms, {});
  EXPECT_FALSE(coordinator.final_complete());
  ASSERT_EQ(coordinator.take_begin(110 * ms)->checkpoint, 2u);
  finish(coordinator, 2, 120 * ms);
  EXPECT_TRUE(coordinator.final_complete());
}

CheckpointOptions aligned_for_30_ms() {
  CheckpointOptions options = every_100_ms();
  options.unaligned = true;
  options.alignment_timeout_ms = 30;
  return options;
}

TEST(CheckpointCoordinator, OneThatIsNotAlignedInTimeIsFollowedByOneThatOvertakes) {
  CheckpointCoordinator coordinator(aligned_for_30_ms(), 2, 1, 0);
  const auto first = coordinator.take_begin(100 * ms);
  ASSERT_TRUE(first);
  EXPECT_FALSE(first->unaligned);
  coordinator.passed(1, 0);
  EXPECT_EQ(coordinator.next_deadline(), 130 * ms);
  EXPECT_FALSE(coordinator.take_given_up(129 * ms));
  EXPECT_EQ(coordinator.take_given_up(130 * ms), 1u);
  EXPECT_EQ(coordinator.next_deadline(), 0) << "at once, not with the next interval";
  const auto second = coordinator.take_begin(130 * ms);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->checkpoint, 2u);
  EXPECT_TRUE(second->unaligned);
  EXPECT_EQ(coordinator.next_deadline(), 1130 * ms) << "it has the whole timeout";
  EXPECT_FALSE(coordinator.take_given_up(1000 * ms));
  finish(coordinator, 2, 1010 * ms);
  EXPECT_EQ(coordinator.failed(), 0u);
  EXPECT_TRUE(coordinator.failure().ok()) << "none is tolerated";
  EXPECT_FALSE(coordinator.take_begin(1020 * ms)->unaligned) << "the next one begins aligned";
}

TEST(CheckpointCoordinator, OneThatIsAlignedMayTakeLongToWrite) {
  CheckpointCoordinator coordinator(aligned_for_30_ms(), 3, 1, 0);
  coordinator.ended(2);
  ASSERT_TRUE(coordinator.take_begin(100 * ms));
  coordinator.passed(1, 0);
  coordinator.acknowledged(1, 1, file(1));
  EXPECT_EQ(coordinator.next_deadline(), 1100 * ms) << "tasks that have ended hold up no barrier";
  EXPECT_FALSE(coordinator.take_given_up(1000 * ms));
}

TEST(CheckpointCoordinator, WithoutAnAlignmentTimeoutTheyOvertakeAtOnceAndSavepointsNever) {
  CheckpointOptions options = aligned_for_30_ms();
  options.alignment_timeout_ms = 0;
  CheckpointCoordinator coordinator(options, 2, 1, 0);
  EXPECT_TRUE(coordinator.take_begin(100 * ms)->unaligned);
  finish(coordinator, 1, 110 * ms);
  EXPECT_TRUE(coordinator.request_savepoint());
  const auto savepoint = coordinator.take_begin(120 * ms);
  ASSERT_TRUE(savepoint && savepoint->savepoint);
  EXPECT_FALSE(savepoint->unaligned);
  EXPECT_EQ(coordinator.next_deadline(), 1120 * ms);

  options.unaligned = false;
  CheckpointCoordinator aligned(options, 2, 1, 0);
  EXPECT_FALSE(aligned.take_begin(100 * ms)->unaligned);
  EXPECT_EQ(aligned.next_deadline(), 1100 * ms);
}

TEST(CheckpointCoordinator, ASavepointWaitsForTheOneThatOvertakes) {
  CheckpointCoordinator coordinator(aligned_for_30_ms(), 2, 1, 0);
  ASSERT_TRUE(coordinator.take_begin(100 * ms));
  EXPECT_TRUE(coordinator.request_savepoint());
  EXPECT_EQ(coordinator.take_given_up(130 * ms), 1u);
  const auto next = coordinator.take_begin(130 * ms);
  ASSERT_TRUE(next);
  EXPECT_TRUE(next->unaligned);
  EXPECT_FALSE(next->savepoint);
  finish(coordinator, 2, 140 * ms);
  EXPECT_TRUE(coordinator.take_begin(140 * ms)->savepoint);
}

TEST(CheckpointCoordinator, AnInterruptionIsNoFailureAndSparesWhatIsBeingStored) {
  CheckpointCoordinator coordinator(every_100_ms(), 2, 1, 0);
  ASSERT_TRUE(coordinator.take_begin(100 * ms));
  coordinator.interrupt(110 * ms, {ErrorCode::cancelled, "a region began again"});
  EXPECT_EQ(coordinator.take_given_up(110 * ms), 1u);
  EXPECT_TRUE(coordinator.failure().ok());
  ASSERT_TRUE(coordinator.take_begin(200 * ms));
  coordinator.acknowledged(2, 0, file(0));
  coordinator.acknowledged(2, 1, file(1));
  ASSERT_TRUE(coordinator.take_completed());
  EXPECT_TRUE(coordinator.storing());
  coordinator.interrupt(210 * ms, {ErrorCode::cancelled, "a region began again"});
  EXPECT_FALSE(coordinator.take_given_up(210 * ms));
  coordinator.stored(2, 220 * ms, {});
  EXPECT_EQ(coordinator.last_complete(), 2u);
}

}  // namespace
}  // namespace hummer::checkpoint_coordinator_test
