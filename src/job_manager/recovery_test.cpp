// A JobManager with a state directory dies and is started again over its disk.
#include <gtest/gtest.h>

#include <set>

#include <fmt/format.h>
#include <hummer/codec.hpp>

#include "job_manager/job_manager_test_rig.hpp"
#include "state/checkpoint_store.hpp"

namespace hummer::recovery_test {
namespace {

JobManagerOptions with_journal() {
  JobManagerOptions options;
  options.state_directory = "/state";
  options.slot_timeout_ns = seconds(20);
  return options;
}

class Recovery : public testing::TestWithParam<std::uint64_t> {
 protected:
  // Each script connects anew: the JobManager died between them.
  void restart(bool power_cut) { rig_.restart_job_manager(power_cut); }
  bool odd() const { return GetParam() % 2 == 1; }
  JobManagerRig rig_{GetParam(), with_journal()};
};
INSTANTIATE_TEST_SUITE_P(Seeds, Recovery, testing::Range<std::uint64_t>(1, 9));

Task<void> submit_one(ScriptedClient& client, wire::SubmitJob job, std::uint64_t* number) {
  const bool joined = co_await client.join();
  EXPECT_TRUE(joined);
  *number = co_await client.submit(std::move(job));
}

Task<void> look(ScriptedClient& client, std::uint64_t job, wire::JobStatus* status) {
  const bool joined = co_await client.join();
  EXPECT_TRUE(joined);
  *status = co_await client.status(job);
}

Task<void> run_on(ScriptedWorker& worker, std::uint64_t job, wire::Deployment* deployment,
                  std::uint32_t* attempt) {
  const bool joined = co_await worker.join("worker", 4);
  EXPECT_TRUE(joined);
  const wire::JobManagerState assigned = co_await worker.until(
      [&](const wire::JobManagerState& state) { return state.assignments_size() > 0; });
  EXPECT_EQ(assigned.assignments(0).job(), job);
  *attempt = assigned.assignments(0).attempt();
  *deployment = co_await worker.fetch(job);
}

TEST_P(Recovery, AWaitingJobGoesOnWaitingUnderItsNumber) {
  std::uint64_t job = 0, numbering = 0;
  {
    ScriptedClient client(rig_);
    rig_.run(submit_one(client, job_of(5, 2), &job));
    numbering = client.welcome.numbering();
  }
  restart(odd());
  EXPECT_TRUE(rig_.logged("start number 2, 1 jobs, 1 of them not ended"));
  {
    ScriptedClient client(rig_);
    wire::JobStatus status;
    rig_.run(look(client, job, &status));
    EXPECT_EQ(client.welcome.numbering(), numbering);
    EXPECT_EQ(status.state(), wire::JOB_WAITING);
    EXPECT_EQ(status.name(), job_of(5, 2).graph().job_name());
  }
  // The same submission is the same job, another one gets the next number.
  std::uint64_t again = 0, other = 0;
  {
    ScriptedClient client(rig_);
    rig_.run(submit_one(client, job_of(5, 2), &again));
    ScriptedClient second(rig_);
    rig_.run(submit_one(second, job_of(6, 2), &other));
  }
  EXPECT_EQ(again, job);
  EXPECT_EQ(other, job + 1);
  ScriptedWorker worker(rig_);
  wire::Deployment deployment;
  std::uint32_t attempt = 0;
  rig_.run(run_on(worker, job, &deployment, &attempt));
  EXPECT_EQ(deployment.fingerprint(), job_of(5, 2).graph().fingerprint());
  EXPECT_EQ(attempt, 1u);
}

TEST_P(Recovery, AJobThatRanFailsAndSaysWhy) {
  std::uint64_t job = 0;
  std::uint64_t session = 0;
  {
    ScriptedWorker worker(rig_);
    ScriptedClient client(rig_);
    rig_.run(submit_one(client, job_of(5, 2), &job));
    wire::Deployment deployment;
    std::uint32_t attempt = 0;
    rig_.run(run_on(worker, job, &deployment, &attempt));
    session = worker.welcome.session();
  }
  restart(odd());
  ScriptedClient client(rig_);
  wire::JobStatus status;
  rig_.run(look(client, job, &status));
  if (status.state() != wire::JOB_FAILED) {  // its end is being recorded
    rig_.run(look(client, job, &status));
  }
  EXPECT_EQ(status.state(), wire::JOB_FAILED);
  EXPECT_NE(status.failure().message().find("the JobManager was started again"), std::string::npos)
      << status.failure().message();
  ScriptedWorker worker(rig_);
  bool joined = false;
  const auto join = [](ScriptedWorker& one, bool* into) -> Task<void> {
    *into = co_await one.join("worker", 4);
  };
  rig_.run(join(worker, &joined));
  EXPECT_TRUE(joined);
  EXPECT_GT(worker.welcome.session(), session);
}

TEST_P(Recovery, AnEndStaysAnEnd) {
  std::uint64_t job = 0;
  const auto cancel = [](ScriptedClient& client, std::uint64_t which) -> Task<void> {
    co_await client.end(which, wire::DESIRED_CANCEL);
  };
  wire::JobStatus before;
  {
    ScriptedClient client(rig_);
    rig_.run(submit_one(client, job_of(5, 2), &job));
    rig_.run(cancel(client, job));
    ScriptedClient second(rig_);
    rig_.run(look(second, job, &before));
    EXPECT_EQ(before.state(), wire::JOB_CANCELLED);
  }
  restart(odd());
  ScriptedClient client(rig_);
  wire::JobStatus after;
  rig_.run(look(client, job, &after));
  EXPECT_EQ(after.state(), wire::JOB_CANCELLED);
  EXPECT_EQ(after.ended_ms(), before.ended_ms());
  EXPECT_GT(after.version(), before.version());
}

TEST_P(Recovery, ALibraryIsThereForTheNextJobManager) {
  const std::string bytes(300'000, 'L');
  wire::SubmitJob request = job_of(5, 2);
  request.set_library_hash(hash_bytes(bytes.data(), bytes.size()));
  request.set_library_bytes(bytes.size());
  const auto send = [](ScriptedClient& client, wire::SubmitJob submission,
                       std::string library) -> Task<void> {
    const bool joined = co_await client.join();
    EXPECT_TRUE(joined);
    wire::ClientRequest upload;
    upload.mutable_upload()->set_hash(submission.library_hash());
    upload.mutable_upload()->set_total_bytes(library.size());
    upload.mutable_upload()->set_bytes(library);
    const wire::ClientAnswer answer = co_await client.ask(std::move(upload));
    EXPECT_EQ(answer.uploaded().offset(), library.size());
    const std::uint64_t job = co_await client.submit(std::move(submission));
    EXPECT_EQ(job, 1u);
  };
  {
    ScriptedClient client(rig_);
    rig_.run(send(client, request, bytes));
  }
  restart(odd());
  const auto fetch = [](ScriptedWorker& worker, std::uint64_t hash) -> Task<void> {
    const bool joined = co_await worker.join("worker", 4);
    EXPECT_TRUE(joined);
    wire::Envelope message;
    message.mutable_library_request()->set_hash(hash);
    EXPECT_TRUE(worker.stream->send(message).ok());
    while (true) {
      const Result<wire::Envelope> got = co_await worker.next();
      EXPECT_TRUE(got.ok());
      if (!got.ok()) co_return;
      if (!got->has_library_piece()) continue;
      EXPECT_EQ(got->library_piece().total_bytes(), 300'000u);
      EXPECT_EQ(got->library_piece().bytes().substr(0, 3), "LLL");
      co_return;
    }
  };
  ScriptedWorker worker(rig_);
  rig_.run(fetch(worker, request.library_hash()));
}

// Whatever was acknowledged is there, wherever in the journal's work the death comes.
TEST_P(Recovery, AcknowledgedSubmissionsOutliveADeathAnywhere) {
  std::map<std::uint64_t, std::uint64_t> acknowledged;  // submission, job
  const auto keep_submitting = [](JobManagerRig& rig, std::uint64_t first,
                                  std::map<std::uint64_t, std::uint64_t>& got) -> Task<void> {
    ScriptedClient client(rig);
    const bool joined = co_await client.join();
    if (!joined) co_return;
    for (std::uint64_t submission = first; submission < first + 5; ++submission) {
      wire::Envelope message;
      message.mutable_client_request()->set_id(submission);
      *message.mutable_client_request()->mutable_submit() = job_of(submission, 2);
      if (!client.stream->send(message).ok()) co_return;
      const Result<wire::Envelope> answer = co_await client.next(seconds(5));
      if (!answer.ok()) co_return;
      got[submission] = answer->client_answer().submitted().job();
    }
  };
  Random random(GetParam());
  for (int life = 0; life < 6; ++life) {
    rig_.job_manager_node->kill_at_disk_operation(1 + random.below(120));
    rig_.run(keep_submitting(rig_, 100 + 10 * static_cast<std::uint64_t>(life), acknowledged));
    restart(random.chance(0.7));
    for (const auto& [submission, job] : acknowledged) {
      std::uint64_t again = 0;
      ScriptedClient client(rig_);
      rig_.run(submit_one(client, job_of(submission, 2), &again));
      EXPECT_EQ(again, job) << "submission " << submission << ", life " << life;
    }
  }
  EXPECT_GE(acknowledged.size(), 3u);
}

TEST_P(Recovery, AFullDiskFailsTheSubmissionOnly) {
  rig_.simulation.options().disk_capacity_bytes = 0;
  const auto refused = [](JobManagerRig& rig, wire::Failure* failure) -> Task<void> {
    ScriptedClient client(rig);
    const bool joined = co_await client.join();
    EXPECT_TRUE(joined);
    wire::ClientRequest request;
    *request.mutable_submit() = job_of(5, 2);
    const wire::ClientAnswer answer = co_await client.ask(std::move(request));
    *failure = answer.failure();
  };
  wire::Failure failure;
  rig_.run(refused(rig_, &failure));
  EXPECT_EQ(failure.code(), static_cast<std::uint32_t>(ErrorCode::disk_full));
  EXPECT_NE(failure.message().find("the job was not taken"), std::string::npos)
      << failure.message();
  EXPECT_NE(failure.message().find("/state/journal.db"), std::string::npos) << failure.message();
  rig_.simulation.options().disk_capacity_bytes = UINT64_MAX;
  std::uint64_t job = 0;
  ScriptedClient client(rig_);
  rig_.run(submit_one(client, job_of(6, 2), &job));
  EXPECT_GT(job, 0u);
}

// A write that failed may be in the journal all the same: whoever is told that its job was not
// taken submits another one, and the first may not run beside it when the JobManager starts again.
TEST_P(Recovery, WhatWasNotTakenNeverRuns) {
  const auto keep_submitting = [](JobManagerRig& rig, std::uint64_t first,
                                  std::set<std::string>& not_taken) -> Task<void> {
    ScriptedClient client(rig);
    const bool joined = co_await client.join();
    EXPECT_TRUE(joined);
    for (std::uint64_t submission = first; submission < first + 8; ++submission) {
      wire::ClientRequest request;
      *request.mutable_submit() = job_of(submission, 2);
      const std::string name = fmt::format("submission {}", submission);
      request.mutable_submit()->mutable_graph()->set_job_name(name);
      const wire::ClientAnswer answer = co_await client.ask(std::move(request));
      const auto code = static_cast<ErrorCode>(answer.failure().code());
      if (answer.has_failure() && code != ErrorCode::timed_out) not_taken.insert(name);
    }
  };
  const auto list = [](ScriptedClient& client, wire::JobList* jobs) -> Task<void> {
    const bool joined = co_await client.join();
    EXPECT_TRUE(joined);
    wire::ClientRequest request;
    request.mutable_list();
    const wire::ClientAnswer answer = co_await client.ask(std::move(request));
    *jobs = answer.list();
  };
  std::set<std::string> not_taken;
  Random random(GetParam());
  for (int life = 0; life < 8; ++life) {
    rig_.simulation.options().write_fault_rate = 0.1;
    rig_.run(keep_submitting(rig_, 100 + 10 * static_cast<std::uint64_t>(life), not_taken));
    rig_.simulation.options().write_fault_rate = 0;
    restart(random.chance(0.5));
    ScriptedClient client(rig_);
    wire::JobList jobs;
    rig_.run(list(client, &jobs));
    for (const wire::JobStatus& job : jobs.jobs()) {
      if (!not_taken.contains(job.name())) continue;
      EXPECT_EQ(job.state(), wire::JOB_FAILED) << job.name() << ", life " << life;
    }
  }
  EXPECT_FALSE(not_taken.empty());
}

wire::SubmitJob job_with_checkpoints() {
  wire::SubmitJob job = job_of(5, 1);
  CheckpointOptions checkpoints;
  checkpoints.directory = "/checkpoints";
  checkpoints.interval_ms = 200;
  to_message(checkpoints, *job.mutable_options()->mutable_checkpointing());
  return job;
}

// Runs the job's first attempt until a checkpoint of it may be committed.
Task<void> complete_one(ScriptedWorker& worker, std::uint64_t job) {
  const bool joined = co_await worker.join("worker", 4);
  EXPECT_TRUE(joined);
  co_await worker.run_job(job);
  wire::JobManagerState seen = co_await worker.until([&](const wire::JobManagerState& state) {
    return state.assignments_size() > 0 && state.assignments(0).checkpoints().begun() > 0;
  });
  const std::uint64_t number = seen.assignments(0).checkpoints().begun();
  for (std::uint32_t task = 0; task < 16; ++task) {
    CheckpointFile file;
    file.name = CheckpointStore::file_name(0, task);
    file.subtask = task;
    std::string bytes;
    ByteWriter out(bytes);
    Codec<CheckpointFile>::encode(file, out);
    wire::SnapshotReport& saved = *worker.report(job, wire::ATTEMPT_RUNNING).add_snapshots();
    saved.set_checkpoint(number);
    saved.set_task(task);
    saved.set_file(std::string(out.view()));
  }
  seen = co_await worker.until([&](const wire::JobManagerState& state) {
    return state.assignments_size() > 0 && state.assignments(0).checkpoints().committed() >= number;
  });
}

TEST_P(Recovery, AJobWhoseCheckpointsAreGoneWaitsForThem) {
  std::uint64_t job = 0;
  {
    ScriptedClient client(rig_);
    rig_.run(submit_one(client, job_with_checkpoints(), &job));
    ScriptedWorker worker(rig_);
    rig_.run(complete_one(worker, job));
  }
  rig_.job_manager_node->kill();
  Files& disk = rig_.simulation.add_node("else", *rig_.job_manager_node).files();
  ASSERT_TRUE(disk.rename("/checkpoints", "/elsewhere").ok());
  ASSERT_TRUE(disk.create_directories("/checkpoints").ok());  // as an empty mount point
  restart(odd());
  ScriptedWorker worker(rig_);
  wire::JobStatus status;
  const auto wait_in_vain = [](ScriptedWorker& one, ScriptedClient& client, std::uint64_t number,
                               wire::JobStatus* into) -> Task<void> {
    bool joined = co_await one.join("worker", 4);
    EXPECT_TRUE(joined);
    for (int i = 0; i < 30; ++i) {
      const wire::JobManagerState state = co_await one.beat();
      EXPECT_EQ(state.assignments_size(), 0) << "it was started from zero";
      co_await sleep_for(seconds(1));
    }
    joined = co_await client.join();
    EXPECT_TRUE(joined);
    *into = co_await client.status(number);
  };
  {
    ScriptedClient client(rig_);
    rig_.run(wait_in_vain(worker, client, job, &status));
  }
  EXPECT_EQ(status.state(), wire::JOB_WAITING);
  EXPECT_NE(status.reason().find("'/checkpoints/job-0000000000000005/chk-"), std::string::npos)
      << status.reason();
  EXPECT_TRUE(rig_.logged("waits for its checkpoints"));
  ASSERT_TRUE(rig_.job_manager_node->files().remove("/checkpoints").ok());
  ASSERT_TRUE(rig_.job_manager_node->files().rename("/elsewhere", "/checkpoints").ok());
  const auto go_on = [](ScriptedWorker& one) -> Task<void> {
    const wire::JobManagerState state = co_await one.until(
        [](const wire::JobManagerState& theirs) { return theirs.assignments_size() > 0; });
    EXPECT_EQ(state.assignments(0).attempt(), 2u);
  };
  rig_.run(go_on(worker));
  EXPECT_TRUE(rig_.logged("its checkpoints are there again"));
}

// Where locks do not hold between machines, the journal's epoch does.
TEST_P(Recovery, AnEarlierJobManagerStepsDown) {
  ScriptedWorker worker(rig_);
  const auto join = [](ScriptedWorker& one) -> Task<void> {
    const bool joined = co_await one.join("worker", 4);
    EXPECT_TRUE(joined);
  };
  rig_.run(join(worker));
  EXPECT_TRUE(rig_.job_manager->failure().ok());
  ASSERT_TRUE(rig_.job_manager_node->files().remove("/state/lock").ok());
  JobManagerOptions options = with_journal();
  options.listen_address = "jobmanager:7000";
  JobManager second(*rig_.job_manager_node, options);
  ASSERT_TRUE(second.start().ok());
  const auto wait_for_the_end = [](ScriptedWorker& one) -> Task<void> {
    const bool closed = co_await one.is_closed(seconds(3));
    EXPECT_TRUE(closed);
  };
  rig_.run(wait_for_the_end(worker));
  EXPECT_EQ(rig_.job_manager->failure().code(), ErrorCode::invalid_configuration);
  EXPECT_TRUE(rig_.logged("another JobManager has taken over the state directory '/state'"));
  EXPECT_TRUE(second.failure().ok());
}

TEST_P(Recovery, ASecondJobManagerIsRefused) {
  JobManagerOptions options = with_journal();
  options.listen_address = "jobmanager:7000";
  JobManager second(*rig_.job_manager_node, options);
  const Status status = second.start();
  EXPECT_EQ(status.code(), ErrorCode::invalid_configuration);
  EXPECT_NE(status.message().find("another JobManager uses"), std::string::npos);
}

}  // namespace
}  // namespace hummer::recovery_test
