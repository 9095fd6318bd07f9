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

TEST(RegionsTest, ThereAreNoMoreThanTheMost) {
  const JobGraph graph = fused(pipelines(3 * max_regions));
  const Regions regions = regions_of(graph);
  EXPECT_EQ(region_count(regions), max_regions);
  for (const JobEdge& edge : graph.edges) EXPECT_EQ(regions[edge.from], regions[edge.to]);
}

}  // namespace
}  // namespace hummer::regions_test
