// Jobs with checkpoints whose source cannot hand out again what a restart has lost: whoever starts
// one is told, once.
#include <gtest/gtest.h>

#include <hummer/hummer.hpp>

#include "api/environment_impl.hpp"
#include "checkpoints/failing_jobs.hpp"
#include "checkpoints/simulated_cluster.hpp"
#include "platform/simulation.hpp"

namespace hummer::unreplayable_sources_test {
namespace {

using Index = std::uint64_t;
constexpr std::string_view warning = "cannot be replayed";

// Nobody knocks again because nobody was listening.
class Knocks final : public SourceFunction<Index> {
 public:
  explicit Knocks(bool replayable) : replayable_(replayable) {}
  OperatorResult produce(SourceOutput<Index>& out) override {
    for (; knocks_ < 1000 && !out.full(); ++knocks_) out.emit(knocks_);
    return knocks_ < 1000 ? OperatorResult::more : OperatorResult::done;
  }
  bool replayable() const override { return replayable_; }

 private:
  const bool replayable_;
  Index knocks_ = 0;
};

std::size_t count_of(std::string_view part, std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++count;
  return count;
}

class UnreplayableSources : public testing::Test {
 protected:
  UnreplayableSources() : node_(make_simulated_platform({.seed = 5})) {
    options_.platform = node_.get();
    options_.quiet = false;
    options_.parallelism = 1;
    options_.checkpoints.directory = "/checkpoints";
    options_.checkpoints.interval_ms = 20;
    options_.restart = RestartStrategy::fixed_delay(20, 5);
  }
  JobResult run(bool replayable) {
    StreamExecutionEnvironment env(options_);
    env.from_source<Index>(
           "knocks", [=] { return std::make_unique<Knocks>(replayable); }, true)
        .map([this](Index i) {
          failures_.maybe_throw();
          return i;
        })
        .write_file("/out");
    return env.execute("knocks");
  }

  std::unique_ptr<SimulatedPlatform> node_;
  EnvironmentOptions options_;
  PlannedFailures failures_;
};

TEST_F(UnreplayableSources, AreToldOnceByName) {
  failures_.left = 2;
  failures_.every = 700;
  const JobResult result = run(false);
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_LE(failures_.left.load(), 0);
  const std::string& said = node_->standard(2);
  EXPECT_EQ(count_of(warning, said), 1u) << said;
  EXPECT_EQ(count_of("hummer: warning: source 'knocks' (node 0)", said), 1u) << said;
}

TEST_F(UnreplayableSources, OthersAreNotTold) {
  ASSERT_TRUE(run(true).ok());
  EXPECT_EQ(count_of(warning, node_->standard(2)), 0u) << node_->standard(2);
}

TEST_F(UnreplayableSources, NeitherAreThoseOfJobsWithoutCheckpoints) {
  options_.checkpoints = {};
  ASSERT_TRUE(run(false).ok());
  EXPECT_EQ(count_of(warning, node_->standard(2)), 0u) << node_->standard(2);
}

TEST_F(UnreplayableSources, AreExplained) {
  options_.explain = "text";
  StreamExecutionEnvironment env(options_);
  env.from_socket("localhost:7000").print();
  ASSERT_TRUE(env.execute("lines").ok());
  const std::string& said = node_->standard(1);
  EXPECT_EQ(count_of("0 from_socket: source, unbounded, cannot be replayed", said), 1u) << said;
}

JobResult knocks_on_a_cluster(StreamExecutionEnvironment& env) {
  env.from_source<Index>(
         "knocks", [] { return std::make_unique<Knocks>(false); }, true)
      .write_file("/out");
  return env.execute("knocks");
}

std::size_t count_in(const KeptLog& log, std::string_view part) {
  std::size_t count = 0;
  for (const std::string& text : log.texts()) count += count_of(part, text);
  return count;
}

TEST_F(UnreplayableSources, AreInTheLogOfTheJobManagerAndToldByTheClient) {
  SimulatedCluster cluster(5, 1, 1, &knocks_on_a_cluster);
  options_.platform = &cluster.client_node;
  options_.job_manager = "jobmanager:6123";
  StreamExecutionEnvironment env(options_);
  env.impl().origin = JobOrigin{.library_hash = SimulatedCluster::library_hash,
                                .library = {},
                                .library_name = "job",
                                .program = "job"};
  const JobResult result = knocks_on_a_cluster(env);
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  const std::string& said = cluster.client_node.standard(2);
  EXPECT_EQ(count_of("hummer: warning: source 'knocks' (node 0) cannot", said), 1u) << said;
  EXPECT_EQ(count_in(cluster.log, "job 1: source 'knocks' (node 0) cannot be replayed"), 1u);

  cluster.restart_job_manager();
  cluster.let_pass(milliseconds(100));
  EXPECT_EQ(count_in(cluster.log, warning), 1u);
}

}  // namespace
}  // namespace hummer::unreplayable_sources_test
