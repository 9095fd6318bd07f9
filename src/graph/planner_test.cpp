#include "graph/planner.hpp"

#include <gtest/gtest.h>

#include <hummer/detail/operators/factory.hpp>

#include "graph/fingerprint.hpp"
#include "graph/job_graph.hpp"

namespace hummer::planner_test {
namespace {

class NamedPartitioner final : public PartitionerFactory {
 public:
  std::unique_ptr<Partitioner> make(std::uint32_t, std::uint32_t) const override { return {}; }
};

StreamNode node(int id, std::string name, OperatorKind kind) {
  StreamNode node;
  node.id = id;
  node.name = std::move(name);
  node.kind = kind;
  return node;
}

// source → part ⇒ count → write: `part` reads a side output, and stands there without checkpoints.
StreamGraph written() {
  StreamGraph graph;
  graph.job_name = "job";
  graph.nodes = {node(0, "source", OperatorKind::source), node(1, "part", OperatorKind::operator_),
                 node(2, "count", OperatorKind::operator_), node(3, "write", OperatorKind::sink)};
  graph.nodes[1].planned_for = PlannedFor::no_checkpoints;
  graph.nodes[3].parallelism_without_checkpoints = 1;
  StreamEdge in{0, 1, 1, Routing::forward, {}, {}};
  StreamEdge exchange{1, 2, 0, Routing::hash, {.credits = 3}, {}};
  exchange.partitioner = std::make_shared<NamedPartitioner>();
  exchange.partitioner_past = std::make_shared<NamedPartitioner>();
  StreamEdge out{2, 3, 0, Routing::forward, {}, {}};
  out.automatic = true;
  graph.edges = {in, exchange, out};
  return graph;
}

TEST(Planner, WhatThePlanWantsStaysAsItWasWritten) {
  const StreamGraph graph = written();
  const StreamGraph planned = plan(graph, {});
  ASSERT_EQ(planned.nodes.size(), 4u);
  EXPECT_EQ(planned.nodes[1].name, "part");
  EXPECT_EQ(planned.edges[0].from_port, 1);
  EXPECT_EQ(planned.edges[1].partitioner, graph.edges[1].partitioner);
  EXPECT_EQ(planned.nodes[3].parallelism, 1);
  EXPECT_EQ(planned.edges[2].routing, Routing::rebalance);
}

TEST(Planner, WhatItDoesNotWantIsPassedOverAndTheOthersAreNumberedAnew) {
  const StreamGraph graph = written();
  const StreamGraph planned = plan(graph, {.checkpoints = true});
  ASSERT_EQ(planned.nodes.size(), 3u);
  for (std::size_t i = 0; i < planned.nodes.size(); ++i) {
    EXPECT_EQ(planned.nodes[i].id, static_cast<int>(i));
  }
  EXPECT_EQ(planned.nodes[1].name, "count");
  ASSERT_EQ(planned.edges.size(), 2u);
  EXPECT_EQ(planned.edges[0].from, 0);
  EXPECT_EQ(planned.edges[0].from_port, 1);
  EXPECT_EQ(planned.edges[0].to, 1);
  EXPECT_EQ(planned.edges[0].network.credits, 3);
  EXPECT_EQ(planned.edges[0].partitioner, graph.edges[1].partitioner_past);
  EXPECT_EQ(planned.nodes[2].parallelism, std::nullopt);
  EXPECT_EQ(planned.edges[1].routing, Routing::forward);
}

// source → part ⇒ count, and beside its parts it may pass records.
TEST(Planner, ABypassIsThereWhereRecordsMayPass) {
  StreamGraph graph = written();
  graph.nodes[1].planned_for = PlannedFor::partial_windows;
  StreamEdge bypass{1, 2, 1, Routing::hash, {}, {}};
  bypass.partitioner = graph.edges[1].partitioner_past;
  bypass.is_bypass = true;
  graph.edges.push_back(bypass);
  const StreamGraph measured = plan(graph, {.partial_windows = true});
  const StreamGraph folding = plan(graph, {.partial_windows = true, .folding = Folding::always});
  const StreamGraph older = plan(graph, {.partial_windows = true, .bypass = false});
  const StreamGraph past = plan(graph, {});
  ASSERT_EQ(measured.edges.size(), 4u);
  EXPECT_EQ(measured.edges[3].partitioner, bypass.partitioner);
  EXPECT_EQ(folding.edges.size(), 3u);
  EXPECT_EQ(older.edges.size(), 3u);
  ASSERT_EQ(past.edges.size(), 2u);
  EXPECT_EQ(past.edges[0].partitioner, graph.edges[1].partitioner_past);
  // State is found by uid, whichever of both was chosen.
  const Result<JobGraph> with = fuse(measured), without = fuse(folding);
  ASSERT_TRUE(with.ok() && without.ok());
  ASSERT_EQ(with->vertices.size(), without->vertices.size());
  for (std::size_t i = 0; i < with->vertices.size(); ++i) {
    EXPECT_EQ(with->vertices[i].uid, without->vertices[i].uid);
  }
  // Together they have the credits of one.
  EXPECT_EQ(without->edges[1].network.credits, 3);
  EXPECT_EQ(with->edges[1].network.credits, 2);
  EXPECT_EQ(with->edges[3].network.credits, NetworkSettings().credits / 2);
}

TEST(Planner, SaysWhatAPreAggregationDoesAndWhy) {
  const auto strategy = [](PreAggregation part, const Plan& plan) {
    StreamGraph graph = written();
    graph.nodes[2].pre_aggregation = part;
    return hummer::plan(graph, plan).nodes[2].strategy;
  };
  using enum PreAggregation;
  EXPECT_EQ(strategy(none, {}), "");
  const std::string measured =
      "measured per epoch (folds up to 0.5 parts per record, 0.15 where the exchange is in memory, "
      "else passes records on)";
  EXPECT_EQ(strategy(partial, {}), "automatic: " + measured);
  EXPECT_EQ(
      strategy(paired_partial, {}),
      "always folds: halves share a slot's table; where they run in different slots, " + measured);
  for (const PreAggregation part : {partial, paired_partial}) {
    EXPECT_EQ(strategy(part, {.folding = Folding::always}),
              "always folds: window-strategy is late_merge");
    EXPECT_EQ(strategy(part, {.folding = Folding::off}),
              "passes records on: window-strategy is repartition");
  }
  EXPECT_EQ(strategy(forced_partial, {.folding = Folding::off}),
            "always folds: the window's own strategy is late_merge");
  EXPECT_EQ(strategy(merge, {.partial_windows = true}), "");
  EXPECT_EQ(strategy(merge, {.folding = Folding::off}),
            "none, records are re-partitioned: window-strategy is repartition");
  EXPECT_EQ(strategy(merge, {}),
            "none, records are re-partitioned: parallelism 1 without checkpoints");
}

TEST(Planner, TheAuthorsParallelismGoesFirst) {
  StreamGraph graph = written();
  graph.nodes[3].parallelism = 4;
  EXPECT_EQ(plan(graph, {}).nodes[3].parallelism, 4);
}

// As if it had been written without: the same fingerprint, for state and for workers.
TEST(Planner, APlannedGraphIsTheGraphWithoutAlternatives) {
  StreamGraph plain = written();
  plain.nodes.erase(plain.nodes.begin() + 1);
  for (std::size_t i = 0; i < plain.nodes.size(); ++i) plain.nodes[i].id = static_cast<int>(i);
  plain.edges = {{0, 1, 1, Routing::hash, {}, {}}, {1, 2, 0, Routing::forward, {}, {}}};
  const Result<JobGraph> by_hand = fuse(plain);
  const Result<JobGraph> by_plan = fuse(plan(written(), {.checkpoints = true}));
  ASSERT_TRUE(by_hand.ok() && by_plan.ok());
  EXPECT_EQ(by_plan->fingerprint, by_hand->fingerprint);
  EXPECT_EQ(operator_hashes(*by_plan), operator_hashes(*by_hand));
}

}  // namespace
}  // namespace hummer::planner_test
