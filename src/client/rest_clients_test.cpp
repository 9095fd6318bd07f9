// Clients that speak REST, at the control port.
#include <array>

#include "client/cluster_client.hpp"
#include "job_manager/job_manager_test_rig.hpp"
#include "protocol/job_status.hpp"

namespace hummer::rest_clients_test {
namespace {

class RestClients : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, RestClients, testing::Range<std::uint64_t>(1, 6));

ClusterClientOptions over_rest(std::string token = "secret") {
  ClusterClientOptions options;
  options.job_manager = "jobmanager:6123";
  options.token = std::move(token);
  options.over_rest = true;
  return options;
}

wire::ClientRequest query(std::uint64_t job, std::uint64_t version_seen, std::uint32_t wait_ms) {
  wire::ClientRequest request;
  request.mutable_job()->set_job(job);
  request.mutable_job()->set_version_seen(version_seen);
  request.mutable_job()->set_wait_ms(wait_ms);
  return request;
}

// All that comes until the other side closes.
Task<std::string> rest_of(ByteStream& stream) {
  std::string text;
  while (true) {
    std::array<char, 1000> buffer;
    const Result<std::size_t> got = co_await stream.read_some(buffer);
    if (!got.ok() || *got == 0) co_return text;
    text.append(buffer.data(), *got);
  }
}
Task<std::string> get(JobManagerRig& rig, std::string path) {
  std::unique_ptr<ByteStream> stream = co_await rig.connect();
  const std::string request = "GET " + path +
                              " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
                              "Authorization: Bearer secret\r\n\r\n";
  const Status sent = co_await stream->write_all(request);
  EXPECT_TRUE(sent.ok()) << sent.to_string();
  std::string answer = co_await rest_of(*stream);
  co_return answer;
}

Task<void> job_script(JobManagerRig& rig) {
  ScriptedWorker worker(rig);
  ClusterClient client(rig.peers_node, *rig.executor, over_rest());
  const bool joined = co_await worker.join("tm1", 2);
  EXPECT_TRUE(joined);
  const std::string library(3'000'000, 'x');
  wire::SubmitJob job = job_of(1, 2);
  job.set_library_hash(hash_bytes(library.data(), library.size()));
  job.set_library_bytes(library.size());
  const Result<std::uint64_t> number = co_await client.submit(std::move(job), library);
  EXPECT_TRUE(number.ok()) << number.status().to_string();
  if (!number.ok()) co_return;
  co_await worker.run_job(*number);

  const Result<wire::ClientAnswer> now = co_await client.ask(query(*number, 0, 0));
  EXPECT_TRUE(now.ok()) << now.status().to_string();
  if (!now.ok()) co_return;
  EXPECT_EQ(now->job().state(), wire::JOB_RUNNING);
  EXPECT_EQ(now->job().slots(), 2U);

  // Nothing changes: it waits for as long as it was told, and no longer.
  const Nanoseconds begin = rig.now();
  const Result<wire::ClientAnswer> same =
      co_await client.ask(query(*number, now->job().version(), 700));
  EXPECT_TRUE(same.ok());
  EXPECT_GE(rig.now() - begin, milliseconds(700));
  EXPECT_LT(rig.now() - begin, milliseconds(1500));

  worker.report_failure(*number, ErrorCode::user_function_failed, "threw", false);
  worker.send_state();
  const Result<wire::ClientAnswer> failed =
      co_await client.ask(query(*number, now->job().version(), 60'000));
  EXPECT_TRUE(failed.ok());
  if (!failed.ok()) co_return;
  EXPECT_EQ(failed->job().state(), wire::JOB_FAILED);
  EXPECT_LT(rig.now() - begin, seconds(5));
  EXPECT_EQ(failed->job().failures_size(), 1);
  if (failed->job().failures_size() != 1) co_return;
  EXPECT_EQ(failed->job().failures(0).task_manager(), "tm1");
  EXPECT_EQ(failed->job().failures(0).attempt(), 1U);
  EXPECT_EQ(failed->job().failures(0).failure().message(), "threw");
  EXPECT_FALSE(rig.logged("closed"));
}

TEST_P(RestClients, SubmitAndWatchAJob) {
  JobManagerRig rig(GetParam());
  rig.run(job_script(rig));
}

Task<void> metrics_script(JobManagerRig& rig) {
  ScriptedWorker worker(rig);
  ClusterClient client(rig.peers_node, *rig.executor, over_rest());
  const bool joined = co_await worker.join("tm1", 2);
  EXPECT_TRUE(joined);
  const Result<std::uint64_t> number = co_await client.submit(job_of(1, 2), {});
  EXPECT_TRUE(number.ok()) << number.status().to_string();
  if (!number.ok()) co_return;
  co_await worker.run_job(*number);
  wire::VertexMetrics& metrics = *worker.report(*number, wire::ATTEMPT_RUNNING).add_metrics();
  metrics.set_vertex(0);
  metrics.add_operators()->set_records_late(3);
  wire::UserMetric& user = *metrics.mutable_operators(0)->add_user();
  user.set_name("bad_lines");
  user.set_count(8);
  metrics.mutable_operators(0)->add_user()->set_name("forged\" 1");
  const wire::JobManagerState seen = co_await worker.beat();

  const Result<wire::ClientAnswer> now = co_await client.ask(query(*number, 0, 0));
  EXPECT_TRUE(now.ok()) << now.status().to_string();
  if (!now.ok()) co_return;
  EXPECT_EQ(now->job().vertices(0).metrics().operators(0).records_late(), 3U);
  EXPECT_EQ(job_result(now->job(), 0).records_late, 3U);
  EXPECT_EQ(job_result(now->job(), 0).counter("bad_lines"), 8U);
  EXPECT_EQ(now->job().vertices(0).metrics().operators(0).user_size(), 1);
  const std::string text = co_await get(rig, "/metrics");
  EXPECT_NE(text.find("\nhummer_operator_records_late_total{"), text.npos) << text;
  EXPECT_NE(text.find(now->job().vertices(0).operators(0) + "\"} 3\n"), text.npos) << text;
  EXPECT_NE(text.find("# TYPE hummer_user_bad_lines_total counter\nhummer_user_bad_lines_total{"),
            text.npos)
      << text;
  EXPECT_NE(text.find(now->job().vertices(0).operators(0) + "\"} 8\n"), text.npos) << text;
  EXPECT_EQ(text.find("forged"), text.npos) << text;
}

TEST_P(RestClients, SeeMetricsOfOperatorsAndOfTheirFunctions) {
  JobManagerRig rig(GetParam());
  rig.run(metrics_script(rig));
}

Task<void> refusal_script(JobManagerRig& rig) {
  ClusterClient wrong(rig.peers_node, *rig.executor, over_rest("guessed"));
  const Result<wire::ClientAnswer> refused = co_await wrong.ask(query(1, 0, 0));
  EXPECT_EQ(refused.status().code(), ErrorCode::permission_denied);
  EXPECT_TRUE(rig.logged("token"));
  ClusterClient none(rig.peers_node, *rig.executor, over_rest(""));
  const Result<wire::ClientAnswer> asked = co_await none.ask(query(1, 0, 0));
  EXPECT_EQ(asked.status().code(), ErrorCode::permission_denied);
  EXPECT_NE(asked.status().message().find("--token-file"), std::string::npos);
  ClusterClient right(rig.peers_node, *rig.executor, over_rest());
  const Result<wire::ClientAnswer> unknown = co_await right.ask(query(1, 0, 0));
  EXPECT_EQ(unknown.status().code(), ErrorCode::not_found);
}

TEST_P(RestClients, NeedTheToken) {
  JobManagerRig rig(GetParam());
  rig.run(refusal_script(rig));
}

Task<void> stranger_script(JobManagerRig& rig) {
  // A whole request without the token, then silence; and half of one.
  std::unique_ptr<ByteStream> asks = co_await rig.connect();
  std::unique_ptr<ByteStream> stops = co_await rig.connect();
  const Nanoseconds begin = rig.now();
  const std::string whole = "GET /v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
  const std::string half = "POST /v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\n";
  const Status one = co_await asks->write_all(whole);
  const Status two = co_await stops->write_all(half);
  EXPECT_TRUE(one.ok() && two.ok());
  const std::string answer = co_await rest_of(*asks);
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 401 ")) << answer;
  EXPECT_LE(rig.now() - begin, seconds(62));
  const std::string told = co_await rest_of(*stops);
  EXPECT_TRUE(told.starts_with("HTTP/1.1 408 ")) << told;
  EXPECT_EQ(rig.job_manager->counts().garbage, 0U);
  EXPECT_EQ(rig.job_manager->counts().connections, 0U);
}

TEST_P(RestClients, StrangersAtTheControlPortAreToldAndLetGo) {
  JobManagerRig rig(GetParam());
  rig.run(stranger_script(rig));
}

Task<void> restart_script(JobManagerRig& rig) {
  ClusterClient client(rig.peers_node, *rig.executor, over_rest());
  const Result<std::uint64_t> first = co_await client.submit(job_of(1, 2), {});
  EXPECT_TRUE(first.ok()) << first.status().to_string();
  rig.restart_job_manager(false);
  // The next one gives the number again, to somebody else's job.
  ClusterClient other(rig.peers_node, *rig.executor, over_rest());
  const Result<std::uint64_t> second = co_await other.submit(job_of(2, 2), {});
  EXPECT_TRUE(second.ok()) << second.status().to_string();
  if (!first.ok() || !second.ok()) co_return;
  EXPECT_EQ(*first, *second);
  wire::ClientRequest cancel;
  cancel.mutable_end()->set_job(*first);
  cancel.mutable_end()->set_desired_state(wire::DESIRED_CANCEL);
  const Result<wire::ClientAnswer> answer = co_await client.ask(std::move(cancel));
  EXPECT_EQ(answer.status().code(), ErrorCode::not_found) << answer.status().to_string();
  const Result<wire::ClientAnswer> alive = co_await other.ask(query(*second, 0, 0));
  EXPECT_TRUE(alive.ok());
  if (alive.ok()) {
    EXPECT_EQ(alive->job().state(), wire::JOB_WAITING);
  }
}

TEST_P(RestClients, NeverMeanAJobOfAnotherJobManager) {
  JobManagerRig rig(GetParam());
  rig.run(restart_script(rig));
}

}  // namespace
}  // namespace hummer::rest_clients_test
