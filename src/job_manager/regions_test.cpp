// Regions that begin again while the rest of the job goes on, as the JobManager decides on them.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "job_manager/cluster_state_fixture_for_test.hpp"
#include "job_manager/two_pipelines_for_test.hpp"

namespace hummer::regions_test {
namespace {

using Kind = CheckpointOrder::Kind;

class Regions : public ClusterStateTest {
 protected:
  Job& submit(const CheckpointOptions& checkpoints,
              const RestartStrategy& restart = RestartStrategy::fixed_delay(100, 50)) {
    return ClusterStateTest::submit(two_pipelines(checkpoints, restart));
  }
  // Both TaskManagers of `job` run: left has region 0, right region 1.
  Job& running(const CheckpointOptions& checkpoints) {
    left = add_worker("a");
    right = add_worker("b");
    Job& job = submit(checkpoints);
    EXPECT_EQ(job.placed()->regions.size(), 2u);
    say(left, job, 0, wire::ATTEMPT_RUNNING);
    say(right, job, 1, wire::ATTEMPT_RUNNING);
    EXPECT_EQ(job.state(), wire::JOB_RUNNING);
    for (JobPart& part : job.placed()->parts) part.deployed = true;
    return job;
  }
  // Every task of the region has saved its state.
  void save(std::uint64_t session, const Job& job, std::uint32_t region, std::uint64_t checkpoint) {
    wire::AttemptReport saved = report(job, region, wire::ATTEMPT_RUNNING);
    for (const std::uint32_t task : job.placed()->regions[region].tasks) {
      add_saved(saved, task, checkpoint);
    }
    send(session, saved);
  }
  CheckpointOrder next_order(Kind kind) {
    std::vector<CheckpointOrder> orders = cluster.take_orders();
    EXPECT_EQ(orders.size(), 1u);
    if (orders.empty()) return {};
    EXPECT_EQ(orders[0].kind, kind);
    return orders[0];
  }
  void outcome_of(const CheckpointOrder& order, Status status = {}) {
    CheckpointOutcome outcome;
    outcome.order = order;
    outcome.status = std::move(status);
    cluster.carried_out(outcome, at);
    cluster.advance(at);
  }
  // The next checkpoint by time, whose directory is there now.
  std::uint64_t begin_checkpoint() {
    pass(milliseconds(100));
    const CheckpointOrder begin = next_order(Kind::begin);
    outcome_of(begin);
    return begin.checkpoint;
  }
  std::uint64_t complete_checkpoint(const Job& job) {
    const std::uint64_t number = begin_checkpoint();
    save(left, job, 0, number);
    save(right, job, 1, number);
    outcome_of(next_order(Kind::complete));
    return number;
  }
  wire::Assignment assigned(std::uint64_t session) {
    wire::JobManagerState state;
    cluster.state_for(session, state);
    EXPECT_LE(state.assignments_size(), 1);
    return state.assignments_size() == 1 ? state.assignments(0) : wire::Assignment();
  }
  // What the left one is told and runs has not changed.
  void expect_left_untouched(const Job& job) {
    const wire::Assignment told = assigned(left);
    EXPECT_EQ(told.attempt(), 1u);
    EXPECT_EQ(told.region(), 0u);
    EXPECT_EQ(told.desired_state(), wire::DESIRED_RUN);
    EXPECT_EQ(job.placed()->regions[0].attempt, 1u);
    EXPECT_TRUE(job.placed()->regions[0].is<JobRegion::Runs>());
  }

