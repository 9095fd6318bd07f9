#include "rest/rest_api.hpp"

#include <gtest/gtest.h>

#include <deque>

#include <hummer/detail/engine_metrics.hpp>

#include "observability/metrics_text.hpp"
#include "observability/process_log.hpp"
#include "platform/run_task.hpp"
#include "platform/simulation.hpp"
#include "protocol/metric_messages.hpp"
#include "rest/rest_routes.hpp"

namespace hummer::rest_api_test {
namespace {

class FakeBackend final : public RestBackend {
 public:
  Task<wire::ClientAnswer> ask(wire::ClientRequest request) override {
    asked.push_back(std::move(request));
    wire::ClientAnswer answer;
    if (!answers.empty()) {
      answer = std::move(answers.front());
      answers.pop_front();
    }
    co_return answer;
  }
  std::string metrics() override { return "hummer_task_managers 1\n"; }
  Status ready() override { return readiness; }
  std::int64_t wall_time_ms() override { return 1'000'000; }
  std::uint64_t draw() override { return 4; }
  std::uint64_t numbering() const override { return 12; }
  const ProcessLog* process_log() override { return log; }

  std::deque<wire::ClientAnswer> answers;
  std::vector<wire::ClientRequest> asked;
  Status readiness;
  const ProcessLog* log = nullptr;
};

class RestApiTest : public testing::Test {
 public:
  RestApiTest() : platform_(make_simulated_platform({})) {
    executor_ = platform_->make_executor({.name = "rest"});
  }
  ~RestApiTest() override { executor_->stop(); }

  HttpResponse call(std::string method, std::string_view target, std::string body = {},
                    std::string type = {}, std::string token = {}) {
    HttpRequest request;
    request.method = std::move(method);
    EXPECT_TRUE(parse_http_target(target, request));
    request.body = std::move(body);
    request.content_type = std::move(type);
    if (!token.empty()) request.authorization = "Bearer " + token;
    RestApi api(backend_, access_, server_);
    auto response = run_task(*platform_, *executor_, api.handle(std::move(request)));
    EXPECT_TRUE(response.has_value());
    return response.value_or(HttpResponse());
  }

