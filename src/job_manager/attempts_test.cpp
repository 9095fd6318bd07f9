// A job's way through deployment, failure, cancellation and its verdict.
#include "graph/fingerprint.hpp"
#include "job_manager/job_manager_test_rig.hpp"
#include "protocol/placement.hpp"

namespace hummer::attempts_test {
namespace {

class Attempts : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, Attempts, testing::Range<std::uint64_t>(1, 4));

// Two TaskManagers with a slot each, and a client.
struct Pair {
  explicit Pair(JobManagerRig& rig) : one(rig), two(rig), client(rig) {}
  Task<void> join() {
    const bool first = co_await one.join("tm1", 1);
    const bool second = co_await two.join("tm2", 1);
    const bool third = co_await client.join();
    EXPECT_TRUE(first && second && third);
  }
  Task<std::uint64_t> running_job(std::uint64_t submission) {
    const std::uint64_t job = co_await client.submit(job_of(submission, 2));
    co_await one.run_job(job);
    co_await two.run_job(job);
    co_return job;
  }
  ScriptedWorker one;
  ScriptedWorker two;
  ScriptedClient client;
};

Task<void> life_script(JobManagerRig& rig) {
  Pair pair(rig);
  co_await pair.join();
  const std::uint64_t job = co_await pair.client.submit(job_of(5, 2));
  EXPECT_EQ(job, 1u);
  const wire::Deployment first = co_await pair.one.fetch(job);
  const wire::Deployment second = co_await pair.two.fetch(job);
  EXPECT_EQ(first.task_managers_size(), 2);
  EXPECT_EQ(first.task_manager() + second.task_manager(), 1u);
  // What a TaskManager computes agrees.
  const Result<JobGraph> graph = job_graph_from(job_of(5, 2).graph());
  const Result<ExecutionGraph> placed =
      place_on_cluster(*graph, first.task_managers(), first.options());
  EXPECT_TRUE(placed.ok());
  EXPECT_EQ(execution_hash(*placed), first.execution_hash());
  EXPECT_EQ(graph->fingerprint, first.fingerprint());
  wire::JobStatus status = co_await pair.client.status(job);
  EXPECT_EQ(status.state(), wire::JOB_DEPLOYING);
  pair.one.report(job, wire::ATTEMPT_RUNNING);
  pair.two.report(job, wire::ATTEMPT_RUNNING);
  wire::VertexMetrics& metrics = *pair.one.report(job, wire::ATTEMPT_RUNNING).add_metrics();
  metrics.set_vertex(0);
  metrics.add_operators()->set_records_out(10);
  const wire::JobManagerState unused_one = co_await pair.one.beat();
  *pair.two.report(job, wire::ATTEMPT_RUNNING).add_metrics() = metrics;
  const wire::JobManagerState unused_two = co_await pair.two.beat();
  const wire::JobManagerState unused_again = co_await pair.two.beat();
  status = co_await pair.client.status(job);
  EXPECT_EQ(status.state(), wire::JOB_RUNNING);
  EXPECT_EQ(status.slots(), 2u);
  EXPECT_GT(status.started_ms(), 0);
  EXPECT_EQ(status.vertices(0).metrics().operators(0).records_out(), 20u);
  pair.one.report(job, wire::ATTEMPT_FINISHED);
  const wire::JobManagerState ended = co_await pair.one.beat();
  EXPECT_EQ(ended.assignments_size(), 0);  // it may forget it
  status = co_await pair.client.status(job);
  EXPECT_EQ(status.state(), wire::JOB_RUNNING);
  pair.two.report(job, wire::ATTEMPT_FINISHED);
  const wire::JobManagerState last = co_await pair.two.beat();
  EXPECT_EQ(last.assignments_size(), 0);
  status = co_await pair.client.status(job);
  EXPECT_EQ(status.state(), wire::JOB_FINISHED);
  EXPECT_EQ(status.vertices(0).metrics().operators(0).records_out(), 20u);
  EXPECT_FALSE(status.has_failure());
}

TEST_P(Attempts, FromSubmissionToFinished) {
  JobManagerRig rig(GetParam());
  rig.run(life_script(rig));
}

Task<void> deployment_twice_script(JobManagerRig& rig) {
  Pair pair(rig);
  co_await pair.join();
  const std::uint64_t job = co_await pair.client.submit(job_of(5, 2));
  const wire::Deployment first = co_await pair.one.fetch(job);
  const wire::JobManagerState none = co_await pair.one.beat();
  EXPECT_EQ(none.assignments_size(), 1);
  EXPECT_FALSE(none.assignments(0).has_deployment());
  // It was lost on its way.
  pair.one.state.clear_attempts();
  wire::AttemptKey& key = *pair.one.state.add_wanted();
  key.set_job(job);
  key.set_attempt(1);
  for (int i = 0; i < 2; ++i) {
    const wire::JobManagerState again = co_await pair.one.beat();
    EXPECT_EQ(again.assignments_size(), 1);
    EXPECT_EQ(first.SerializeAsString(), again.assignments(0).deployment().SerializeAsString());
  }
}

TEST_P(Attempts, ADeploymentMayBeAskedForTwice) {
  JobManagerRig rig(GetParam());
  rig.run(deployment_twice_script(rig));
}

Task<void> verdict_script(JobManagerRig& rig) {
  Pair pair(rig);
  co_await pair.join();
  const std::uint64_t job = co_await pair.running_job(5);
  // The consequence is heard of first.
  pair.two.report_failure(job, ErrorCode::peer_gone, "tm1 is gone", true);
  const wire::JobManagerState unused = co_await pair.two.beat();
  pair.two.forget(job);
  wire::JobStatus status = co_await pair.client.status(job);
  EXPECT_EQ(status.state(), wire::JOB_FAILING);
  const wire::JobManagerState cancel = co_await pair.one.beat();
  EXPECT_EQ(cancel.assignments_size(), 1);
  EXPECT_EQ(cancel.assignments(0).desired_state(), wire::DESIRED_CANCEL);
  pair.one.report_failure(job, ErrorCode::corrupt_record, "line 7", false);
  const wire::JobManagerState gone = co_await pair.one.beat();
  EXPECT_EQ(gone.assignments_size(), 0);
  status = co_await pair.client.status(job);
  EXPECT_EQ(status.state(), wire::JOB_FAILED);
  EXPECT_EQ(status.failure().message(), "line 7");
}

TEST_P(Attempts, TheVerdictWaitsForAllAndNamesTheRoot) {
  JobManagerRig rig(GetParam());
  rig.run(verdict_script(rig));
}

// A data connection broke: nobody is lost, and all failures are consequences.
Task<void> broken_connection_script(JobManagerRig& rig) {
  Pair pair(rig);
  co_await pair.join();
  const std::uint64_t job = co_await pair.running_job(5);
  pair.two.report_failure(job, ErrorCode::peer_gone, "the sender gave up", true);
  const wire::JobManagerState first = co_await pair.two.beat();
  pair.two.forget(job);
  pair.one.report_failure(job, ErrorCode::connection_lost, "connection to tm2 lost", true);
  const wire::JobManagerState second = co_await pair.one.beat();
  const wire::JobStatus status = co_await pair.client.status(job);
  EXPECT_EQ(status.state(), wire::JOB_FAILED);
  EXPECT_EQ(status.failure().message(), "connection to tm2 lost");
}

TEST_P(Attempts, AConnectionSeenToBreakIsToldBeforeAPeerThatGaveUp) {
  JobManagerRig rig(GetParam());
  rig.run(broken_connection_script(rig));
}

Task<void> keep_alive(ScriptedWorker& worker, const bool& stop) {
  while (!stop) {
    worker.send_state();
    co_await sleep_for(milliseconds(500));
  }
}

Task<void> lost_script(JobManagerRig& rig, bool by_silence) {
  Pair pair(rig);
  co_await pair.join();
  const std::uint64_t job = co_await pair.running_job(5);
  pair.two.report_failure(job, ErrorCode::connection_lost, "no answer from tm1", true);
  const wire::JobManagerState unused = co_await pair.two.beat();
  pair.two.forget(job);
  bool stop = false;
  rig.executor->spawn(keep_alive(pair.two, stop));
  if (!by_silence) pair.one.stream->close();
  wire::JobStatus status;
  for (int i = 0; i < 100 && status.state() != wire::JOB_FAILED; ++i) {
    co_await sleep_for(milliseconds(100));
    status = co_await pair.client.status(job);
  }
  stop = true;
  co_await sleep_for(seconds(1));
  EXPECT_EQ(status.state(), wire::JOB_FAILED);
  const std::string expected = by_silence ? "TaskManager 'tm1' lost: no heartbeat for 5.0 s"
                                          : "TaskManager 'tm1' lost: connection lost (";
  EXPECT_EQ(status.failure().message().substr(0, expected.size()), expected);
}

TEST_P(Attempts, ALostTaskManagerIsTheRootFailure) {
  for (const bool by_silence : {true, false}) {
    JobManagerRig rig(GetParam());
    rig.run(lost_script(rig, by_silence));
  }
}

Task<void> same_incarnation_script(JobManagerRig& rig) {
  Pair pair(rig);
  co_await pair.join();
  const std::uint64_t job = co_await pair.running_job(5);
  ScriptedWorker again(rig);
  const bool back = co_await again.join("tm1", 1);
  EXPECT_TRUE(back);
  const wire::JobManagerState nothing = co_await again.beat();
  EXPECT_EQ(nothing.assignments_size(), 0);
  pair.two.report(job, wire::ATTEMPT_CANCELLED);
  const wire::JobManagerState unused = co_await pair.two.beat();
  const wire::JobStatus status = co_await pair.client.status(job);
  EXPECT_EQ(status.state(), wire::JOB_FAILED);
  EXPECT_NE(status.failure().message().find("it registered again"), std::string::npos);
}

TEST_P(Attempts, RegisteringAgainEndsWhatRan) {
  JobManagerRig rig(GetParam());
  rig.run(same_incarnation_script(rig));
}

Task<void> completeness_script(JobManagerRig& rig) {
  Pair pair(rig);
  co_await pair.join();
  const std::uint64_t job = co_await pair.running_job(5);
  pair.one.forget(job);
  const wire::JobManagerState unused = co_await pair.one.beat();
  const wire::JobManagerState cancel = co_await pair.two.beat();
  EXPECT_EQ(cancel.assignments(0).desired_state(), wire::DESIRED_CANCEL);
  pair.two.report(job, wire::ATTEMPT_CANCELLED);
  const wire::JobManagerState last = co_await pair.two.beat();
  EXPECT_EQ(last.assignments_size(), 0);
  const wire::JobStatus status = co_await pair.client.status(job);
  EXPECT_EQ(status.state(), wire::JOB_FAILED);
  EXPECT_EQ(status.failure().message(), "TaskManager 'tm1' no longer has its part of the job");
}

TEST_P(Attempts, WhatIsNoLongerNamedHasFailed) {
  JobManagerRig rig(GetParam());
  rig.run(completeness_script(rig));
}

Task<void> slots_script(JobManagerRig& rig) {
  Pair pair(rig);
  co_await pair.join();
  const std::uint64_t job = co_await pair.running_job(5);
  const std::uint64_t next = co_await pair.client.submit(job_of(6, 2));
  co_await pair.client.end(job, wire::DESIRED_CANCEL);
  const wire::JobManagerState desired_state = co_await pair.one.beat();
  EXPECT_EQ(desired_state.assignments(0).desired_state(), wire::DESIRED_CANCEL);
  pair.one.report(job, wire::ATTEMPT_CANCELLED);
  const wire::JobManagerState unused = co_await pair.one.beat();
  pair.one.forget(job);
  // tm2 is still at it: its slot is not free, whatever was asked for.
  co_await sleep_for(seconds(1));
  wire::JobStatus status = co_await pair.client.status(next);
  EXPECT_EQ(status.state(), wire::JOB_WAITING);
  EXPECT_EQ(status.reason(), "waits for 2 slots, 1 is free of 2 in all");
  status = co_await pair.client.status(job);
  EXPECT_EQ(status.state(), wire::JOB_CANCELLING);
  pair.two.report(job, wire::ATTEMPT_CANCELLED);
  const wire::JobManagerState unused_too = co_await pair.two.beat();
  pair.two.forget(job);
  status = co_await pair.client.status(job);
  EXPECT_EQ(status.state(), wire::JOB_CANCELLED);
  co_await pair.one.run_job(next);
  co_await pair.two.run_job(next);
  status = co_await pair.client.status(next);
  EXPECT_EQ(status.state(), wire::JOB_RUNNING);
}

TEST_P(Attempts, SlotsAreFreeWhenTheTaskManagerSaysSo) {
  JobManagerRig rig(GetParam());
  rig.run(slots_script(rig));
}

Task<void> early_cancel_script(JobManagerRig& rig) {
  Pair pair(rig);
  co_await pair.join();
  const std::uint64_t job = co_await pair.client.submit(job_of(5, 2));
  const wire::Deployment unused = co_await pair.one.fetch(job);
  co_await pair.client.end(job, wire::DESIRED_CANCEL);
  // tm2 never had the deployment: there is nothing to wait for.
  const wire::JobManagerState two = co_await pair.two.beat();
  EXPECT_EQ(two.assignments_size(), 0);
  wire::JobStatus status = co_await pair.client.status(job);
  EXPECT_EQ(status.state(), wire::JOB_CANCELLING);
  pair.one.report(job, wire::ATTEMPT_CANCELLED);
  const wire::JobManagerState one = co_await pair.one.beat();
  EXPECT_EQ(one.assignments_size(), 0);
  status = co_await pair.client.status(job);
  EXPECT_EQ(status.state(), wire::JOB_CANCELLED);
}

TEST_P(Attempts, CancelBeforeDeploymentWaitsForNobodyElse) {
  JobManagerRig rig(GetParam());
  rig.run(early_cancel_script(rig));
}

Task<void> stop_script(JobManagerRig& rig) {
  Pair pair(rig);
  co_await pair.join();
  const std::uint64_t job = co_await pair.running_job(5);
  co_await pair.client.end(job, wire::DESIRED_STOP);
  const wire::JobManagerState desired_state = co_await pair.one.beat();
  EXPECT_EQ(desired_state.assignments(0).desired_state(), wire::DESIRED_STOP);
  wire::JobStatus status = co_await pair.client.status(job);
  EXPECT_EQ(status.state(), wire::JOB_STOPPING);
  for (ScriptedWorker* worker : {&pair.one, &pair.two}) {
    worker->report(job, wire::ATTEMPT_FINISHED);
    const wire::JobManagerState unused = co_await worker->beat();
  }
  status = co_await pair.client.status(job);
  EXPECT_EQ(status.state(), wire::JOB_FINISHED);
}

TEST_P(Attempts, StopEndsInGoodOrder) {
  JobManagerRig rig(GetParam());
  rig.run(stop_script(rig));
}

}  // namespace
}  // namespace hummer::attempts_test
