#include "graph/regions.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "graph/graph_builder_for_test.hpp"

namespace hummer::regions_test {
namespace {

using Regions = std::vector<int>;

JobGraph fused(const GraphBuilder& builder) {
  const Result<JobGraph> graph = fuse(builder.graph);
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  return *graph;
}

// `count` pipelines source ⇒hash⇒ sink: two vertices each.
GraphBuilder pipelines(int count) {
  GraphBuilder b;
  b.graph.job_name = "pipelines";
  for (int i = 0; i < count; ++i) {
    b.source("source" + std::to_string(i)).output_type = "i64";
    b.sink("sink" + std::to_string(i));
  }
  for (int i = 0; i < count; ++i) b.edge(2 * i + 1, 2 * i + 2, Routing::hash);
  return b;
}

TEST(RegionsTest, WhatEdgesConnectIsOne) {
  const Regions regions = regions_of(fused(word_count()));
  EXPECT_EQ(regions, Regions({0, 0}));
  EXPECT_EQ(region_count(regions), 1);
}

TEST(RegionsTest, IndependentPipelinesAreApart) {
  EXPECT_EQ(region_count(regions_of(fused(pipelines(2)))), 2);
  EXPECT_EQ(region_count(regions_of(fused(pipelines(3)))), 3);
}

TEST(RegionsTest, EveryEdgeKeepsItsEndsTogetherAndNothingElseDoes) {
  const JobGraph graph = fused(pipelines(5));
  const Regions regions = regions_of(graph);
  for (const JobEdge& edge : graph.edges) EXPECT_EQ(regions[edge.from], regions[edge.to]);
  for (const JobEdge& a : graph.edges) {
    for (const JobEdge& b : graph.edges) {
      if (a.id != b.id) {
        EXPECT_NE(regions[a.from], regions[b.from]);
      }
    }
  }
}

TEST(RegionsTest, AStreamThatTwoPipelinesReadJoinsThem) {
  GraphBuilder b = pipelines(2);
  b.edge(1, 4, Routing::broadcast);
  EXPECT_EQ(region_count(regions_of(fused(b))), 1);
}

TEST(RegionsTest, AJoinOfLateNumbersKeepsTheNumbersDense) {
  GraphBuilder b = pipelines(4);
  b.edge(7, 2, Routing::hash);  // the last source feeds the first sink
  const Regions regions = regions_of(fused(b));
  EXPECT_EQ(region_count(regions), 3);
  EXPECT_EQ(regions.front(), 0);
}

TEST(RegionsTest, SlotsWithAThreadOfTheirOwnJoinWhatSharesThem) {
  GraphBuilder b = pipelines(3);
  b.node(5).resource_group = b.node(6).resource_group = "apart";
  EXPECT_EQ(region_count(regions_of(fused(b))), 3);
  EXPECT_EQ(region_count(regions_of(fused(b), {.thread_per_slot = true})), 2);
}

// source ⇒ map ⇒ sink with blocking edges.
JobGraph in_steps(const FusionOptions& options = {.exchange = ExchangeMode::blocking}) {
  GraphBuilder b;
  b.graph.job_name = "steps";
  b.source("source").output_type = "i64";
  b.op("map").output_type = "i64";
  b.sink("sink");
  b.edge(1, 2, Routing::hash);
  b.edge(2, 3, Routing::rebalance);
  const Result<JobGraph> graph = fuse(b.graph, options);
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  return *graph;
}

TEST(RegionsTest, BlockingEdgesCutAJobIntoRegionsThatReadEachOther) {
  const JobGraph graph = in_steps();
  const Regions regions = regions_of(graph, {.thread_per_slot = true});
  EXPECT_EQ(regions, Regions({0, 1, 2}));
  const std::vector<RegionLinks> links = region_links(graph, regions);
  EXPECT_TRUE(links[0].reads.empty());
  EXPECT_EQ(links[1].reads, Regions({0}));
  EXPECT_EQ(links[2].reads, Regions({1}));
  EXPECT_TRUE(links[0].is_read && links[1].is_read && !links[2].is_read);
  EXPECT_TRUE(links[0].subtasks_apart && links[1].subtasks_apart && links[2].subtasks_apart);
}

TEST(RegionsTest, ThereMayBeManyOfAJobWithBlockingEdges) {
  GraphBuilder b = pipelines(3 * max_regions);
  const Result<JobGraph> graph = fuse(b.graph, {.exchange = ExchangeMode::blocking});
  ASSERT_TRUE(graph.ok());
  EXPECT_EQ(region_count(regions_of(*graph)), 6 * max_regions);
}

TEST(RegionsTest, AnExchangeWithinARegionTiesItsSubtasks) {
  GraphBuilder b = pipelines(1);
  b.sink("more");
  b.edge(1, 3, Routing::hash).network.exchange = ExchangeMode::blocking;
  const JobGraph graph = fused(b);
  const std::vector<RegionLinks> links = region_links(graph, regions_of(graph));
  ASSERT_EQ(links.size(), 2u);
  EXPECT_FALSE(links[0].subtasks_apart);
  EXPECT_TRUE(links[1].subtasks_apart);
}

TEST(RegionsTest, TheWholeJobsExchangeIsForBoundedJobs) {
  GraphBuilder b = pipelines(2);
  b.node(3).bounded = false;
  const Result<JobGraph> graph = fuse(b.graph, {.exchange = ExchangeMode::blocking});
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  EXPECT_FALSE(has_blocking_edges(*graph));
  EXPECT_EQ(graph->fingerprint, fused(b).fingerprint);
}

// source ⇒ sort → merge ⇒ sink
TEST(RegionsTest, WhoTellsSubtasksApartReadsTheirChannels) {
  GraphBuilder b;
  b.source("source");
  b.op("sort");
  b.op("merge");
  b.sink("sink");
  b.edge(1, 2, Routing::rebalance);
  b.edge(2, 3, Routing::rebalance).is_ordered = true;
  b.edge(3, 4, Routing::rebalance);
  const Result<JobGraph> graph = fuse(b.graph, {.exchange = ExchangeMode::blocking});
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  EXPECT_EQ(regions_of(*graph), (std::vector<int>{0, 1, 1, 2}));
  EXPECT_FALSE(graph->edges[1].is_blocking());
}

TEST(RegionsTest, ABlockingEdgeChangesTheFingerprint) {
  EXPECT_NE(in_steps().fingerprint, in_steps({}).fingerprint);
}

TEST(RegionsTest, ABlockingEdgeBehindAnUnboundedSourceIsRefused) {
  GraphBuilder b = pipelines(1);
  b.node(1).bounded = false;
  b.graph.edges[0].network.exchange = ExchangeMode::blocking;
  const Result<JobGraph> graph = fuse(b.graph);
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.status().code(), ErrorCode::invalid_graph);
  EXPECT_NE(graph.status().message().find("'source0' -> 'sink0'"), std::string::npos);
}

TEST(RegionsTest, ABlockingEdgeThatAnotherOneLeadsPastIsRefused) {
  GraphBuilder b = pipelines(1);
  b.op("aside");
  b.edge(1, 3, Routing::hash).network.exchange = ExchangeMode::blocking;
  b.edge(3, 2, Routing::hash);
  const Result<JobGraph> graph = fuse(b.graph);
  ASSERT_FALSE(graph.ok());
  EXPECT_NE(graph.status().message().find("'source0' -> 'aside'"), std::string::npos)
      << graph.status().to_string();
}

TEST(RegionsTest, ThereAreNoMoreThanTheMost) {
  const JobGraph graph = fused(pipelines(3 * max_regions));
  const Regions regions = regions_of(graph);
  EXPECT_EQ(region_count(regions), max_regions);
  for (const JobEdge& edge : graph.edges) EXPECT_EQ(regions[edge.from], regions[edge.to]);
}

}  // namespace
}  // namespace hummer::regions_test
