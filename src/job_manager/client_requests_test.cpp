// What clients ask: submissions, libraries, long polls, logs.
#include "job_manager/client_requests.hpp"

#include "job_manager/job_manager_test_rig.hpp"

namespace hummer::client_requests_test {
namespace {

class ClientRequests : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, ClientRequests, testing::Range<std::uint64_t>(1, 4));

Task<void> keep_alive(ScriptedWorker& worker, const bool& stop) {
  while (!stop) {
    worker.send_state();
    co_await sleep_for(seconds(1));
  }
}

Task<void> waiting_script(JobManagerRig& rig) {
  ScriptedWorker worker(rig);
  ScriptedClient client(rig);
  const bool one = co_await worker.join("tm1", 2);
  const bool two = co_await client.join();
  EXPECT_TRUE(one && two);
  bool stop = false;
  rig.executor->spawn(keep_alive(worker, stop));
  const std::uint64_t wide = co_await client.submit(job_of(1, 4));
  wire::JobStatus status = co_await client.status(wide);
  EXPECT_EQ(status.state(), wire::JOB_WAITING);
  EXPECT_EQ(status.reason(), "waits for 4 slots, 2 are free of 2 in all");
  // Too wide for what there is: it stands in nobody's way.
  co_await sleep_for(seconds(50));
  const std::uint64_t narrow = co_await client.submit(job_of(2, 2));
  status = co_await client.status(narrow);
  co_await sleep_for(milliseconds(10));
  status = co_await client.status(narrow);
  EXPECT_EQ(status.state(), wire::JOB_DEPLOYING);
  co_await sleep_for(seconds(51));
  status = co_await client.status(wide);
  EXPECT_EQ(status.state(), wire::JOB_FAILED);
  EXPECT_EQ(status.failure().code(), static_cast<std::uint32_t>(ErrorCode::not_enough_slots));
  EXPECT_NE(status.failure().message().find("waited in vain for 4 slots, 0 are free of 2"),
            std::string::npos)
      << status.failure().message();
  stop = true;
  co_await sleep_for(seconds(2));
}

TEST_P(ClientRequests, AJobWaitsForItsSlotsAndGivesUp) {
  JobManagerOptions options;
  options.slot_timeout_ns = seconds(100);
  JobManagerRig rig(GetParam(), options);
  rig.run(waiting_script(rig));
}

wire::ClientRequest piece(const std::string& library, std::uint64_t offset, std::size_t count) {
  wire::ClientRequest request;
  wire::LibraryPiece& out = *request.mutable_upload();
  out.set_hash(hash_bytes(library.data(), library.size()));
  out.set_offset(offset);
  out.set_total_bytes(library.size());
  out.set_bytes(library.substr(offset, count));
  return request;
}

wire::SubmitJob job_with(std::uint64_t submission, const std::string& library) {
  wire::SubmitJob job = job_of(submission, 1);
  job.set_library_hash(hash_bytes(library.data(), library.size()));
  job.set_library_bytes(library.size());
  return job;
}

Task<wire::Submitted> try_submit(ScriptedClient& client, wire::SubmitJob job) {
  wire::ClientRequest request;
  *request.mutable_submit() = std::move(job);
  const wire::ClientAnswer answer = co_await client.ask(std::move(request));
  EXPECT_FALSE(answer.has_failure()) << answer.failure().message();
  co_return answer.submitted();
}

Task<void> library_script(JobManagerRig& rig) {
  const std::string library(1'000'000, 'l');
  auto vanishing = std::make_unique<ScriptedClient>(rig);
  const bool one = co_await vanishing->join();
  EXPECT_TRUE(one);
  wire::Submitted submitted = co_await try_submit(*vanishing, job_with(9, library));
  EXPECT_EQ(submitted.job(), 0u);
  EXPECT_EQ(submitted.library_offset(), 0u);
  wire::ClientAnswer answer = co_await vanishing->ask(piece(library, 0, 300'000));
  EXPECT_EQ(answer.uploaded().offset(), 300'000u);
  vanishing.reset();

  ScriptedClient client(rig);
  const bool two = co_await client.join();
  EXPECT_TRUE(two);
  submitted = co_await try_submit(client, job_with(9, library));
  EXPECT_EQ(submitted.job(), 0u);
  EXPECT_EQ(submitted.library_offset(), 300'000u);
  answer = co_await client.ask(piece(library, 0, 300'000));  // again: no harm
  EXPECT_EQ(answer.uploaded().offset(), 300'000u);
  answer = co_await client.ask(piece(library, 600'000, 100));  // a hole
  EXPECT_EQ(answer.uploaded().offset(), 300'000u);
  answer = co_await client.ask(piece(library, 300'000, 700'000));
  EXPECT_EQ(answer.uploaded().offset(), 1'000'000u);
  submitted = co_await try_submit(client, job_with(9, library));
  EXPECT_EQ(submitted.job(), 1u);

  // A TaskManager reads it back, in pieces.
  ScriptedWorker worker(rig);
  const bool three = co_await worker.join("tm1", 1);
  EXPECT_TRUE(three);
  std::string read;
  while (read.size() < library.size()) {
    wire::Envelope request;
    request.mutable_library_request()->set_hash(hash_bytes(library.data(), library.size()));
    request.mutable_library_request()->set_offset(read.size());
    const Status sent = worker.stream->send(request);
    EXPECT_TRUE(sent.ok());
    Result<wire::Envelope> got = co_await worker.next();
    while (got.ok() && !got->has_library_piece()) got = co_await worker.next();
    if (!got.ok() || got->library_piece().bytes().empty()) break;
    EXPECT_EQ(got->library_piece().total_bytes(), library.size());
    EXPECT_EQ(got->library_piece().offset(), read.size());
    read += got->library_piece().bytes();
  }
  EXPECT_TRUE(read == library);
  wire::Envelope unknown;
  unknown.mutable_library_request()->set_hash(4711);
  const Status sent = worker.stream->send(unknown);
  EXPECT_TRUE(sent.ok());
  const Result<wire::Envelope> none = co_await worker.next();
  EXPECT_TRUE(none.ok() && none->library_piece().total_bytes() == 0);
}

TEST_P(ClientRequests, AnUploadGoesOnWhereItWasCut) {
  JobManagerRig rig(GetParam());
  rig.run(library_script(rig));
}

Task<void> damaged_script(JobManagerRig& rig) {
  ScriptedClient client(rig);
  const bool joined = co_await client.join();
  EXPECT_TRUE(joined);
  const std::string library(1000, 'l');
  wire::ClientRequest damaged = piece(library, 0, 1000);
  (*damaged.mutable_upload()->mutable_bytes())[500] = 'x';
  wire::ClientAnswer answer = co_await client.ask(damaged);
  EXPECT_EQ(answer.failure().code(), static_cast<std::uint32_t>(ErrorCode::corrupt_file));
  const wire::Submitted submitted = co_await try_submit(client, job_with(9, library));
  EXPECT_EQ(submitted.job(), 0u);
  EXPECT_EQ(submitted.library_offset(), 0u);
  wire::ClientRequest huge = piece(library, 0, 1000);
  huge.mutable_upload()->set_total_bytes(UINT64_MAX);
  answer = co_await client.ask(huge);
  EXPECT_EQ(answer.failure().code(), static_cast<std::uint32_t>(ErrorCode::limit_exceeded));
}

TEST_P(ClientRequests, ADamagedLibraryIsRefused) {
  JobManagerRig rig(GetParam());
  rig.run(damaged_script(rig));
}

Task<void> submit_script(JobManagerRig& rig) {
  ScriptedClient client(rig);
  const bool joined = co_await client.join();
  EXPECT_TRUE(joined);
  const std::uint64_t job = co_await client.submit(job_of(77, 1));
  const std::uint64_t again = co_await client.submit(job_of(77, 1));
  const std::uint64_t other = co_await client.submit(job_of(78, 1));
  EXPECT_EQ(job, 1u);
  EXPECT_EQ(again, 1u);
  EXPECT_EQ(other, 2u);
  wire::ClientRequest list;
  list.mutable_list();
  wire::ClientAnswer answer = co_await client.ask(list);
  EXPECT_EQ(answer.list().jobs_size(), 2);
  EXPECT_EQ(answer.list().jobs(0).job(), 2u);  // newest first
  EXPECT_EQ(answer.list().jobs(0).name(), "wordcount");
  // Refused, with the reason.
  wire::ClientRequest bad;
  *bad.mutable_submit() = job_of(79, 1);
  bad.mutable_submit()->mutable_graph()->mutable_edges(0)->set_to(99);
  answer = co_await client.ask(bad);
  EXPECT_EQ(answer.failure().code(), static_cast<std::uint32_t>(ErrorCode::protocol_error));
  *bad.mutable_submit() = job_of(80, 4);
  bad.mutable_submit()->mutable_options()->set_total_slots(2);
  answer = co_await client.ask(bad);
  EXPECT_EQ(answer.failure().code(), static_cast<std::uint32_t>(ErrorCode::invalid_configuration));
  *bad.mutable_submit() = job_of(81, 30'000);
  answer = co_await client.ask(bad);
  EXPECT_TRUE(answer.has_failure());
  wire::ClientRequest nothing;
  answer = co_await client.ask(nothing);
  EXPECT_TRUE(answer.has_failure());
  wire::ClientRequest unknown;
  unknown.mutable_end()->set_job(99);
  unknown.mutable_end()->set_desired_state(wire::DESIRED_CANCEL);
  answer = co_await client.ask(unknown);
  EXPECT_EQ(answer.failure().code(), static_cast<std::uint32_t>(ErrorCode::not_found));
  co_await client.end(1, wire::DESIRED_CANCEL);
  const wire::JobStatus status = co_await client.status(1);
  EXPECT_EQ(status.state(), wire::JOB_CANCELLED);
}

TEST_P(ClientRequests, TheSameSubmissionIsTheSameJob) {
  JobManagerRig rig(GetParam());
  rig.run(submit_script(rig));
}

Task<void> end_soon(JobManagerRig& rig, std::uint64_t job) {
  ScriptedClient client(rig);
  const bool joined = co_await client.join();
  EXPECT_TRUE(joined);
  co_await sleep_for(seconds(3));
  co_await client.end(job, wire::DESIRED_CANCEL);
}

Task<void> long_poll_script(JobManagerRig& rig) {
  ScriptedClient client(rig);
  const bool joined = co_await client.join();
  EXPECT_TRUE(joined);
  const std::uint64_t job = co_await client.submit(job_of(1, 1));
  wire::JobStatus status = co_await client.status(job);
  Nanoseconds began = rig.now();
  status = co_await client.status(job, status.version(), 2000);
  EXPECT_EQ(status.state(), wire::JOB_WAITING);
  EXPECT_GE(rig.now() - began, seconds(2));
  EXPECT_LE(rig.now() - began, seconds(3));
  rig.executor->spawn(end_soon(rig, job));
  began = rig.now();
  status = co_await client.status(job, status.version(), 30'000);
  EXPECT_EQ(status.state(), wire::JOB_CANCELLED);
  EXPECT_LE(rig.now() - began, seconds(4));
  // Ended: there is nothing to wait for.
  began = rig.now();
  status = co_await client.status(job, status.version(), 30'000);
  EXPECT_LE(rig.now() - began, seconds(1));
  co_await sleep_for(seconds(1));
}

TEST_P(ClientRequests, ALongPollEndsWithAChangeOrItsTime) {
  JobManagerRig rig(GetParam());
  rig.run(long_poll_script(rig));
}

Task<void> too_many_polls_script(JobManagerRig& rig) {
  ScriptedClient client(rig);
  const bool joined = co_await client.join();
  EXPECT_TRUE(joined);
  const std::uint64_t job = co_await client.submit(job_of(1, 1));
  const wire::JobStatus status = co_await client.status(job);
  wire::Envelope message;
  wire::JobQuery& query = *message.mutable_client_request()->mutable_job();
  query.set_job(job);
  query.set_version_seen(status.version());
  query.set_wait_ms(5000);
  for (int i = 0; i < 20; ++i) {
    const Status sent = client.stream->send(message);
    EXPECT_TRUE(sent.ok());
  }
  int refused = 0;
  for (int i = 0; i < 20; ++i) {
    const Result<wire::Envelope> got = co_await client.next(seconds(10));
    EXPECT_TRUE(got.ok());
    if (got.ok() && got->client_answer().has_failure()) ++refused;
  }
  EXPECT_EQ(refused, 4);
}

TEST_P(ClientRequests, AClientMayWaitForSoMuchOnly) {
  JobManagerRig rig(GetParam());
  rig.run(too_many_polls_script(rig));
}

Task<wire::LogPage> log_page(ScriptedClient& client, std::uint64_t job, std::uint64_t from,
                             std::uint32_t wait_ms) {
  wire::ClientRequest request;
  request.mutable_log()->set_job(job);
  request.mutable_log()->set_from_line(from);
  request.mutable_log()->set_wait_ms(wait_ms);
  const wire::ClientAnswer answer = co_await client.ask(std::move(request));
  EXPECT_FALSE(answer.has_failure());
  co_return answer.log();
}

Task<void> log_script(JobManagerRig& rig) {
  ScriptedWorker worker(rig);
  ScriptedClient client(rig);
  const bool one = co_await worker.join("tm1", 1);
  const bool two = co_await client.join();
  EXPECT_TRUE(one && two);
  const std::uint64_t job = co_await client.submit(job_of(1, 1));
  co_await worker.run_job(job);
  wire::LogPage page = co_await log_page(client, job, 0, 100);
  EXPECT_EQ(page.lines_size(), 0);
  EXPECT_FALSE(page.ended());
  for (int i = 0; i < 8; ++i) {
    wire::AttemptReport& report = worker.report(job, wire::ATTEMPT_RUNNING);
    wire::LogLine& line = *report.add_log_lines();  // from 0 on: some are told again
    line.set_text("line " + std::to_string(i) + " \xff");
    const wire::JobManagerState state = co_await worker.beat();
    EXPECT_EQ(state.assignments(0).log_lines_seen(), static_cast<std::uint64_t>(i + 1));
  }
  page = co_await log_page(client, job, 0, 0);
  EXPECT_EQ(page.first_line(), 3u);  // five are kept
  EXPECT_EQ(page.lines_size(), 5);
  EXPECT_EQ(page.lines(0).text(), "line 3 \xff");
  worker.report(job, wire::ATTEMPT_FINISHED);
  const wire::JobManagerState unused = co_await worker.beat();
  page = co_await log_page(client, job, 8, 10'000);
  EXPECT_TRUE(page.ended());
  EXPECT_EQ(page.lines_size(), 0);
}

TEST_P(ClientRequests, LogsAreReadByPages) {
  JobManagerOptions options;
  options.log_lines_per_job = 5;
  JobManagerRig rig(GetParam(), options);
  rig.run(log_script(rig));
}

}  // namespace
}  // namespace hummer::client_requests_test
