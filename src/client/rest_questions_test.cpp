// What a client asks by REST is what the JobManager hears, and what it answers is what the client
// hears: through the real routes, for every kind of request.
#include "client/rest_questions.hpp"

#include <gtest/gtest.h>

#include "graph/graph_builder_for_test.hpp"
#include "observability/process_log.hpp"
#include "platform/run_task.hpp"
#include "platform/simulation.hpp"
#include "protocol/graph_messages.hpp"
#include "rest/job_json.hpp"
#include "rest/rest_api.hpp"

namespace hummer::rest_questions_test {
namespace {

class OneAnswer final : public RestBackend {
 public:
  Task<wire::ClientAnswer> ask(wire::ClientRequest request) override {
    asked = std::move(request);
    co_return answer;
  }
  std::string metrics() override { return {}; }
  Status ready() override { return {}; }
  std::int64_t wall_time_ms() override { return 0; }
  std::uint64_t draw() override { return 4; }
  std::uint64_t numbering() const override { return 12; }
  const ProcessLog* process_log() override { return log; }

  const ProcessLog* log = nullptr;
  wire::ClientAnswer answer;
  wire::ClientRequest asked;
};

class RestQuestions : public testing::Test {
 public:
  RestQuestions() : platform_(make_simulated_platform({})) {
    executor_ = platform_->make_executor({.name = "rest"});
  }
  ~RestQuestions() override { executor_->stop(); }

  // The answer as the client has it.
  Result<wire::ClientAnswer> ask(const wire::ClientRequest& request) {
    HttpQuestion question = rest_question(request);
    HttpRequest received;
    EXPECT_TRUE(parse_http_target(question.target, received)) << question.target;
    received.method = question.method;
    received.content_type = question.content_type;
    received.body = std::move(question.body);
    RestApi api(backend_, {});
    auto response = run_task(*platform_, *executor_, api.handle(std::move(received)));
    EXPECT_TRUE(response.has_value());
    HttpAnswerReader reader;
    // As it goes over the wire, byte by byte.
    for (const char byte : format_http_response(*response, true, true)) {
      const Result<bool> whole = reader.take({&byte, 1});
      EXPECT_TRUE(whole.ok());
      if (whole.ok() && *whole) {
        HttpAnswer answer = reader.answer();
        EXPECT_EQ(answer.numbering, 12U);
        EXPECT_TRUE(answer.keep_alive);
        return rest_answer(request, std::move(answer));
      }
    }
    return Status(ErrorCode::internal, "the answer is not whole");
  }

  // Both ways without a loss.
  void expect_the_same(const wire::ClientRequest& request) {
    const Result<wire::ClientAnswer> heard = ask(request);
    ASSERT_TRUE(heard.ok()) << heard.status().to_string();
    EXPECT_EQ(backend_.asked.SerializeAsString(), request.SerializeAsString());
    EXPECT_EQ(heard->SerializeAsString(), backend_.answer.SerializeAsString());
  }

