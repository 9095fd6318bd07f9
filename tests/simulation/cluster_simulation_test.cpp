// The cluster under simulation: a few seeds for every build (bench/acceptance/cluster/04-simulation
// runs a thousand), and what the simulation itself must keep.
#include "simulation/cluster_simulation.hpp"
#include "support/drawn_cases.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "support/test_paths.hpp"

namespace hummer::cluster_simulation::cluster_simulation_test {
namespace {

class SimulatedCluster : public testing::TestWithParam<std::uint64_t> {};

TEST_P(SimulatedCluster, KeepsItsRules) {
  const Report report = simulate_cluster({.seed = GetParam()});
  for (const std::string& text : report.violations) ADD_FAILURE() << text;
  EXPECT_GE(report.faults_happened, faults_minimum);
  EXPECT_GE(report.virtual_ns, seconds(60));
}

std::vector<std::uint64_t> first_seeds() {
  std::vector<std::uint64_t> seeds;
  for (std::uint64_t seed = 1; seed <= drawn_cases(30); ++seed) seeds.push_back(seed);
  return seeds;
}
INSTANTIATE_TEST_SUITE_P(Seeds, SimulatedCluster, testing::ValuesIn(first_seeds()));

std::vector<std::uint64_t> past_seeds() {
  std::ifstream file(test_path("past_seeds"));
  std::vector<std::uint64_t> seeds;
  for (std::string line; std::getline(file, line);) {
    std::uint64_t seed = 0;
    if (std::istringstream(line) >> seed) seeds.push_back(seed);
  }
  seeds.resize(drawn_cases(seeds.size()));
  return seeds;
}
INSTANTIATE_TEST_SUITE_P(Past, SimulatedCluster, testing::ValuesIn(past_seeds()));
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SimulatedCluster);

TEST(ClusterTrace, OneSeedOneTrace) {
  const Report first = simulate_cluster({.seed = 7});
  const Report second = simulate_cluster({.seed = 7});
  EXPECT_EQ(first.trace_hash, second.trace_hash);
  EXPECT_EQ(first.steps, second.steps);
  EXPECT_NE(first.trace_hash, simulate_cluster({.seed = 8}).trace_hash);
}

wire::JobStatus status(wire::JobState state, std::uint64_t version) {
  wire::JobStatus status;
  status.set_job(1);
  status.set_name("count job1");
  status.set_state(state);
  status.set_submitted_ms(5);
  status.set_version(version);
  return status;
}

void fail_with(wire::JobStatus& status, ErrorCode code, const std::string& message) {
  status.mutable_failure()->set_code(static_cast<std::uint32_t>(code));
  status.mutable_failure()->set_message(message);
}

TEST(ClusterHistory, AnEndedJobStaysAsItEnded) {
  History history;
  history.saw_job(status(wire::JOB_RUNNING, 3));
  history.saw_job(status(wire::JOB_FINISHED, 4));
  history.saw_job(status(wire::JOB_RUNNING, 3));  // a late answer
  EXPECT_TRUE(history.violations().empty());
  history.saw_job(status(wire::JOB_RUNNING, 5));
  EXPECT_EQ(history.violations().size(), 1u);
}

TEST(ClusterHistory, FailuresHaveAReasonThatNamesTheLost) {
  wire::JobStatus failed = status(wire::JOB_FAILED, 4);
  {
    History history;
    history.saw_job(failed);
    EXPECT_EQ(history.violations().size(), 1u);
  }
  {
    History history;
    fail_with(failed, ErrorCode::peer_gone, "somebody has gone");
    history.saw_job(failed);
    EXPECT_EQ(history.violations().size(), 1u);
  }
  History history;
  fail_with(failed, ErrorCode::peer_gone, "TaskManager tm2 was lost");
  history.saw_job(failed);
  EXPECT_TRUE(history.violations().empty());
}

TEST(ClusterHistory, ASlotHasOneHolder) {
  History history;
  history.saw_slots("tm1", 0, {{1, 1, 0, {0}}, {1, 1, 1, {0}}, {2, 1, 0, {1}}});
  EXPECT_TRUE(history.violations().empty());
  history.saw_slots("tm1", 0, {{1, 1, 0, {0, 1}}, {2, 1, 1, {1}}});
  EXPECT_EQ(history.violations().size(), 1u);
}

TEST(ClusterHistory, LossesAreReportedInTime) {
  wire::TaskManagerList list;
  list.add_task_managers()->set_id("tm1");
  History history;
  history.cut_off("tm1", seconds(10));
  history.set_now(seconds(9));
  history.saw_task_managers(list);
  EXPECT_TRUE(history.violations().empty());
  history.set_now(seconds(10));
  history.saw_task_managers(list);
  EXPECT_EQ(history.violations().size(), 1u);
}

}  // namespace
}  // namespace hummer::cluster_simulation::cluster_simulation_test