  std::unique_ptr<SimulatedPlatform> platform_;
  std::unique_ptr<Executor> executor_;
  FakeBackend backend_;
  RestAccess access_;
  RestServer server_ = RestServer::job_manager;
};

TEST_F(RestApiTest, AJobIsAskedForByNumber) {
  wire::ClientAnswer& answer = backend_.answers.emplace_back();
  answer.mutable_job()->set_job(7);
  answer.mutable_job()->set_name("the \"job\"\n");
  answer.mutable_job()->set_state(wire::JOB_RUNNING);
  const HttpResponse response = call("GET", "/v1/jobs/7");
  EXPECT_EQ(response.status, 200);
  EXPECT_NE(response.body.find("\"job\": 7"), std::string::npos) << response.body;
  EXPECT_NE(response.body.find("\"state\": \"running\""), std::string::npos) << response.body;
  ASSERT_EQ(backend_.asked.size(), 1U);
  EXPECT_EQ(backend_.asked[0].job().job(), 7U);
}

TEST_F(RestApiTest, APreAggregationShowsWhatItHasChosen) {
  wire::JobStatus& job = *backend_.answers.emplace_back().mutable_job();
  job.set_job(7);
  job.set_state(wire::JOB_RUNNING);
  wire::VertexStatus& vertex = *job.add_vertices();
  vertex.set_name("numbers → partial_count");
  vertex.set_parallelism(2);
  vertex.add_operators("partial_count");
  vertex.add_kinds("operator");
  to_message({{.name = std::string(detail::folds_now.name),
               .kind = detail::folds_now.kind,
               .count = 2,
               .sum = 1,
               .min = 0,
               .max = 1},
              {.name = std::string(detail::records_passed.name),
               .kind = detail::records_passed.kind,
               .count = 1234}},
             *vertex.mutable_metrics()->add_operators());
  std::string body = call("GET", "/v1/jobs/7").body;
  std::erase_if(body, [](char c) { return c == ' ' || c == '\n'; });
  EXPECT_NE(body.find("\"metrics\":[{\"name\":\"pre_aggregation.folds\",\"kind\":\"gauge\","
                      "\"count\":2,\"sum\":1,\"min\":0,\"max\":1},"
                      "{\"name\":\"pre_aggregation.records_passed\",\"kind\":\"counter\","
                      "\"count\":1234}]"),
            body.npos)
      << body;
}

TEST_F(RestApiTest, TheProcesssLogIsReadFromALineOn) {
  ProcessLog log(*platform_, {.process = "taskmanager", .levels = {}});
  const Logger logger(&log, LogModule::net);
  logger.info("one");
  logger.error("two \"\n", {.job = 7, .attempt = 2});
  EXPECT_NE(call("GET", "/v1/logs").body.find("\"lines\": []"), std::string::npos);
  backend_.log = &log;
  const std::string all = call("GET", "/v1/logs").body;
  EXPECT_NE(all.find("\"message\": \"one\""), std::string::npos) << all;
  const std::string rest = call("GET", "/v1/logs?after=1&level=warning&job=7").body;
  EXPECT_EQ(rest.find("\"message\": \"one\""), std::string::npos) << rest;
  EXPECT_NE(rest.find("\"message\": \"two \\\""), std::string::npos) << rest;
  EXPECT_NE(rest.find("\"attempt\": 2"), std::string::npos) << rest;
  EXPECT_NE(rest.find("\"last\": 2"), std::string::npos) << rest;
  EXPECT_EQ(call("GET", "/v1/logs?level=loud").status, 400);
  EXPECT_TRUE(backend_.asked.empty());
}

TEST_F(RestApiTest, ATaskManagerAnswersForItselfOnly) {
  server_ = RestServer::task_manager;
  access_.token = "secret";
  for (const char* path : {"/healthz", "/readyz", "/v1/openapi.json"}) {
    EXPECT_EQ(call("GET", path).status, 200) << path;
  }
  for (const char* path : {"/metrics", "/v1/logs"}) {
    EXPECT_EQ(call("GET", path).status, 401) << path;
    EXPECT_EQ(call("GET", path, "", "", "secret").status, 200) << path;
  }
  for (const char* path : {"/v1/jobs", "/v1/overview", "/v1/taskmanagers"}) {
    EXPECT_EQ(call("GET", path, "", "", "secret").status, 404) << path;
  }
  EXPECT_TRUE(backend_.asked.empty());
}

TEST_F(RestApiTest, FailuresHaveTheirStatus) {
  const auto fail = [&](ErrorCode code) {
    wire::ClientAnswer& answer = backend_.answers.emplace_back();
    answer.mutable_failure()->set_code(static_cast<std::uint32_t>(code));
    answer.mutable_failure()->set_message("because");
    return call("GET", "/v1/jobs/7").status;
  };
  EXPECT_EQ(fail(ErrorCode::not_found), 404);
  EXPECT_EQ(fail(ErrorCode::invalid_argument), 400);
  EXPECT_EQ(fail(ErrorCode::limit_exceeded), 413);
  EXPECT_EQ(fail(ErrorCode::internal), 500);
}

TEST_F(RestApiTest, WhatDoesNotFitIsRefusedUnasked) {
  EXPECT_EQ(call("GET", "/v1/nothing").status, 404);
  EXPECT_EQ(call("GET", "/v1/jobs/").status, 404);
  EXPECT_EQ(call("GET", "/v1/jobs/x").status, 400);
  EXPECT_EQ(call("GET", "/v1/jobs/-1").status, 400);
  EXPECT_EQ(call("GET", "/v1/jobs/99999999999999999999").status, 400);
  EXPECT_EQ(call("GET", "/v1/jobs?state=asleep").status, 400);
  EXPECT_EQ(call("PUT", "/v1/libraries/XYZ", "x", "application/octet-stream").status, 400);
  EXPECT_EQ(call("POST", "/v1/jobs", "{}", "application/json").status, 415);
  EXPECT_EQ(call("POST", "/v1/jobs", "\xff\xff", "application/octet-stream").status, 400);
  const HttpResponse refused = call("DELETE", "/v1/jobs");
  EXPECT_EQ(refused.status, 405);
  ASSERT_FALSE(refused.headers.empty());
  EXPECT_EQ(refused.headers[0], std::pair(std::string("Allow"), std::string("GET, POST")));
  EXPECT_TRUE(backend_.asked.empty());
}

TEST_F(RestApiTest, TheTokenIsNeededButForHealth) {
  access_.token = "sesame";
  for (const RestRoute& route : rest_routes()) {
    std::string path(route.path);
    for (auto at = path.find('{'); at != path.npos; at = path.find('{')) {
      path.replace(at, path.find('}') - at + 1, "1");
    }
    const HttpResponse without = call(std::string(route.method), path);
    const HttpResponse wrong = call(std::string(route.method), path, {}, {}, "sesame2");
    EXPECT_EQ(without.status == 401, !route.open) << route.path;
    EXPECT_EQ(wrong.status == 401, !route.open) << route.path;
    const HttpResponse right = call(std::string(route.method), path, {}, {}, "sesame");
    EXPECT_NE(right.status, 401) << route.path;
  }
}

TEST_F(RestApiTest, ASavepointIsAskedForOnce) {
  backend_.answers.emplace_back().mutable_savepoint();
  const HttpResponse waiting = call("POST", "/v1/jobs/3/savepoint?directory=%2Fa%20b&stop=true");
  EXPECT_EQ(waiting.status, 200);
  EXPECT_NE(waiting.body.find("\"complete\": false"), std::string::npos) << waiting.body;
  backend_.answers.emplace_back().mutable_savepoint()->set_path("/a b/savepoint-1");
  const HttpResponse there = call("POST", "/v1/jobs/3/savepoint?request_id=77&wait_ms=1000");
  EXPECT_NE(there.body.find("\"path\": \"/a b/savepoint-1\""), std::string::npos) << there.body;
  ASSERT_EQ(backend_.asked.size(), 2U);
  EXPECT_EQ(backend_.asked[0].savepoint().directory(), "/a b");
  EXPECT_TRUE(backend_.asked[0].savepoint().stop());
  EXPECT_NE(backend_.asked[0].savepoint().request_id(), 0U);
  EXPECT_EQ(backend_.asked[1].savepoint().request_id(), 77U);
  EXPECT_FALSE(backend_.asked[1].savepoint().stop());
  EXPECT_EQ(call("POST", "/v1/jobs/3/savepoint?stop=perhaps").status, 400);
  EXPECT_EQ(call("POST", "/v1/jobs/3/savepoint?directory=a%00b").status, 400);
  const std::string path(1024, 'd');
  EXPECT_EQ(call("POST", "/v1/jobs/3/savepoint?directory=" + path).status, 200);
  EXPECT_EQ(call("POST", "/v1/jobs/3/savepoint?directory=" + path + "d").status, 400);
}

TEST_F(RestApiTest, AnotherJobManagersJobIsNotAsked) {
  backend_.answers.emplace_back().mutable_job()->set_job(3);
  HttpRequest request;
  request.method = "POST";
  ASSERT_TRUE(parse_http_target("/v1/jobs/3/cancel", request));
  RestApi api(backend_, access_);
  request.numbering = "13";
  auto other = run_task(*platform_, *executor_, api.handle(request));
  EXPECT_EQ(other->status, 404);
  EXPECT_TRUE(backend_.asked.empty());
  request.numbering = "12";
  auto same = run_task(*platform_, *executor_, api.handle(request));
  EXPECT_EQ(same->status, 202);
  EXPECT_EQ(same->headers.back(), std::pair(std::string(numbering_header), std::string("12")));
}

TEST_F(RestApiTest, EndingAJobSaysWhatIsAsked) {
  (void)call("POST", "/v1/jobs/3/stop");
  (void)call("POST", "/v1/jobs/4/cancel");
  ASSERT_EQ(backend_.asked.size(), 2U);
  EXPECT_EQ(backend_.asked[0].end().job(), 3U);
  EXPECT_EQ(backend_.asked[0].end().desired_state(), wire::DESIRED_STOP);
  EXPECT_EQ(backend_.asked[1].end().job(), 4U);
  EXPECT_EQ(backend_.asked[1].end().desired_state(), wire::DESIRED_CANCEL);
}

TEST_F(RestApiTest, ALibraryComesInPieces) {
  backend_.answers.emplace_back().mutable_uploaded()->set_offset(14);
  const HttpResponse response =
      call("PUT", "/v1/libraries/00000000000000ff?offset=10&total_bytes=20", "abcd",
           "application/octet-stream");
  EXPECT_EQ(response.status, 200);
  ASSERT_EQ(backend_.asked.size(), 1U);
  const wire::LibraryPiece& piece = backend_.asked[0].upload();
  EXPECT_EQ(piece.hash(), 255U);
  EXPECT_EQ(piece.offset(), 10U);
  EXPECT_EQ(piece.total_bytes(), 20U);
  EXPECT_EQ(piece.bytes(), "abcd");
}

TEST_F(RestApiTest, ReadinessSaysWhyNot) {
  EXPECT_EQ(call("GET", "/readyz").status, 200);
  backend_.readiness = {ErrorCode::io_error, "the journal can't be written"};
  const HttpResponse response = call("GET", "/readyz");
  EXPECT_EQ(response.status, 503);
  EXPECT_NE(response.body.find("journal"), std::string::npos);
}

TEST(Metrics, TheTableIsSortedAndTyped) {
  std::string last;
  for (const Metric& metric : metrics_table()) {
    EXPECT_LT(last, metric.name);
    last = metric.name;
    const bool of_authors = metric.name.find("user_NAME") != std::string_view::npos;
    EXPECT_TRUE(metric.type == "counter" || metric.type == "gauge" ||
                (of_authors && metric.type == "gauge or histogram"))
        << metric.name;
    EXPECT_EQ(metric.type == "counter", metric.name.ends_with("_total")) << metric.name;
    EXPECT_TRUE(metric.help.ends_with('.')) << metric.name;
  }
}

TEST(Metrics, SamplesOfOneMetricStandTogetherAndLabelsAreQuoted) {
  MetricsText text;
  text.sample("hummer_slots", {{"task_manager", "a\"b\\c\nd"}}, std::uint64_t{4});
  text.sample("hummer_connections", {}, std::uint64_t{2});
  text.sample("hummer_slots", {{"task_manager", "e"}}, std::uint64_t{1});
  EXPECT_EQ(std::move(text).finish(),
            "# HELP hummer_connections Connections that are open on the control port.\n"
            "# TYPE hummer_connections gauge\n"
            "hummer_connections 2\n"
            "# HELP hummer_slots Slots that a TaskManager offers.\n"
            "# TYPE hummer_slots gauge\n"
            "hummer_slots{task_manager=\"a\\\"b\\\\c\\nd\"} 4\n"
            "hummer_slots{task_manager=\"e\"} 1\n");
}

}  // namespace
}  // namespace hummer::rest_api_test
