// Checkpoints, restarts and savepoints as the JobManager decides on them: no disk, no stream.
#include <gtest/gtest.h>

#include <hummer/codec.hpp>

#include "graph/graph_builder_for_test.hpp"
#include "job_manager/cluster_state.hpp"
#include "protocol/graph_messages.hpp"

namespace hummer::restart_test {
namespace {

class Restarts : public testing::Test {
 protected:
  explicit Restarts(JobManagerOptions given = {}) : options(std::move(given)) {}
  std::uint64_t add_worker(const std::string& id) {
    wire::Registration registration;
    registration.set_id(id);
    registration.set_slots(1);
    ClusterState::Refused refused;
    return cluster.register_worker(registration, "10.0.0.9:1", at, refused);
  }
  wire::SubmitJob submission(const CheckpointOptions& checkpoints,
                             const RestartStrategy& restart = {}) {
    wire::SubmitJob request;
    request.set_submission_id(0xabc);
    const Result<JobGraph> graph = fuse(word_count().graph);
    to_message(*graph, *request.mutable_graph());
    request.mutable_options()->set_parallelism(1);
    to_message(checkpoints, *request.mutable_options()->mutable_checkpointing());
    to_message(restart, *request.mutable_options()->mutable_restarting());
    return request;
  }
  Job& submit(const CheckpointOptions& checkpoints, const RestartStrategy& restart = {}) {
    const Result<std::uint64_t> id = cluster.submit(submission(checkpoints, restart), at);
    EXPECT_TRUE(id.ok()) << id.status().to_string();
    cluster.advance(at);
    return *cluster.jobs().find(*id);
  }
  static CheckpointOptions every_100_ms() {
    CheckpointOptions options;
    options.directory = "/d";
    options.interval_ms = 100;
    return options;
  }
  void pass(Nanoseconds time) {
    at.now += time;
    for (const auto& [session, worker] : cluster.workers().live()) {
      cluster.workers().heard(*worker, at.now);
    }
    cluster.advance(at);
  }
  wire::AttemptReport& report_of(const Job& job, wire::AttemptState state) {
    message.Clear();
    wire::AttemptReport& report = *message.add_attempts();
    report.set_job(job.id);
    report.set_attempt(job.attempt);
    report.set_state(state);
    return report;
  }
  void send(std::uint64_t session) {
    message.set_session(session);
    message.set_sequence(++sequence);
    EXPECT_TRUE(cluster.take_state(session, message, at));
    cluster.advance(at);
  }
  void report(std::uint64_t session, const Job& job, wire::AttemptState state) {
    report_of(job, state);
    send(session);
  }
  void save(std::uint64_t session, const Job& job, std::uint64_t checkpoint) {
    fill_in_saved(job, checkpoint, job.attempt);
    send(session);
  }
  // Every task of the job has saved its state for the checkpoint.
  void fill_in_saved(const Job& job, std::uint64_t checkpoint, std::uint32_t attempt) {
    wire::AttemptReport& report = report_of(job, wire::ATTEMPT_RUNNING);
    report.set_attempt(attempt);
    std::size_t tasks = 0;
    for (const int parallelism : job.parallelism) tasks += static_cast<std::size_t>(parallelism);
    for (std::uint32_t task = 0; task < tasks; ++task) {
      CheckpointFile file;
      file.name = "f";
      std::string bytes;
      ByteWriter out(bytes);
      Codec<CheckpointFile>::encode(file, out);
      wire::SnapshotReport& saved = *report.add_snapshots();
      saved.set_checkpoint(checkpoint);
      saved.set_task(task);
      saved.set_file(std::string(out.view()));
    }
  }
  // The one order that is due now, carried out with this outcome.
  CheckpointOrder execute_next(CheckpointOrder::Kind kind, Status status = {}) {
    std::vector<CheckpointOrder> orders = cluster.take_orders();
    EXPECT_EQ(orders.size(), 1u);
    if (orders.empty()) return {};
    EXPECT_EQ(orders[0].kind, kind);
    outcome_of(orders[0], std::move(status));
    return orders[0];
  }
  void outcome_of(const CheckpointOrder& order, Status status = {}) {
    CheckpointOutcome outcome;
    outcome.order = order;
    outcome.status = std::move(status);
    cluster.carried_out(outcome, at);
    cluster.advance(at);
  }
  void find(const CheckpointOrder& order, const Job& job, std::uint64_t number) {
    CheckpointOutcome outcome;
    outcome.order = order;
    outcome.found.id = number;
    outcome.found.job_name = job.graph.job_name;
    outcome.path = "/d/chk-" + std::to_string(number);
    outcome.highest = number;
    cluster.carried_out(outcome, at);
    cluster.advance(at);
  }
  wire::Assignment assigned(std::uint64_t session) {
    wire::JobManagerState state;
    cluster.state_for(session, state);
    return state.assignments_size() == 1 ? state.assignments(0) : wire::Assignment();
  }
  Job& running(std::uint64_t session, const CheckpointOptions& checkpoints) {
    Job& job = submit(checkpoints);
    report(session, job, wire::ATTEMPT_RUNNING);
    EXPECT_EQ(job.state(), wire::JOB_RUNNING);
    return job;
  }

