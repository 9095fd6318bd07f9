// Job functions run for their graph only, as a client and every worker do.
#include "api/job_build.hpp"

#include <gtest/gtest.h>

#include <hummer/hummer.hpp>
#include <stdexcept>

#include "graph/fingerprint.hpp"
#include "graph/job_graph.hpp"

namespace hummer::job_build_test {
namespace {

JobResult numbers(StreamExecutionEnvironment& env) {
  const std::uint64_t factor = std::stoull(env.argument("factor", "by what to multiply"));
  env.generate([](std::uint64_t index) { return index; }, {.count = 10})
      .map([factor](std::uint64_t number) { return number * factor; })
      .name("multiply")
      .print();
  return env.execute("Numbers");
}

void without_result(StreamExecutionEnvironment& env) {
  env.from_collection(std::vector<int>{1, 2, 3}).print();
  env.execute("Collection");
}

JobGraph graph_of(const Result<BuiltJob>& job) {
  EXPECT_TRUE(job.ok()) << job.status().to_string();
  Result<JobGraph> graph = fuse(job->graph);
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  return *graph;
}

TEST(BuildJob, KeepsTheGraphAndRunsNothing) {
  EnvironmentOptions defaults;
  defaults.batch_records = 77;
  const Result<BuiltJob> job = build_job(&numbers, {"--factor", "3", "--parallelism=4"}, defaults);
  ASSERT_TRUE(job.ok()) << job.status().to_string();
  EXPECT_EQ(job->job_name, "Numbers");
  EXPECT_EQ(job->graph.job_name, "Numbers");
  EXPECT_EQ(job->graph.nodes.size(), 3u);
  EXPECT_EQ(job->options.parallelism, 4);
  EXPECT_EQ(job->options.batch_records, 77u);
  EXPECT_TRUE(job->help.empty());
}

TEST(BuildJob, TakesAFunctionWithoutAResult) {
  const Result<BuiltJob> job = build_job(&call_job<&without_result>, {}, {});
  ASSERT_TRUE(job.ok()) << job.status().to_string();
  EXPECT_EQ(job->job_name, "Collection");
}

TEST(BuildJob, GivesTheSameFingerprintTwiceAndAnotherForOtherCapturedValues) {
  const JobGraph first = graph_of(build_job(&numbers, {"--factor", "3"}, {}));
  const JobGraph again = graph_of(build_job(&numbers, {"--factor", "3"}, {}));
  const JobGraph other = graph_of(build_job(&numbers, {"--factor", "4"}, {}));
  EXPECT_EQ(first.fingerprint, again.fingerprint);
  EXPECT_NE(first.fingerprint, other.fingerprint);
  EXPECT_NE(first_difference(other, operator_hashes(first)).find("operator 'multiply' differs"),
            std::string::npos);
}

TEST(BuildJob, CoversTheValuesOfACollection) {
  static int last = 3;
  const JobFunction job = [](StreamExecutionEnvironment& env) {
    env.from_collection(std::vector<int>{1, 2, last}).print();
    return env.execute("Collection");
  };
  const std::uint64_t before = graph_of(build_job(job, {}, {})).fingerprint;
  last = 4;
  EXPECT_NE(graph_of(build_job(job, {}, {})).fingerprint, before);
}

TEST(BuildJob, WrongArgumentsAreTheUsageErrorNotWhatTheFunctionMadeOfThem) {
  const Result<BuiltJob> missing = build_job(&numbers, {}, {});
  EXPECT_EQ(missing.status().code(), ErrorCode::invalid_argument);
  EXPECT_NE(missing.status().message().find("the job needs --factor"), std::string::npos);
  const Result<BuiltJob> unknown = build_job(&numbers, {"--factor", "1", "--facto", "2"}, {});
  EXPECT_EQ(unknown.status().code(), ErrorCode::unknown_option);
}

TEST(BuildJob, HelpAndExplainComeBackToBePrinted) {
  const Result<BuiltJob> help = build_job(&numbers, {"--help"}, {}, {.program = "numbers.job.so"});
  ASSERT_TRUE(help.ok()) << help.status().to_string();
  EXPECT_NE(help->help.find("--factor"), std::string::npos);
  EXPECT_NE(help->help.find("usage: numbers.job.so"), std::string::npos);
  const Result<BuiltJob> explain = build_job(&numbers, {"--factor", "1", "--explain=dot"}, {});
  ASSERT_TRUE(explain.ok()) << explain.status().to_string();
  EXPECT_EQ(explain->options.explain, "dot");
}

TEST(BuildJob, RefusesAFunctionThatThrowsOrDoesNotExecuteExactlyOnce) {
  const JobFunction throws = [](StreamExecutionEnvironment&) -> JobResult {
    throw std::runtime_error("no such table");
  };
  Status status = build_job(throws, {}, {}).status();
  EXPECT_EQ(status.code(), ErrorCode::user_function_failed);
  EXPECT_NE(status.message().find("no such table"), std::string::npos);

  const JobFunction never = [](StreamExecutionEnvironment&) { return JobResult(); };
  status = build_job(never, {}, {}).status();
  EXPECT_EQ(status.code(), ErrorCode::invalid_graph);
  EXPECT_NE(status.message().find("never called execute()"), std::string::npos);

  const JobFunction twice = [](StreamExecutionEnvironment& env) {
    without_result(env);
    return env.execute("Again");
  };
  status = build_job(twice, {}, {}).status();
  EXPECT_EQ(status.code(), ErrorCode::invalid_graph);
  EXPECT_NE(status.message().find("twice"), std::string::npos);
}

TEST(BuildJob, VariablesOfThisMachineCountOnlyWhenAskedFor) {
  ::setenv("HUMMER_BATCH_RECORDS", "5", 1);
  const Result<BuiltJob> worker = build_job(&call_job<&without_result>, {}, {});
  const Result<BuiltJob> client =
      build_job(&call_job<&without_result>, {}, {}, {.environment_variables = true});
  ::unsetenv("HUMMER_BATCH_RECORDS");
  ASSERT_TRUE(worker.ok() && client.ok());
  EXPECT_EQ(worker->options.batch_records, EnvironmentOptions().batch_records);
  EXPECT_EQ(client->options.batch_records, 5u);
}

TEST(CapturedValues, ThatCantBeComparedAreRefusedByNameUnlessTheyAreDeclared) {
  const JobFunction captures = [](StreamExecutionEnvironment& env) {
    const std::string word = env.argument("word");
    const auto has_word = [word](std::string_view line) { return line.find(word) != line.npos; };
    auto lines = env.from_collection(std::vector<std::string>{"a", "b"});
    if (env.flag("declared")) {
      lines.filter(rebuildable(has_word, word)).print();
    } else if (env.flag("promised")) {
      lines.filter(rebuildable(has_word)).print();
    } else {
      lines.filter(has_word).name("has word").print();
    }
    return env.execute("Words");
  };
  const Result<BuiltJob> refused = build_job(captures, {"--word", "a"}, {});
  EXPECT_EQ(refused.status().code(), ErrorCode::invalid_graph);
  EXPECT_NE(refused.status().message().find("'has word'"), std::string::npos);
  EXPECT_NE(refused.status().message().find("hummer::rebuildable"), std::string::npos);
  EXPECT_TRUE(build_job(captures, {"--word", "a"}, {}, {.for_cluster = false}).ok());

  const auto fingerprint_of = [&](const std::string& word, const std::string& how) {
    return graph_of(build_job(captures, {"--word", word, how}, {})).fingerprint;
  };
  EXPECT_EQ(fingerprint_of("a", "--declared"), fingerprint_of("a", "--declared"));
  EXPECT_NE(fingerprint_of("a", "--declared"), fingerprint_of("b", "--declared"));
  EXPECT_EQ(fingerprint_of("a", "--promised"), fingerprint_of("b", "--promised"));
}

TEST(CapturedValues, AreKnownWhereTheObjectsBytesSayAll) {
  const int number = 1;
  const double real = 1;
  const std::uint64_t big = 1;
  EXPECT_EQ(captured_values([] {}).hash, 0u);
  EXPECT_NE(captured_values([number] { return number; }).hash, 0u);
  EXPECT_FALSE(captured_values([number] { return number; }).unknown);
  EXPECT_TRUE(captured_values([real] { return real; }).unknown);
  // Four bytes of padding.
  EXPECT_TRUE(
      captured_values([number, big] { return big + static_cast<unsigned>(number); }).unknown);
  EXPECT_FALSE(captured_values(&numbers).unknown);
}

TEST(Environment, LastResultIsThatOfTheLastJob) {
  StreamExecutionEnvironment env;
  EXPECT_FALSE(env.last_result().ok());
  env.from_collection(std::vector<int>{1, 2, 3}).for_each([](int) {});
  env.execute_async("Three").wait();
  EXPECT_TRUE(env.last_result().ok()) << env.last_result().status.to_string();
  EXPECT_EQ(env.last_result().records_read, 3u);
}

}  // namespace
}  // namespace hummer::job_build_test