  std::unique_ptr<SimulatedPlatform> platform_;
  std::unique_ptr<Executor> executor_;
  OneAnswer backend_;
};

wire::JobStatus whole_status() {
  wire::JobStatus job;
  job.set_job(7001);
  job.set_name("the \"job\"\n\xc3\xa9");
  job.set_state(wire::JOB_FAILED);
  job.mutable_failure()->set_code(3000);
  job.mutable_failure()->set_message("threw: \x01");
  job.set_reason("because");
  job.set_submitted_ms(1'700'000'000'001);
  job.set_started_ms(1'700'000'000'002);
  job.set_ended_ms(1'700'000'000'003);
  job.set_slots(3);
  for (const char* name : {"a", "b"}) {
    wire::VertexStatus& vertex = *job.add_vertices();
    vertex.set_name(name);
    vertex.set_parallelism(2);
    vertex.mutable_metrics()->set_tasks_running(1);
    vertex.mutable_metrics()->set_tasks_finished(2);
    vertex.mutable_metrics()->set_busy_percent(70);
    vertex.mutable_metrics()->set_back_pressured_percent(20);
    vertex.add_operators("read");
    vertex.add_kinds("source");
    wire::OperatorMetrics& metrics = *vertex.mutable_metrics()->add_operators();
    metrics.set_records_in(1);
    metrics.set_records_out(std::uint64_t{1} << 60);
    metrics.set_bytes(3);
    metrics.set_records_late(5);
    for (std::uint32_t kind = 0; kind < 3; ++kind) {
      wire::UserMetric& user = *metrics.add_user();
      user.set_name("metric" + std::to_string(kind));
      user.set_kind(kind);
      user.set_count(7);
      if (kind == 0) continue;
      user.set_sum(-2.5);
      user.set_max(1e300);
      if (kind == 1) user.set_min(-0.125);
      if (kind == 2) user.set_p50(0.1);
      if (kind == 2) user.set_p99(123'456);
    }
  }
  job.add_stuck("slot 0: stuck");
  job.set_version(9);
  job.set_attempt(2);
  job.add_region_attempts(2);
  job.add_region_attempts(0);
  job.set_restarts(1);
  job.set_checkpoints_completed(5);
  job.set_checkpoints_failed(2);
  job.set_last_checkpoint(4);
  job.set_last_checkpoint_duration_ms(1500);
  job.set_last_checkpoint_written_bytes(70'000);
  job.set_last_checkpoint_path("/a/b");
  wire::AttemptFailure& failure = *job.add_failures();
  failure.set_attempt(1);
  failure.set_wall_time_ms(1'700'000'000'002);
  failure.set_task_manager("worker1");
  failure.mutable_failure()->set_code(3005);
  failure.mutable_failure()->set_message("gone");
  return job;
}

TEST_F(RestQuestions, AJob) {
  *backend_.answer.mutable_job() = whole_status();
  wire::ClientRequest request;
  request.mutable_job()->set_job(7001);
  request.mutable_job()->set_version_seen(8);
  request.mutable_job()->set_wait_ms(1000);
  expect_the_same(request);
}

TEST_F(RestQuestions, AProcesssLog) {
  ProcessLog log(*platform_, {.process = "jobmanager", .levels = {}});
  backend_.log = &log;
  Logger(&log, LogModule::net).info("left out", {.job = 7001});
  Logger(&log, LogModule::net).warning("kept \n", {.job = 7001, .attempt = 0, .task = "count[1]"});
  Logger(&log, LogModule::cli).error("about nobody");
  wire::ClientRequest request;
  request.mutable_process_log()->set_after(1);
  request.mutable_process_log()->set_level("warning");
  request.mutable_process_log()->set_job(7001);
  const Result<wire::ClientAnswer> heard = ask(request);
  ASSERT_TRUE(heard.ok()) << heard.status().to_string();
  const wire::ProcessLogPage& page = heard->process_log();
  EXPECT_EQ(page.process(), "jobmanager");
  EXPECT_EQ(page.first(), 1U);
  EXPECT_EQ(page.last(), 3U);
  ASSERT_EQ(page.lines_size(), 1);
  const wire::ProcessLogLine& line = page.lines(0);
  EXPECT_EQ(line.number(), 2U);
  EXPECT_EQ(line.wall_time_ms(), platform_->wall_time_ms());
  EXPECT_EQ(line.level(), "warning");
  EXPECT_EQ(line.module(), "net");
  EXPECT_EQ(line.job(), 7001U);
  EXPECT_TRUE(line.has_attempt());
  EXPECT_EQ(line.task(), "count[1]");
  EXPECT_EQ(line.text(), "kept \n");
}

TEST_F(RestQuestions, ListsOfJobsAndWorkers) {
  *backend_.answer.mutable_list()->add_jobs() = whole_status();
  backend_.answer.mutable_list()->add_jobs()->set_job(8);
  backend_.answer.mutable_list()->mutable_jobs(1)->set_state(wire::JOB_WAITING);
  wire::ClientRequest request;
  request.mutable_list();
  expect_the_same(request);

  backend_.answer.Clear();
  wire::TaskManagerStatus& worker = *backend_.answer.mutable_task_managers()->add_task_managers();
  worker.set_id("worker1");
  worker.set_address("127.0.0.1:5");
  worker.set_rest_address("127.0.0.1:9");
  worker.set_slots(4);
  worker.set_slots_free(3);
  worker.set_heartbeat_age_ms(70);
  worker.add_data_addresses()->set_address("127.0.0.1:6");
  worker.mutable_data_addresses(0)->set_interface("eth1");
  worker.add_data_addresses()->set_address("[::1]:7");
  worker.add_jobs(7001);
  wire::TaskManagerStatus& lost = *backend_.answer.mutable_task_managers()->add_task_managers();
  lost.set_id("worker2");
  lost.set_lost(true);
  lost.set_reason("silent");
  request.mutable_task_managers();
  expect_the_same(request);
}

TEST_F(RestQuestions, EndingAndSaving) {
  backend_.answer.mutable_job()->set_job(7);
  backend_.answer.mutable_job()->set_state(wire::JOB_STOPPING);
  wire::ClientRequest request;
  request.mutable_end()->set_job(7);
  request.mutable_end()->set_desired_state(wire::DESIRED_STOP);
  expect_the_same(request);
  request.mutable_end()->set_desired_state(wire::DESIRED_CANCEL);
  expect_the_same(request);

  backend_.answer.Clear();
  backend_.answer.mutable_savepoint()->set_path("/save points/ü?&%/1");
  wire::TakeSavepoint& savepoint = *request.mutable_savepoint();
  savepoint.set_job(7);
  savepoint.set_request_id((std::uint64_t{1} << 63) | 3);
  savepoint.set_directory("/save points/ü?&%");
  savepoint.set_stop(true);
  savepoint.set_wait_ms(1000);
  const Result<wire::ClientAnswer> heard = ask(request);
  ASSERT_TRUE(heard.ok()) << heard.status().to_string();
  EXPECT_EQ(heard->savepoint().path(), backend_.answer.savepoint().path());
  const wire::TakeSavepoint& asked = backend_.asked.savepoint();
  EXPECT_EQ(asked.directory(), savepoint.directory());
  EXPECT_TRUE(asked.stop());
  EXPECT_EQ(asked.wait_ms(), 1000U);
  const std::uint64_t first_id = asked.request_id();
  EXPECT_NE(first_id, 0U);
  // The same request keeps its id.
  (void)ask(request);
  EXPECT_EQ(backend_.asked.savepoint().request_id(), first_id);
}

TEST_F(RestQuestions, SubmittingUploadsWhatIsLacking) {
  wire::ClientRequest request;
  request.mutable_submit()->set_submission_id(99);
  request.mutable_submit()->add_arguments("--\xff\r\n");
  backend_.answer.mutable_submitted()->set_library_offset(4);
  expect_the_same(request);
  backend_.answer.mutable_submitted()->Clear();
  backend_.answer.mutable_submitted()->set_job(7001);
  expect_the_same(request);

  wire::LibraryPiece& piece = *request.mutable_upload();
  piece.set_hash(255);
  piece.set_offset(10);
  piece.set_total_bytes(14);
  piece.set_bytes(std::string("\0\r\n\xff", 4));
  backend_.answer.mutable_uploaded()->set_offset(14);
  expect_the_same(request);
}

TEST_F(RestQuestions, ALog) {
  wire::LogPage& page = *backend_.answer.mutable_log();
  page.set_first_line(3);
  page.set_ended(true);
  page.add_lines()->set_text("one \"line\"");
  page.mutable_lines(0)->set_wall_time_ms(1'700'000'000'001);
  wire::ClientRequest request;
  request.mutable_log()->set_job(7);
  request.mutable_log()->set_from_line(3);
  request.mutable_log()->set_wait_ms(500);
  expect_the_same(request);
}

TEST_F(RestQuestions, ThePlanHasTheGraphInPartsAndAsText) {
  const Result<JobGraph> graph = fuse(word_count().graph);
  wire::JobStatus& job = *backend_.answer.mutable_job();
  job.set_job(7);
  job.set_explanation("job graph of \"WordCount\"\n");
  to_message(*graph, *job.mutable_graph());
  job.add_task_managers("worker1");
  wire::ClientRequest request;
  request.mutable_job()->set_job(7);
  request.mutable_job()->set_with_graph(true);
  const Result<wire::ClientAnswer> heard = ask(request);
  ASSERT_TRUE(heard.ok());
  EXPECT_EQ(heard->job().explanation(), job.explanation());
  EXPECT_TRUE(backend_.asked.job().with_graph());

  JsonWriter json;
  json.begin_object();
  write_plan(json, job);
  json.end_object();
  const Result<JsonDocument> document = JsonDocument::parse(std::move(json).finish());
  ASSERT_TRUE(document.ok());
  const JsonValue plan = document->root();
  ASSERT_EQ(plan["vertices"].size(), graph->vertices.size());
  EXPECT_EQ(plan["vertices"][0]["name"].text(), graph->vertices[0].name);
  EXPECT_EQ(plan["vertices"][0]["operators"].size(), graph->vertices[0].chain.size());
  ASSERT_EQ(plan["edges"].size(), graph->edges.size());
  EXPECT_EQ(plan["edges"][0]["routing"].text(), to_string(graph->edges[0].routing));
  EXPECT_EQ(plan["task_managers"][0].text(), "worker1");
}

TEST_F(RestQuestions, AFailureKeepsItsCodeAndText) {
  to_message(Status(ErrorCode::not_found, "there is no job 7"), *backend_.answer.mutable_failure());
  wire::ClientRequest request;
  request.mutable_job()->set_job(7);
  expect_the_same(request);
}

TEST_F(RestQuestions, WhatIsNoAnswerOfAJobManagersIsRefused) {
  wire::ClientRequest request;
  request.mutable_list();
  const auto code_of = [&](int status, std::string body) {
    return rest_answer(request, {status, std::move(body), 0, true}).status().code();
  };
  EXPECT_EQ(code_of(200, "<html>"), ErrorCode::protocol_error);
  EXPECT_EQ(code_of(404, "{}"), ErrorCode::protocol_error);
  EXPECT_EQ(code_of(404, "[" + std::string(1000, '[')), ErrorCode::protocol_error);
  EXPECT_EQ(code_of(503, "too many requests are under way\n"), ErrorCode::timed_out);
  EXPECT_EQ(code_of(200, "[]"), ErrorCode::ok);
}

}  // namespace
}  // namespace hummer::rest_questions_test