  JobManagerOptions options;
  ClusterState cluster{options};
  Moment at{seconds(1), 1'700'000'000'000};
  wire::TaskManagerState message;
  std::uint64_t sequence = 0;
};

using Kind = CheckpointOrder::Kind;

TEST_F(Restarts, ACheckpointIsToldWhenItsDirectoryIsThereAndCommittedWhenItIsComplete) {
  const std::uint64_t worker = add_worker("a");
  Job& job = running(worker, every_100_ms());
  EXPECT_EQ(assigned(worker).checkpoints().begun(), 0u);
  pass(milliseconds(100));
  EXPECT_EQ(assigned(worker).checkpoints().begun(), 0u);
  const CheckpointOrder begin = execute_next(Kind::begin);
  EXPECT_EQ(begin.path, "/d/job-0000000000000abc/chk-0000000001");
  EXPECT_EQ(assigned(worker).checkpoints().begun(), 1u);
  EXPECT_EQ(assigned(worker).checkpoints().path(), begin.path);
  save(worker, job, 1);
  EXPECT_EQ(assigned(worker).checkpoints().committed(), 0u);
  execute_next(Kind::complete);
  EXPECT_EQ(assigned(worker).checkpoints().committed(), 1u);
  EXPECT_EQ(job.newest_checkpoint, 1u);
  EXPECT_EQ(job.newest_path, begin.path);
}

TEST_F(Restarts, ReportsOfAnotherAttemptCountNothing) {
  const std::uint64_t worker = add_worker("a");
  Job& job = running(worker, every_100_ms());
  pass(milliseconds(100));
  execute_next(Kind::begin);
  fill_in_saved(job, 1, job.attempt + 1);
  wire::AttemptReport own;
  own.set_job(job.id);
  own.set_attempt(job.attempt);
  own.set_state(wire::ATTEMPT_RUNNING);
  *message.add_attempts() = own;
  send(worker);
  EXPECT_TRUE(cluster.take_orders().empty());
}

TEST_F(Restarts, ALostTaskManagerRestartsTheJobWithWhatTheDiskHas) {
  const std::uint64_t first = add_worker("a");
  Job& job = running(first, every_100_ms());
  cluster.connection_ended(first, {ErrorCode::connection_lost, "reset"}, at);
  EXPECT_EQ(job.state(), wire::JOB_RESTARTING);
  const std::vector<CheckpointOrder> orders = cluster.take_orders();
  ASSERT_EQ(orders.size(), 1u);
  EXPECT_EQ(orders[0].kind, Kind::find);
  pass(seconds(1));
  EXPECT_EQ(job.state(), wire::JOB_RESTARTING) << "the disk has not answered yet";
  find(orders[0], job, 7);
  cluster.advance(at);
  EXPECT_EQ(job.state(), wire::JOB_WAITING);
  EXPECT_EQ(job.attempt, 2u);
  const std::uint64_t second = add_worker("b");
  pass(0);
  EXPECT_EQ(job.state(), wire::JOB_DEPLOYING);
  EXPECT_EQ(job.placed()->deployment.restore_path(), "/d/chk-7");
  report(second, job, wire::ATTEMPT_RUNNING);
  pass(milliseconds(100));
  EXPECT_EQ(execute_next(Kind::begin).checkpoint, 8u) << "no number is used twice";
}

TEST_F(Restarts, ACheckpointThatIsCompletedAfterTheFailureIsFound) {
  const std::uint64_t worker = add_worker("a");
  Job& job = running(worker, every_100_ms());
  pass(milliseconds(100));
  execute_next(Kind::begin);
  save(worker, job, 1);
  const std::vector<CheckpointOrder> completing = cluster.take_orders();
  ASSERT_EQ(completing.size(), 1u);
  report(worker, job, wire::ATTEMPT_FAILED);
  const std::vector<CheckpointOrder> finding = cluster.take_orders();
  ASSERT_EQ(finding.size(), 1u);
  outcome_of(completing[0]);
  EXPECT_EQ(job.newest_checkpoint, 0u);
  find(finding[0], job, 1);
  EXPECT_EQ(job.newest_checkpoint, 1u);
}

TEST_F(Restarts, TheStrategysDelayIsKept) {
  const std::uint64_t worker = add_worker("a");
  Job& job = submit({}, RestartStrategy::fixed_delay(1, 500));
  report(worker, job, wire::ATTEMPT_RUNNING);
  report(worker, job, wire::ATTEMPT_FAILED);
  EXPECT_EQ(job.state(), wire::JOB_RESTARTING);
  EXPECT_FALSE(cluster.waiting_reason(job).empty());
  pass(milliseconds(499));
  EXPECT_EQ(job.state(), wire::JOB_RESTARTING);
  EXPECT_EQ(cluster.next_deadline(), at.now + milliseconds(1));
  pass(milliseconds(1));
  EXPECT_EQ(job.state(), wire::JOB_DEPLOYING);
  report(worker, job, wire::ATTEMPT_RUNNING);
  report(worker, job, wire::ATTEMPT_FAILED);
  EXPECT_EQ(job.state(), wire::JOB_FAILED);
}

TEST_F(Restarts, WhatNoRestartCanMendFailsAtOnce) {
  const std::uint64_t worker = add_worker("a");
  Job& job = submit({}, RestartStrategy::fixed_delay(10, 0));
  to_message(Status(ErrorCode::invalid_graph, "built another job"),
             *report_of(job, wire::ATTEMPT_FAILED).mutable_failure());
  send(worker);
  EXPECT_EQ(job.state(), wire::JOB_FAILED);
}

TEST_F(Restarts, CancellingWhileItWaitsEndsIt) {
  const std::uint64_t worker = add_worker("a");
  Job& job = submit({}, RestartStrategy::fixed_delay(10, 500));
  report(worker, job, wire::ATTEMPT_RUNNING);
  report(worker, job, wire::ATTEMPT_FAILED);
  ASSERT_EQ(job.state(), wire::JOB_RESTARTING);
  EXPECT_TRUE(cluster.end(job.id, wire::DESIRED_CANCEL, at).ok());
  EXPECT_EQ(job.state(), wire::JOB_CANCELLED);
  pass(seconds(5));
  EXPECT_EQ(job.state(), wire::JOB_CANCELLED);
}

TEST_F(Restarts, AStopWhileItWaitsIsToldToTheNextAttempt) {
  const std::uint64_t worker = add_worker("a");
  Job& job = submit({}, RestartStrategy::fixed_delay(10, 500));
  report(worker, job, wire::ATTEMPT_RUNNING);
  report(worker, job, wire::ATTEMPT_FAILED);
  EXPECT_TRUE(cluster.end(job.id, wire::DESIRED_STOP, at).ok());
  pass(milliseconds(500));
  EXPECT_EQ(assigned(worker).desired_state(), wire::DESIRED_STOP);
}

TEST_F(Restarts, AStoppedJobThatFailsAgainAndAgainFails) {
  const std::uint64_t worker = add_worker("a");
  Job& job = submit({}, RestartStrategy::exponential(100, 30'000));
  EXPECT_TRUE(cluster.end(job.id, wire::DESIRED_STOP, at).ok());
  for (int failures = 1; failures <= 4; ++failures) {
    ASSERT_EQ(job.ended(), false) << failures;
    report(worker, job, wire::ATTEMPT_RUNNING);
    report(worker, job, wire::ATTEMPT_FAILED);
    pass(seconds(1));
  }
  EXPECT_EQ(job.state(), wire::JOB_FAILED);
}

TEST_F(Restarts, ASavepointThatStopsTheJobEndsItOnceAllHaveCommitted) {
  const std::uint64_t worker = add_worker("a");
  CheckpointOptions checkpoints = every_100_ms();
  checkpoints.interval_ms = 0;
  Job& job = running(worker, checkpoints);
  job.placed()->parts[0].deployed = true;
  wire::TakeSavepoint savepoint;
  savepoint.set_request_id(5);
  savepoint.set_directory("/s");
  savepoint.set_stop(true);
  EXPECT_FALSE(cluster.savepoint(job, savepoint, at));
  EXPECT_FALSE(cluster.savepoint(job, savepoint, at));  // asked again: the same one
  const CheckpointOrder begin = execute_next(Kind::begin);
  EXPECT_TRUE(begin.path.starts_with("/s/savepoint-"));
  EXPECT_TRUE(assigned(worker).checkpoints().stops());
  save(worker, job, 1);
  execute_next(Kind::complete);
  const auto path = cluster.savepoint(job, savepoint, at);
  ASSERT_TRUE(path && path->ok());
  EXPECT_EQ(**path, begin.path);
  EXPECT_EQ(assigned(worker).desired_state(), wire::DESIRED_RUN) << "its sinks have not committed";
  report_of(job, wire::ATTEMPT_RUNNING).set_committed(1);
  send(worker);
  EXPECT_EQ(assigned(worker).desired_state(), wire::DESIRED_CANCEL);
  report(worker, job, wire::ATTEMPT_CANCELLED);
  EXPECT_EQ(job.state(), wire::JOB_FINISHED);
}

class RestartsWithAJournal : public Restarts {
 protected:
  RestartsWithAJournal() : Restarts(with_state_directory()) {}
  void write_down() {
    for (const JournalEntry& entry : cluster.take_entries_due()) {
      cluster.recorded({entry.record.job, entry.change}, at);
    }
    cluster.advance(at);
  }

 private:
  static JobManagerOptions with_state_directory() {
    JobManagerOptions options;
    options.state_directory = "/state";
    return options;
  }
};

// The next JobManager would begin before it, and all that its sinks had committed came again.
TEST_F(RestartsWithAJournal, WhatASavepointHoldsIsCommittedWhenItIsRecorded) {
  const std::uint64_t worker = add_worker("a");
  Job& job = submit(every_100_ms());
  write_down();
  write_down();
  report(worker, job, wire::ATTEMPT_RUNNING);
  ASSERT_EQ(job.state(), wire::JOB_RUNNING);
  job.placed()->parts[0].deployed = true;
  pass(milliseconds(100));
  execute_next(Kind::begin);
  save(worker, job, 1);
  execute_next(Kind::complete);
  write_down();
  EXPECT_EQ(assigned(worker).checkpoints().committed(), 1u);
  wire::TakeSavepoint savepoint;
  savepoint.set_request_id(5);
  savepoint.set_directory("/s");
  savepoint.set_stop(true);
  EXPECT_FALSE(cluster.savepoint(job, savepoint, at));
  execute_next(Kind::begin);
  save(worker, job, 2);
  execute_next(Kind::complete);
  EXPECT_EQ(assigned(worker).checkpoints().committed(), 1u);
  EXPECT_FALSE(cluster.savepoint(job, savepoint, at)) << "nobody is told of it before";
  write_down();
  EXPECT_EQ(assigned(worker).checkpoints().committed(), 2u);
  EXPECT_TRUE(cluster.savepoint(job, savepoint, at));
}

// Else a JobManager that comes after this one, over a directory that is not mounted, would know of
// none, and what its sinks had committed came again.
TEST_F(RestartsWithAJournal, TheFirstCheckpointIsCommittedWhenItIsRecorded) {
  const std::uint64_t worker = add_worker("a");
  Job& job = submit(every_100_ms());
  write_down();
  write_down();
  report(worker, job, wire::ATTEMPT_RUNNING);
  pass(milliseconds(100));
  const CheckpointOrder begin = execute_next(Kind::begin);
  save(worker, job, 1);
  execute_next(Kind::complete);
  EXPECT_EQ(assigned(worker).checkpoints().committed(), 0u);
  const std::vector<JournalEntry> entries = cluster.take_entries_due();
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].record.newest_checkpoint, 1u);
  EXPECT_EQ(entries[0].record.newest_path, begin.path);
  cluster.recorded({job.id, entries[0].change, {ErrorCode::disk_full, "no space"}}, at);
  EXPECT_EQ(assigned(worker).checkpoints().committed(), 0u);
  pass(seconds(1));
  write_down();
  EXPECT_EQ(assigned(worker).checkpoints().committed(), 1u);
  execute_next(Kind::begin);
  save(worker, job, 2);
  execute_next(Kind::complete);
  EXPECT_EQ(assigned(worker).checkpoints().committed(), 2u);
  EXPECT_TRUE(cluster.take_entries_due().empty()) << "it is where the first one is";
}

class CheckpointsThatAreGone : public Restarts {
 protected:
  // The next JobManager, over the journal of one that has recorded a first checkpoint.
  Job& recovered(const CheckpointOptions& checkpoints) {
    JobRecord record;
    record.job = 41;
    record.submission = 0xabc;
    record.request = submission(checkpoints).SerializeAsString();
    record.attempt = 1;
    record.newest_checkpoint = 1;
    record.newest_path = "/d/job-0000000000000abc/chk-0000000001";
    RecordedCluster recorded;
    recorded.epoch = 1;
    recorded.last_job = 41;
    recorded.jobs = {record};
    cluster.recover(std::move(recorded), {}, at);
    (void)add_worker("a");
    return *cluster.jobs().find(41);
  }
  static Status none() { return {ErrorCode::not_found, "no complete checkpoint"}; }
};

TEST_F(CheckpointsThatAreGone, AreWaitedForByName) {
  Job& job = recovered(every_100_ms());
  execute_next(Kind::find, none());
  for (int i = 0; i < 1000; ++i) {  // longer than any job waits for slots
    pass(seconds(1));
    execute_next(Kind::find, none());
    ASSERT_EQ(job.state(), wire::JOB_WAITING) << job.failure().message();
  }
  const std::string reason = cluster.waiting_reason(job);
  EXPECT_NE(reason.find("'/d/job-0000000000000abc/chk-0000000001'"), std::string::npos) << reason;
  EXPECT_NE(reason.find("--allow-fresh-start"), std::string::npos) << reason;
  pass(seconds(1));
  find(cluster.take_orders().at(0), job, 6);
  EXPECT_EQ(job.state(), wire::JOB_DEPLOYING);
  EXPECT_EQ(job.placed()->deployment.restore_path(), "/d/chk-6");
}

TEST_F(CheckpointsThatAreGone, AreNotReplacedByTheLatestOfWhichThereIsNone) {
  CheckpointOptions checkpoints = every_100_ms();
  checkpoints.restore = "latest";
  Job& job = recovered(checkpoints);
  execute_next(Kind::find, none());
  pass(seconds(1));
  EXPECT_EQ(job.state(), wire::JOB_WAITING);
  EXPECT_NE(cluster.waiting_reason(job).find("none now"), std::string::npos);
}

TEST_F(CheckpointsThatAreGone, LetAJobEndThatNobodyWantsAnyMore) {
  Job& job = recovered(every_100_ms());
  execute_next(Kind::find, none());
  EXPECT_TRUE(cluster.end(job.id, wire::DESIRED_CANCEL, at).ok());
  EXPECT_EQ(job.state(), wire::JOB_CANCELLED);
  pass(seconds(5));
  EXPECT_TRUE(cluster.take_orders().empty());
}

TEST_F(CheckpointsThatAreGone, LetAJobBeginAnewThatMay) {
  CheckpointOptions checkpoints = every_100_ms();
  checkpoints.allow_fresh_start = true;
  Job& job = recovered(checkpoints);
  execute_next(Kind::find, none());
  pass(0);
  EXPECT_EQ(job.state(), wire::JOB_DEPLOYING);
  EXPECT_EQ(job.placed()->deployment.restore_path(), "");
}

TEST_F(CheckpointsThatAreGone, AlsoKeepAnAttemptOfThisJobManagerWaiting) {
  const std::uint64_t worker = add_worker("b");
  Job& job = running(worker, every_100_ms());
  pass(milliseconds(100));
  execute_next(Kind::begin);
  save(worker, job, 1);
  execute_next(Kind::complete);
  report(worker, job, wire::ATTEMPT_FAILED);
  execute_next(Kind::find, none());
  pass(seconds(1));
  EXPECT_EQ(job.state(), wire::JOB_RESTARTING);
  EXPECT_NE(cluster.waiting_reason(job).find("none now"), std::string::npos);
  find(cluster.take_orders().at(0), job, 1);
  pass(seconds(1));
  EXPECT_EQ(job.state(), wire::JOB_DEPLOYING);
  EXPECT_EQ(job.placed()->deployment.restore_path(), "/d/chk-1");
}

TEST_F(Restarts, AnOlderCheckpointThanTheKnownOneSupersedesIt) {
  const std::uint64_t worker = add_worker("a");
  Job& job = running(worker, every_100_ms());
  pass(milliseconds(100));
  execute_next(Kind::begin);
  save(worker, job, 1);
  execute_next(Kind::complete);
  job.newest_checkpoint = 9;
  report(worker, job, wire::ATTEMPT_FAILED);
  find(cluster.take_orders().at(0), job, 7);
  EXPECT_EQ(job.superseded_checkpoint, 9u);
}

TEST_F(Restarts, ADiskThatDoesNotAnswerIsNamed) {
  const std::uint64_t worker = add_worker("a");
  Job& job = running(worker, every_100_ms());
  const std::uint64_t version = job.version;
  cluster.orders_hang({{job.id, "/d/job-0000000000000abc", "completing a checkpoint", seconds(6)}});
  EXPECT_EQ(job.disk_hangs, "'/d/job-0000000000000abc' does not answer (completing a checkpoint)");
  EXPECT_EQ(job.disk_hangs_for, seconds(6));
  EXPECT_GT(job.version, version);
  cluster.orders_hang({});
  EXPECT_TRUE(job.disk_hangs.empty());
  EXPECT_EQ(job.disk_hangs_for, 0);
}

TEST_F(Restarts, ASavepointThatFailsLetsTheJobGoOn) {
  const std::uint64_t worker = add_worker("a");
  Job& job = running(worker, every_100_ms());
  wire::TakeSavepoint savepoint;
  savepoint.set_request_id(5);
  savepoint.set_stop(true);
  EXPECT_FALSE(cluster.savepoint(job, savepoint, at));
  execute_next(Kind::begin, {ErrorCode::disk_full, "no space"});
  const auto path = cluster.savepoint(job, savepoint, at);
  ASSERT_TRUE(path);
  EXPECT_EQ(path->status().code(), ErrorCode::disk_full);
  EXPECT_EQ(job.state(), wire::JOB_RUNNING);
  EXPECT_FALSE(assigned(worker).checkpoints().stops());
}

TEST_F(Restarts, AJobWithoutADirectoryHasNoSavepoints) {
  const std::uint64_t worker = add_worker("a");
  Job& job = submit({});
  report(worker, job, wire::ATTEMPT_RUNNING);
  const auto path = cluster.savepoint(job, wire::TakeSavepoint(), at);
  ASSERT_TRUE(path);
  EXPECT_EQ(path->status().code(), ErrorCode::invalid_configuration);
}

TEST_F(Restarts, AJobBeginsWithTheCheckpointThatItWasToldOrFails) {
  (void)add_worker("a");
  CheckpointOptions checkpoints = every_100_ms();
  checkpoints.restore = "/elsewhere/chk-3";
  Job& job = submit(checkpoints);
  EXPECT_EQ(job.state(), wire::JOB_WAITING);
  const CheckpointOrder order =
      execute_next(Kind::find, {ErrorCode::invalid_configuration, "no such checkpoint"});
  EXPECT_EQ(order.restore, "/elsewhere/chk-3");
  EXPECT_EQ(job.state(), wire::JOB_FAILED);
}

TEST_F(Restarts, AJobOfAnEarlierJobManagerGoesOnWithItsNextAttempt) {
  JobRecord first;
  first.job = 41;
  first.submission = 0xabc;
  first.request = submission(every_100_ms()).SerializeAsString();
  first.attempt = 3;
  first.next_checkpoint = 9;
  wire::SubmitJob without = submission({}, RestartStrategy::no_restart());
  without.set_submission_id(0xdef);
  JobRecord second;
  second.job = 42;
  second.submission = 0xdef;
  second.request = without.SerializeAsString();
  second.attempt = 1;
  RecordedCluster recorded;
  recorded.epoch = 1;
  recorded.last_job = 42;
  recorded.jobs = {first, second};
  cluster.recover(std::move(recorded), {}, at);
  EXPECT_EQ(cluster.jobs().find(42)->state(), wire::JOB_FAILED);
  Job& job = *cluster.jobs().find(41);
  EXPECT_EQ(job.attempt, 4u);
  find(cluster.take_orders().at(0), job, 6);
  (void)add_worker("a");
  pass(seconds(1));
  EXPECT_EQ(job.state(), wire::JOB_DEPLOYING);
  EXPECT_EQ(job.placed()->deployment.restore_path(), "/d/chk-6");
  EXPECT_EQ(job.next_checkpoint, 9u);
  const Result<std::uint64_t> next = cluster.submit(
      [&] {
        wire::SubmitJob fresh = submission({});
        fresh.set_submission_id(0xfff);
        return fresh;
      }(),
      at);
  EXPECT_EQ(*next, 43u) << "numbers go on";
}

}  // namespace
}  // namespace hummer::restart_test
