#include "protocol/placement.hpp"

#include <gtest/gtest.h>

#include "graph/fingerprint.hpp"
#include "graph/graph_builder_for_test.hpp"

namespace hummer::placement_test {
namespace {

JobGraph graph_of_word_count() {
  Result<JobGraph> graph = fuse(word_count().graph);
  EXPECT_TRUE(graph.ok());
  return std::move(*graph);
}

wire::PlacedWorker& add(PlacedWorkers& workers, const std::string& id, unsigned slots) {
  wire::PlacedWorker& worker = *workers.Add();
  worker.set_id(id);
  worker.set_slots(slots);
  return worker;
}

TEST(PlacementTest, EqualFactsGiveEqualHashes) {
  const JobGraph graph = graph_of_word_count();
  PlacedWorkers workers;
  add(workers, "tm1", 2).add_occupied(0);
  add(workers, "tm2", 2);
  wire::JobOptions options;
  const Result<ExecutionGraph> one = place_on_cluster(graph, workers, options);
  const Result<ExecutionGraph> two = place_on_cluster(graph, workers, options);
  ASSERT_TRUE(one.ok()) << one.status().to_string();
  EXPECT_EQ(execution_hash(*one), execution_hash(*two));
  EXPECT_EQ(one->parallelism.front(), 3);
  EXPECT_EQ(one->task_managers[0].used_slots, std::vector<int>{1});

  workers.Mutable(0)->set_occupied(0, 1);
  const Result<ExecutionGraph> three = place_on_cluster(graph, workers, options);
  ASSERT_TRUE(three.ok());
  EXPECT_NE(execution_hash(*one), execution_hash(*three));
}

TEST(PlacementTest, OptionsDecideTheWidth) {
  const JobGraph graph = graph_of_word_count();
  PlacedWorkers workers;
  add(workers, "tm1", 8);
  wire::JobOptions options;
  options.set_parallelism(3);
  EXPECT_EQ(place_on_cluster(graph, workers, options)->parallelism.front(), 3);
  options.set_parallelism(0);
  options.set_total_slots(2);
  EXPECT_EQ(place_on_cluster(graph, workers, options)->parallelism.front(), 2);
  options.set_parallelism(9);
  options.set_total_slots(0);
  EXPECT_EQ(place_on_cluster(graph, workers, options).status().code(), ErrorCode::not_enough_slots);
}

TEST(PlacementTest, RefusesListsThatMakeNoSense) {
  const JobGraph graph = graph_of_word_count();
  wire::JobOptions options;
  PlacedWorkers many_slots;
  add(many_slots, "tm1", 4'000'000'000u);
  EXPECT_EQ(place_on_cluster(graph, many_slots, options).status().code(),
            ErrorCode::protocol_error);
  PlacedWorkers far_slot;
  add(far_slot, "tm1", 1).add_occupied(4'000'000'000u);
  EXPECT_EQ(place_on_cluster(graph, far_slot, options).status().code(), ErrorCode::protocol_error);
  PlacedWorkers none;
  EXPECT_FALSE(place_on_cluster(graph, none, options).ok());
}

TEST(PlacementTest, RefusesMoreChannelsThanAProcessShouldHold) {
  const JobGraph graph = graph_of_word_count();
  EXPECT_TRUE(check_connected_pairs(graph, {1000, 1000}).ok());
  EXPECT_EQ(check_connected_pairs(graph, {30'000, 30'000}).code(), ErrorCode::limit_exceeded);
}

}  // namespace
}  // namespace hummer::placement_test
