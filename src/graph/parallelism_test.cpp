#include "graph/parallelism.hpp"

#include <gtest/gtest.h>

#include "graph/graph_builder_for_test.hpp"

namespace hummer::parallelism_test {
namespace {

// `count` vertices in a row, joined by rebalance edges.
GraphBuilder row(int count) {
  GraphBuilder b;
  b.source("v0");
  for (int i = 1; i < count; ++i) {
    b.op("v" + std::to_string(i));
    b.edge(i, i + 1, Routing::rebalance);
  }
  return b;
}

Result<std::vector<int>> resolve(const GraphBuilder& b, const ParallelismOptions& options) {
  const Result<JobGraph> job = fuse(b.graph);
  EXPECT_TRUE(job.ok()) << job.status().to_string();
  return resolve_parallelism(*job, options);
}

std::vector<int> resolved(const GraphBuilder& b, const ParallelismOptions& options) {
  const Result<std::vector<int>> result = resolve(b, options);
  EXPECT_TRUE(result.ok()) << result.status().to_string();
  return result.ok() ? *result : std::vector<int>{};
}

using Numbers = std::vector<int>;
constexpr SlotSharing exclusive = SlotSharing::exclusive;

TEST(Parallelism, SharedSlotsGiveEveryUnsetVertexAllOfThem) {
  GraphBuilder b = row(3);
  b.node(1).parallelism = 1;
  EXPECT_EQ(resolved(b, {.free_slots = 6}), (Numbers{1, 6, 6}));
  b.node(2).max_parallelism = 4;
  EXPECT_EQ(resolved(b, {.free_slots = 6}), (Numbers{1, 4, 6}));
}

TEST(Parallelism, ResourceGroupsDivideTheSharedSlots) {
  GraphBuilder b = row(3);
  b.node(3).resource_group = "gpu";
  EXPECT_EQ(resolved(b, {.free_slots = 7}), (Numbers{4, 4, 3}));
}

TEST(Parallelism, TheDefaultHoldsWithinMinimumAndMaximum) {
  GraphBuilder b = row(4);
  b.node(1).max_parallelism = 2;
  b.node(2).min_parallelism = 6;
  b.node(3).parallelism = 3;
  EXPECT_EQ(resolved(b, {.free_slots = 8, .default_parallelism = 4}), (Numbers{2, 6, 3, 4}));
}

TEST(Parallelism, ExclusiveSlotsAreSharedEvenly) {
  GraphBuilder b = row(3);
  EXPECT_EQ(resolved(b, {.sharing = exclusive, .free_slots = 8}), (Numbers{3, 3, 2}));
  b.node(2).parallelism = 4;
  EXPECT_EQ(resolved(b, {.sharing = exclusive, .free_slots = 9}), (Numbers{3, 4, 2}));
  b.node(1).max_parallelism = 1;
  EXPECT_EQ(resolved(b, {.sharing = exclusive, .free_slots = 9}), (Numbers{1, 4, 4}));
}

TEST(Parallelism, TheTotalBoundsTheShare) {
  const GraphBuilder b = row(2);
  EXPECT_EQ(resolved(b, {.sharing = exclusive, .free_slots = 9, .total_slots = 4}),
            (Numbers{2, 2}));
  EXPECT_EQ(resolved(b, {.free_slots = 9, .total_slots = 4}), (Numbers{4, 4}));
}

TEST(Parallelism, ForwardEdgesKeepBothEndsEqual) {
  GraphBuilder b = row(3);
  b.graph.edges[0].routing = Routing::forward;
  b.node(1).parallelism = 2;  // declared against unset: not fused, but still equal
  EXPECT_EQ(resolved(b, {.free_slots = 5}), (Numbers{2, 2, 5}));
  EXPECT_EQ(resolved(b, {.free_slots = 5, .default_parallelism = 4}), (Numbers{2, 2, 4}));

  GraphBuilder pair = row(3);
  pair.graph.edges[0].routing = Routing::forward;
  pair.node(2).chain_with_upstream = false;
  EXPECT_EQ(resolved(pair, {.sharing = exclusive, .free_slots = 6}), (Numbers{2, 2, 2}));
  // One slot is left, which only the third can take: the pair grows by two.
  EXPECT_EQ(resolved(pair, {.sharing = exclusive, .free_slots = 7}), (Numbers{2, 2, 3}));
}

TEST(Parallelism, ForwardEdgesThatCannotAgreeAreRefused) {
  GraphBuilder b = row(3);
  for (StreamEdge& edge : b.graph.edges) edge.routing = Routing::forward;
  b.node(1).parallelism = 2;
  b.node(3).parallelism = 3;
  Status status = resolve(b, {.free_slots = 8}).status();
  EXPECT_EQ(status.code(), ErrorCode::invalid_graph);
  EXPECT_NE(status.message().find("'v2' must have parallelism 2"), std::string::npos)
      << status.message();

  b.node(3).parallelism.reset();
  b.node(3).min_parallelism = 4;
  status = resolve(b, {.free_slots = 8}).status();
  EXPECT_EQ(status.code(), ErrorCode::invalid_graph);
  EXPECT_NE(status.message().find("allows only 4"), std::string::npos) << status.message();

  b.node(1).parallelism.reset();
  b.node(1).max_parallelism = 3;
  status = resolve(b, {.free_slots = 8}).status();
  EXPECT_EQ(status.code(), ErrorCode::invalid_graph);
  EXPECT_NE(status.message().find("rebalance()"), std::string::npos) << status.message();
}

TEST(Parallelism, TooFewSlotsSayHowManyAreNeeded) {
  GraphBuilder b = row(2);
  b.node(2).parallelism = 4;
  Status status = resolve(b, {.free_slots = 3}).status();
  EXPECT_EQ(status.code(), ErrorCode::not_enough_slots);
  EXPECT_EQ(status.message(),
            "the job needs 4 slots but 3 are free; start another TaskManager, give one more "
            "slots, or lower the parallelism");
  status = resolve(b, {.free_slots = 8, .total_slots = 3}).status();
  EXPECT_EQ(status.code(), ErrorCode::not_enough_slots);
  EXPECT_NE(status.message().find("its total is set to 3"), std::string::npos);
  EXPECT_EQ(resolve(b, {.sharing = exclusive, .free_slots = 4}).status().code(),
            ErrorCode::not_enough_slots);
  EXPECT_EQ(resolve(b, {.free_slots = 0}).status().code(), ErrorCode::not_enough_slots);
  EXPECT_EQ(resolved(b, {.free_slots = 3, .allow_oversubscription = true}), (Numbers{1, 4}));
}

TEST(Parallelism, NonsenseOptionsAreRefused) {
  const GraphBuilder b = row(1);
  EXPECT_EQ(resolve(b, {.free_slots = 1, .default_parallelism = 0}).status().code(),
            ErrorCode::invalid_configuration);
  EXPECT_EQ(resolve(b, {.free_slots = 1, .total_slots = 0}).status().code(),
            ErrorCode::invalid_configuration);
}

// source ⇒ map → sink, all parallelism unset, with the first edge blocking.
JobGraph reading() {
  GraphBuilder b;
  b.source("source");
  b.op("map");
  b.sink("sink").chain_with_upstream = false;
  b.edge(1, 2, Routing::hash).network.exchange = ExchangeMode::blocking;
  b.edge(2, 3);
  return *fuse(b.graph);
}

std::vector<int> narrowed_to(const JobGraph& graph, int planned, std::uint64_t bytes,
                             const std::vector<int>& regions = {0, 1, 1}) {
  std::vector<int> result;
  for (const NarrowedVertex& each :
       narrowed(graph, regions, 1, std::vector<int>(regions.size(), planned),
                std::vector<std::uint64_t>(graph.edges.size(), bytes), 100)) {
    result.push_back(each.parallelism);
    EXPECT_EQ(each.bytes, each.parallelism > 0 ? bytes : 0);
  }
  return result;
}

TEST(Narrowed, AsManyAsTheBytesNeedAndTheNumberOfPartitionsAllows) {
  const JobGraph graph = reading();
  EXPECT_EQ(narrowed_to(graph, 12, 0), (std::vector<int>{0, 1, 1}));
  EXPECT_EQ(narrowed_to(graph, 12, 100), (std::vector<int>{0, 1, 1}));
  EXPECT_EQ(narrowed_to(graph, 12, 101), (std::vector<int>{0, 2, 2}));
  EXPECT_EQ(narrowed_to(graph, 12, 450), (std::vector<int>{0, 6, 6})) << "5 do not divide 12";
  EXPECT_EQ(narrowed_to(graph, 12, 700), (std::vector<int>{0, 0, 0}));
  EXPECT_EQ(narrowed_to(graph, 12, UINT64_MAX), (std::vector<int>{0, 0, 0}));
  EXPECT_EQ(narrowed_to(graph, 7, 150), (std::vector<int>{0, 0, 0}));
  EXPECT_EQ(narrowed_to(graph, 1, 0), (std::vector<int>{0, 0, 0}));
  EXPECT_EQ(may_be_narrowed(graph, {0, 1, 1}), (std::vector<bool>{false, true, true}));
}

TEST(Narrowed, WhatIsAskedForStays) {
  JobGraph graph = reading();
  graph.vertices[2].parallelism = 12;
  EXPECT_EQ(narrowed_to(graph, 12, 0), (std::vector<int>{0, 0, 0})) << "a forward edge joins them";
  EXPECT_EQ(may_be_narrowed(graph, {0, 1, 1}), (std::vector<bool>{false, false, false}));
  graph = reading();
  graph.vertices[1].range.min = 3;
  EXPECT_EQ(narrowed_to(graph, 12, 0), (std::vector<int>{0, 3, 3}));
  graph = reading();
  graph.edges[0].routing = Routing::forward;
  EXPECT_EQ(narrowed_to(graph, 12, 0), (std::vector<int>{0, 0, 0}));
  graph = reading();
  graph.edges[0].is_custom = true;
  EXPECT_EQ(narrowed_to(graph, 12, 0), (std::vector<int>{0, 0, 0})) << "it may know its subtask";
}

// files ⇒ join ← numbers, where the second edge is `with`.
JobGraph reading_beside(Routing with) {
  GraphBuilder b;
  b.source("files");
  b.source("numbers").chain_with_downstream = false;
  b.sink("join");
  b.edge(1, 3, Routing::hash).network.exchange = ExchangeMode::blocking;
  b.edge(2, 3, with);
  return *fuse(b.graph);
}

TEST(Narrowed, WhoAlsoReadsWhatNobodyHasCountedStays) {
  const std::vector<int> regions = {0, 1, 1};
  EXPECT_EQ(narrowed_to(reading_beside(Routing::hash), 4, 0, regions), (std::vector<int>{0, 0, 0}));
  EXPECT_EQ(narrowed_to(reading_beside(Routing::forward), 4, 0, regions),
            (std::vector<int>{0, 0, 0}));
  EXPECT_EQ(narrowed_to(reading_beside(Routing::broadcast), 4, 0, regions),
            (std::vector<int>{0, 0, 1}))
      << "all of it comes to each subtask anyway";
}

}  // namespace
}  // namespace hummer::parallelism_test