  std::uint64_t left = 0;
  std::uint64_t right = 0;
};

TEST_F(Regions, TheOneThatFailsBeginsAgainAlone) {
  Job& job = running({});
  say(right, job, 1, wire::ATTEMPT_FAILED);
  EXPECT_EQ(job.state(), wire::JOB_RUNNING);
  EXPECT_NE(cluster.waiting_reason(job).find("region 2 of 2"), std::string::npos);
  expect_left_untouched(job);
  EXPECT_EQ(assigned(right).job(), 0u);
  EXPECT_EQ(cluster.workers().slots(0).free, 0) << "its slot is kept for it";
  pass(milliseconds(49));
  EXPECT_EQ(assigned(right).job(), 0u) << "the strategy's delay is kept";
  pass(milliseconds(1));
  EXPECT_EQ(assigned(right).attempt(), 2u);
  EXPECT_EQ(assigned(right).region(), 1u);
  expect_left_untouched(job);
  say(right, job, 1, wire::ATTEMPT_RUNNING);
  EXPECT_TRUE(cluster.waiting_reason(job).empty());
  EXPECT_EQ(job.restarts.restarts(), 1u);
  say(left, job, 0, wire::ATTEMPT_FINISHED);
  EXPECT_EQ(job.state(), wire::JOB_RUNNING);
  say(right, job, 1, wire::ATTEMPT_FINISHED);
  EXPECT_EQ(job.state(), wire::JOB_FINISHED);
  EXPECT_EQ(cluster.workers().slots(0).free, 2);
}

TEST_F(Regions, OneThatHasFinishedIsNotRepeated) {
  Job& job = running({});
  say(left, job, 0, wire::ATTEMPT_FINISHED);
  say(right, job, 1, wire::ATTEMPT_FAILED);
  pass(milliseconds(50));
  EXPECT_EQ(assigned(left).job(), 0u);
  EXPECT_EQ(assigned(right).attempt(), 2u);
  say(right, job, 1, wire::ATTEMPT_FINISHED);
  EXPECT_EQ(job.state(), wire::JOB_FINISHED);
}

TEST_F(Regions, ReportsOfItsOldAttemptCountNothing) {
  Job& job = running({});
  wire::AttemptReport late = report(job, 1, wire::ATTEMPT_FINISHED);
  say(right, job, 1, wire::ATTEMPT_FAILED);
  pass(milliseconds(50));
  ASSERT_EQ(job.placed()->regions[1].attempt, 2u);
  send(right, late);
  EXPECT_EQ(job.placed()->finished_parts, 0u);
  EXPECT_TRUE(job.placed()->regions[1].is<JobRegion::Runs>());
}

TEST_F(Regions, ItBeginsWithTheNewestCheckpointAndTheOneUnderWayIsGivenUp) {
  Job& job = running(every_100_ms());
  ASSERT_EQ(complete_checkpoint(job), 1u);
  ASSERT_EQ(begin_checkpoint(), 2u);
  save(left, job, 0, 2);
  say(right, job, 1, wire::ATTEMPT_FAILED);
  EXPECT_EQ(next_order(Kind::drop).checkpoint, 2u);
  expect_left_untouched(job);
  pass(seconds(1));
  EXPECT_TRUE(cluster.take_orders().empty()) << "no checkpoint without the region";
  const wire::Assignment told = assigned(right);
  EXPECT_EQ(told.attempt(), 2u);
  EXPECT_EQ(told.checkpoints().begun(), 0u) << "the one that was given up is not for it";
  EXPECT_EQ(told.checkpoints().committed(), 1u);
  EXPECT_EQ(job.placed()->deployment.restore_path(), job.newest_path);
  EXPECT_EQ(job.newest_checkpoint, 1u);
  say(right, job, 1, wire::ATTEMPT_RUNNING);
  const CheckpointOrder begin = next_order(Kind::begin);
  EXPECT_EQ(begin.checkpoint, 3u) << "no number is used twice";
  outcome_of(begin);
  EXPECT_EQ(assigned(right).checkpoints().begun(), 3u);
  EXPECT_EQ(assigned(left).checkpoints().begun(), 3u);
  save(left, job, 0, 3);
  save(right, job, 1, 3);
  outcome_of(next_order(Kind::complete));
  EXPECT_EQ(job.newest_checkpoint, 3u);
  EXPECT_EQ(assigned(left).checkpoints().committed(), 3u);
}

TEST_F(Regions, ItWaitsForTheCheckpointThatIsBeingCompleted) {
  Job& job = running(every_100_ms());
  ASSERT_EQ(complete_checkpoint(job), 1u);
  const std::uint64_t number = begin_checkpoint();
  save(left, job, 0, number);
  save(right, job, 1, number);
  const CheckpointOrder completing = next_order(Kind::complete);
  say(right, job, 1, wire::ATTEMPT_FAILED);
  pass(seconds(1));
  EXPECT_EQ(assigned(right).job(), 0u) << "which one is the newest is not known yet";
  outcome_of(completing);
  EXPECT_EQ(assigned(right).attempt(), 2u);
  EXPECT_EQ(job.newest_checkpoint, 2u);
  EXPECT_EQ(job.placed()->deployment.restore_path(), completing.path);
  EXPECT_EQ(assigned(left).checkpoints().committed(), 2u);
  EXPECT_EQ(assigned(right).checkpoints().committed(), 2u);
}

TEST_F(Regions, OneWhoseMetadataCouldNotBeWrittenIsNoBasis) {
  CheckpointOptions checkpoints = every_100_ms();
  checkpoints.tolerated_failures = 1;
  Job& job = running(checkpoints);
  ASSERT_EQ(complete_checkpoint(job), 1u);
  const std::string path = job.newest_path;
  const std::uint64_t number = begin_checkpoint();
  save(left, job, 0, number);
  save(right, job, 1, number);
  const CheckpointOrder completing = next_order(Kind::complete);
  say(right, job, 1, wire::ATTEMPT_FAILED);
  pass(seconds(1));
  outcome_of(completing, {ErrorCode::io_error, "the disk is full"});
  EXPECT_EQ(next_order(Kind::drop).checkpoint, number);
  EXPECT_EQ(assigned(right).attempt(), 2u);
  EXPECT_EQ(job.placed()->deployment.restore_path(), path);
}

TEST_F(Regions, AFailureOfARegionIsNoFailedCheckpoint) {
  Job& job = running(every_100_ms());  // none is tolerated
  for (int i = 0; i < 3; ++i) {
    begin_checkpoint();
    say(right, job, 1, wire::ATTEMPT_FAILED);
    next_order(Kind::drop);
    pass(milliseconds(50));
    say(right, job, 1, wire::ATTEMPT_RUNNING);
    ASSERT_EQ(job.state(), wire::JOB_RUNNING);
    expect_left_untouched(job);
    for (const CheckpointOrder& order : cluster.take_orders()) {
      outcome_of(order);
      say(right, job, 1, wire::ATTEMPT_FAILED);
      next_order(Kind::drop);
      pass(milliseconds(50));
      say(right, job, 1, wire::ATTEMPT_RUNNING);
    }
  }
}

TEST_F(Regions, AnotherTaskManagerTakesThePlaceOfALostOne) {
  Job& job = running(every_100_ms());
  complete_checkpoint(job);
  const std::uint64_t hash = job.placed()->deployment.execution_hash();
  cluster.connection_ended(right, {ErrorCode::connection_lost, "reset"}, at);
  pass(seconds(2));
  EXPECT_EQ(job.state(), wire::JOB_RUNNING);
  EXPECT_TRUE(job.placed()->regions[1].is<JobRegion::Waiting>());
  expect_left_untouched(job);
  const std::uint64_t other = add_worker("c", 3);
  const wire::Assignment told = assigned(other);
  EXPECT_EQ(told.region(), 1u);
  EXPECT_EQ(told.attempt(), 2u);
  EXPECT_EQ(job.placed()->deployment.task_managers(1).id(), "c");
  EXPECT_NE(job.placed()->deployment.execution_hash(), hash);
  EXPECT_EQ(cluster.workers().find(other)->free_slots, 2u) << "as many as the lost one had given";
  expect_left_untouched(job);
}

TEST_F(Regions, OneThatComesBackIsPreferred) {
  Job& job = running({});
  cluster.connection_ended(right, {ErrorCode::connection_lost, "reset"}, at);
  add_worker("c");
  const std::uint64_t again = add_worker("b");
  pass(milliseconds(50));
  EXPECT_EQ(assigned(again).attempt(), 2u);
  EXPECT_EQ(job.placed()->deployment.task_managers(1).id(), "b");
}

TEST_F(Regions, WhereNobodyComesTheWholeJobWaitsForSlotsInTheEnd) {
  Job& job = running({});
  cluster.connection_ended(right, {ErrorCode::connection_lost, "reset"}, at);
  pass(options.slot_timeout_ns / 2);
  expect_left_untouched(job);
  pass(options.slot_timeout_ns / 2 + milliseconds(50));
  EXPECT_EQ(job.state(), wire::JOB_RESTARTING);
  EXPECT_EQ(assigned(left).desired_state(), wire::DESIRED_CANCEL);
}

TEST_F(Regions, WhenNoOtherRunsAllBeginAgainTogether) {
  Job& job = running(every_100_ms());
  say(right, job, 1, wire::ATTEMPT_FAILED);
  say(left, job, 0, wire::ATTEMPT_FAILED);
  EXPECT_EQ(job.state(), wire::JOB_RESTARTING);
  EXPECT_EQ(next_order(Kind::find).kind, Kind::find);
}

TEST_F(Regions, WhatNoRestartCanMendEndsTheJob) {
  Job& job = running({});
  wire::AttemptReport failed = report(job, 1, wire::ATTEMPT_FAILED);
  to_message(Status(ErrorCode::invalid_graph, "built another job"), *failed.mutable_failure());
  send(right, failed);
  EXPECT_EQ(job.state(), wire::JOB_FAILING);
  EXPECT_EQ(assigned(left).desired_state(), wire::DESIRED_CANCEL);
}

TEST_F(Regions, WithoutAStrategyOneFailureEndsTheJob) {
  left = add_worker("a");
  right = add_worker("b");
  Job& job = submit({}, RestartStrategy::no_restart());
  say(left, job, 0, wire::ATTEMPT_RUNNING);
  for (JobPart& part : job.placed()->parts) part.deployed = true;
  say(right, job, 1, wire::ATTEMPT_FAILED);
  EXPECT_EQ(job.state(), wire::JOB_FAILING);
}

TEST_F(Regions, TheLastFailureAtOnePlaceIsToldOnce) {
  left = add_worker("a");
  right = add_worker("b");
  Job& job = submit({}, RestartStrategy::exponential(10, 10));
  say(left, job, 0, wire::ATTEMPT_RUNNING);
  for (int failures = 1; failures <= 5; ++failures) {
    for (JobPart& part : job.placed()->parts) part.deployed = true;
    wire::AttemptReport failed = report(job, 1, wire::ATTEMPT_FAILED);
    to_message(Status(ErrorCode::user_function_failed,
                      "function of operator 'map' (subtask 0) failed at a, line 3: odd"),
               *failed.mutable_failure());
    send(right, failed);
    pass(milliseconds(10));
  }
  EXPECT_EQ(job.state(), wire::JOB_FAILING);
  say(left, job, 0, wire::ATTEMPT_CANCELLED);
  EXPECT_EQ(job.state(), wire::JOB_FAILED);
  const std::string why = job.failure().message();
  const std::size_t told = why.find("(the job has failed there 5 times");
  EXPECT_NE(told, std::string::npos) << why;
  EXPECT_EQ(why.find("(the job has failed there", told + 1), std::string::npos) << why;
}

TEST_F(Regions, DamagedStateIsTheWholeJobsBusiness) {
  Job& job = running(every_100_ms());
  wire::AttemptReport failed = report(job, 1, wire::ATTEMPT_FAILED);
  to_message(Status(ErrorCode::corrupt_file, "a check disagrees"), *failed.mutable_failure());
  send(right, failed);
  EXPECT_EQ(job.state(), wire::JOB_RESTARTING);
  EXPECT_TRUE(next_order(Kind::find).verify);
}

TEST_F(Regions, ASavepointUnderWayFailsByName) {
  Job& job = running(every_100_ms());
  wire::TakeSavepoint savepoint;
  savepoint.set_request_id(5);
  savepoint.set_stop(true);
  EXPECT_FALSE(cluster.savepoint(job, savepoint, at));
  outcome_of(next_order(Kind::begin));
  EXPECT_TRUE(assigned(left).checkpoints().stops());
  say(right, job, 1, wire::ATTEMPT_FAILED);
  next_order(Kind::drop);
  const auto end = cluster.savepoint(job, savepoint, at);
  ASSERT_TRUE(end.has_value());
  EXPECT_NE(end->status().message().find("region 2 of 2"), std::string::npos);
  EXPECT_FALSE(assigned(left).checkpoints().stops()) << "its sources go on";
  expect_left_untouched(job);
}

TEST_F(Regions, CancellingWhileOneWaitsEndsTheOther) {
  Job& job = running({});
  say(right, job, 1, wire::ATTEMPT_FAILED);
  EXPECT_TRUE(cluster.end(job.id, wire::DESIRED_CANCEL, at).ok());
  EXPECT_EQ(assigned(left).desired_state(), wire::DESIRED_CANCEL);
  say(left, job, 0, wire::ATTEMPT_CANCELLED);
  EXPECT_EQ(job.state(), wire::JOB_CANCELLED);
  pass(seconds(1));
  EXPECT_EQ(cluster.workers().slots(0).free, 2);
}

TEST_F(Regions, AStopWhileOneWaitsIsToldToItsNextAttempt) {
  Job& job = running({});
  say(right, job, 1, wire::ATTEMPT_FAILED);
  EXPECT_TRUE(cluster.end(job.id, wire::DESIRED_STOP, at).ok());
  say(left, job, 0, wire::ATTEMPT_FINISHED);
  EXPECT_EQ(job.state(), wire::JOB_STOPPING);
  pass(milliseconds(50));
  EXPECT_EQ(assigned(right).desired_state(), wire::DESIRED_STOP);
  say(right, job, 1, wire::ATTEMPT_FINISHED);
  EXPECT_EQ(job.state(), wire::JOB_FINISHED);
}

TEST_F(Regions, TheFinalCheckpointIsNotTakenTwice) {
  Job& job = running(every_100_ms());
  for (const auto& [session, region] :
       std::map<std::uint64_t, std::uint32_t>{{left, 0}, {right, 1}}) {
    wire::AttemptReport ended = report(job, region, wire::ATTEMPT_RUNNING);
    for (const std::uint32_t task : job.placed()->regions[region].tasks)
      ended.add_ended_tasks(task);
    send(session, ended);
  }
  outcome_of(next_order(Kind::begin));
  save(left, job, 0, 1);
  save(right, job, 1, 1);
  outcome_of(next_order(Kind::complete));
  EXPECT_TRUE(assigned(left).checkpoints().finished());
  say(left, job, 0, wire::ATTEMPT_FINISHED);
  say(right, job, 1, wire::ATTEMPT_FAILED);  // before its last commit
  pass(milliseconds(50));
  EXPECT_EQ(assigned(right).attempt(), 2u);
  EXPECT_TRUE(assigned(right).checkpoints().finished());
  EXPECT_EQ(assigned(right).checkpoints().committed(), 1u);
  say(right, job, 1, wire::ATTEMPT_RUNNING);
  pass(seconds(1));
  EXPECT_TRUE(cluster.take_orders().empty());
  say(right, job, 1, wire::ATTEMPT_FINISHED);
  EXPECT_EQ(job.state(), wire::JOB_FINISHED);
}

TEST_F(Regions, EndsBeforeTheFailureDoNotCount) {
  Job& job = running(every_100_ms());
  wire::AttemptReport ended = report(job, 1, wire::ATTEMPT_RUNNING);
  for (const std::uint32_t task : job.placed()->regions[1].tasks) ended.add_ended_tasks(task);
  send(right, ended);
  say(right, job, 1, wire::ATTEMPT_FAILED);
  pass(milliseconds(50));
  say(right, job, 1, wire::ATTEMPT_RUNNING);
  ended = report(job, 0, wire::ATTEMPT_RUNNING);
  for (const std::uint32_t task : job.placed()->regions[0].tasks) ended.add_ended_tasks(task);
  send(left, ended);
  EXPECT_TRUE(cluster.take_orders().empty()) << "the right one runs again: no final checkpoint yet";
}

TEST(RegionsAndTheJournal, ANumberIsRecordedBeforeItIsUsed) {
  JobManagerOptions options;
  options.state_directory = "/state";
  ClusterState cluster(options);
  Moment at{seconds(1), 1};
  const auto write_down = [&] {
    for (const JournalEntry& entry : cluster.take_entries_due()) {
      cluster.recorded({entry.record.job, entry.change}, at);
    }
    cluster.advance(at);
  };
  std::vector<std::uint64_t> sessions;
  for (const char* id : {"a", "b"}) {
    wire::Registration registration;
    registration.set_id(id);
    registration.set_slots(1);
    ClusterState::Refused refused;
    sessions.push_back(cluster.register_worker(registration, "", at, refused));
  }
  const auto id = cluster.submit(two_pipelines({}, RestartStrategy::fixed_delay(9, 0)), at);
  ASSERT_TRUE(id.ok());
  cluster.advance(at);
  write_down();
  write_down();
  Job& job = *cluster.jobs().find(*id);
  ASSERT_EQ(job.placed()->parts.size(), 2u);
  wire::TaskManagerState failed;
  failed.set_session(sessions[1]);
  failed.set_sequence(1);
  wire::AttemptReport& report = *failed.add_attempts();
  report.set_job(job.id);
  report.set_attempt(1);
  report.set_region(1);
  report.set_state(wire::ATTEMPT_FAILED);
  ASSERT_TRUE(cluster.take_state(sessions[1], failed, at));
  cluster.advance(at);
  EXPECT_TRUE(job.placed()->regions[1].is<JobRegion::Waiting>());
  const std::vector<JournalEntry> entries = cluster.take_entries_due();
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].record.attempt, 2u);
  cluster.recorded({job.id, entries[0].change}, at);
  cluster.advance(at);
  EXPECT_TRUE(job.placed()->regions[1].is<JobRegion::Runs>());
  EXPECT_EQ(job.placed()->regions[1].attempt, 2u);
  EXPECT_EQ(job.placed()->regions[0].attempt, 1u);
}

}  // namespace
}  // namespace hummer::regions_test
