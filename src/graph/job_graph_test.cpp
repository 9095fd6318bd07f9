#include "graph/job_graph.hpp"

#include <functional>

#include <gtest/gtest.h>

#include "graph/fingerprint.hpp"
#include "graph/graph_builder_for_test.hpp"

namespace hummer::job_graph_test {
namespace {

TEST(Fuse, WordCountBecomesTwoChains) {
  const Result<JobGraph> job = fuse(word_count().graph);
  ASSERT_TRUE(job.ok()) << job.status().to_string();
  ASSERT_EQ(job->vertices.size(), 2u);
  EXPECT_EQ(job->vertices[0].name, "from_file → flat_map → partial_count");
  EXPECT_EQ(job->vertices[1].name, "count → print");
  EXPECT_EQ(job->vertices[1].uid, "counts");
  EXPECT_EQ(job->vertices[1].range, (ParallelismRange{1, 1024}));
  EXPECT_TRUE(job->vertices[1].bounded);
  ASSERT_EQ(job->edges.size(), 1u);
  EXPECT_EQ(job->edges[0].routing, Routing::hash);
  EXPECT_EQ(job->edges[0].key_groups, 1024);
  EXPECT_EQ(job->edges[0].decision.reason, "hash exchange");
}

TEST(Fuse, InvalidGraphIsRefused) { EXPECT_EQ(fuse({}).status().code(), ErrorCode::invalid_graph); }

// source(1) → map(2), spoiled in one way each.
struct FusionCase {
  const char* title;
  std::function<void(GraphBuilder&)> change;
  FusionVerdict verdict;
  const char* reason;
};

class FusionTable : public testing::TestWithParam<FusionCase> {};

TEST_P(FusionTable, Decides) {
  GraphBuilder b;
  b.source("source");
  b.op("map");
  b.edge(1, 2);
  GetParam().change(b);
  ASSERT_EQ(validate(b.graph).to_string(), "ok");
  const FusionDecision decision =
      can_fuse(b.graph, b.graph.edges[0], parallelism_range(b.graph, b.node(1)), FusionOptions{});
  EXPECT_EQ(to_string(decision.verdict), to_string(GetParam().verdict));
  EXPECT_EQ(decision.reason, GetParam().reason);

  const Result<JobGraph> job = fuse(b.graph);
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(job->decisions[0], decision);
}

INSTANTIATE_TEST_SUITE_P(
    All, FusionTable,
    testing::Values(
        FusionCase{"forward", [](auto&) {}, FusionVerdict::fused, ""},
        FusionCase{"equal_parallelism",
                   [](auto& b) { b.node(1).parallelism = b.node(2).parallelism = 3; },
                   FusionVerdict::fused, ""},
        FusionCase{"meeting_ranges",
                   [](auto& b) {
                     b.node(1).max_parallelism = 4;
                     b.node(2).min_parallelism = 4;
                   },
                   FusionVerdict::fused, ""},
        FusionCase{"disjoint_ranges",
                   [](auto& b) {
                     b.node(1).max_parallelism = 4;
                     b.node(2).min_parallelism = 5;
                   },
                   FusionVerdict::parallelism_ranges_disjoint,
                   "parallelism 1..4 and at least 5 do not meet"},
        FusionCase{"one_unset", [](auto& b) { b.node(1).parallelism = 1; },
                   FusionVerdict::parallelism_differs, "declared parallelism 1 and unset"},
        FusionCase{"hash", [](auto& b) { b.graph.edges[0].routing = Routing::hash; },
                   FusionVerdict::not_forward, "hash exchange"},
        FusionCase{"rebalance", [](auto& b) { b.graph.edges[0].routing = Routing::rebalance; },
                   FusionVerdict::not_forward, "rebalance exchange"},
        FusionCase{"broadcast", [](auto& b) { b.graph.edges[0].routing = Routing::broadcast; },
                   FusionVerdict::not_forward, "broadcast exchange"},
        FusionCase{"group", [](auto& b) { b.node(2).resource_group = "gpu"; },
                   FusionVerdict::resource_group_differs, "resource groups \"\" and \"gpu\""},
        FusionCase{"upstream_forbids", [](auto& b) { b.node(1).chain_with_downstream = false; },
                   FusionVerdict::upstream_forbids,
                   "'source' (node 1) forbids chaining with its downstream"},
        FusionCase{"downstream_forbids", [](auto& b) { b.node(2).chain_with_upstream = false; },
                   FusionVerdict::downstream_forbids,
                   "'map' (node 2) forbids chaining with its upstream"},
        FusionCase{"two_inputs",
                   [](auto& b) {
                     b.source("other");
                     b.edge(3, 2);
                   },
                   FusionVerdict::downstream_has_several_inputs, "'map' (node 2) has 2 inputs"},
        FusionCase{"two_outputs",
                   [](auto& b) {
                     b.sink("print");
                     b.edge(1, 3);
                   },
                   FusionVerdict::upstream_has_several_outputs,
                   "'source' (node 1) has 2 outgoing edges"},
        FusionCase{"side_output", [](auto& b) { b.graph.edges[0].from_port = 1; },
                   FusionVerdict::side_output, "side output 1"},
        FusionCase{"transport",
                   [](auto& b) { b.graph.edges[0].network.transport = Transport::tcp; },
                   FusionVerdict::transport_requested, "the edge asks for the tcp transport"}),
    [](const auto& param_info) { return std::string(param_info.param.title); });

TEST(Fuse, SwitchedOffKeepsEveryOperatorApart) {
  const Result<JobGraph> job = fuse(word_count().graph, {.enabled = false});
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(job->vertices.size(), 5u);
  EXPECT_EQ(job->edges.size(), 4u);
  EXPECT_EQ(job->edges[0].decision.verdict, FusionVerdict::fusion_disabled);
}

TEST(Fuse, TheRangeOfTheWholeChainCounts) {
  GraphBuilder b;  // 1..6, 3..8, 7..9: neighbours meet, the three do not
  b.source("a").max_parallelism = 6;
  StreamNode& second = b.op("b");
  second.min_parallelism = 3;
  second.max_parallelism = 8;
  StreamNode& third = b.op("c");
  third.min_parallelism = 7;
  third.max_parallelism = 9;
  b.edge(1, 2);
  b.edge(2, 3);
  const Result<JobGraph> job = fuse(b.graph);
  ASSERT_TRUE(job.ok());
  ASSERT_EQ(job->vertices.size(), 2u);
  EXPECT_EQ(job->vertices[0].range, (ParallelismRange{3, 6}));
  EXPECT_EQ(job->edges[0].decision.reason, "parallelism 3..6 and 7..9 do not meet");
}

TEST(Fuse, InputsAreNumberedAsWritten) {
  GraphBuilder b;
  b.source("a");
  b.source("b");
  b.op("join");
  b.edge(2, 3, Routing::hash);
  b.edge(1, 3, Routing::broadcast);
  const Result<JobGraph> job = fuse(b.graph);
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(job->edges[0].from, 1);
  EXPECT_EQ(job->edges[0].to_input, 0);
  EXPECT_EQ(job->edges[1].from, 0);
  EXPECT_EQ(job->edges[1].to_input, 1);
}

TEST(Fuse, AVertexIsBoundedWhenEverySourceAboveItIs) {
  GraphBuilder b;
  b.source("file");
  b.source("socket").bounded = false;
  b.op("union");
  b.edge(1, 3, Routing::rebalance);
  b.edge(2, 3, Routing::rebalance);
  const Result<JobGraph> job = fuse(b.graph);
  ASSERT_TRUE(job.ok());
  EXPECT_TRUE(job->vertices[0].bounded);
  EXPECT_FALSE(job->vertices[1].bounded);
  EXPECT_FALSE(job->vertices[2].bounded);
}

TEST(Fuse, GeneratedUidsAreUniqueAndDoNotDependOnFusion) {
  GraphBuilder b;
  for (int i = 0; i < 3; ++i) b.source("twin");
  b.op("union");
  for (int i = 1; i <= 3; ++i) b.edge(i, 4, Routing::rebalance);
  b.op("map");
  b.edge(4, 5);
  const auto uids = [&](bool fusion) {
    const Result<JobGraph> job = fuse(b.graph, {.enabled = fusion});
    std::vector<std::string> all;
    for (const JobVertex& vertex : job->vertices) {
      for (const ChainedOperator& op : vertex.chain) all.push_back(op.uid);
    }
    return all;
  };
  const std::vector<std::string> fused = uids(true);
  EXPECT_EQ(fused, uids(false));
  ASSERT_EQ(fused.size(), 5u);
  EXPECT_EQ(fused[1], fused[0] + "-2");
  EXPECT_EQ(fused[2], fused[0] + "-3");
}

TEST(Fingerprint, IsTheSameOnEveryMachine) {
  // Changing this number makes every running job's workers disagree: do it on purpose.
  EXPECT_EQ(fuse(word_count().graph)->fingerprint, 0x20dbfbb4f8acde32ull);
}

TEST(Fingerprint, CoversWhatTheJobMeansAndNothingElse) {
  const auto with = [](std::function<void(GraphBuilder&)> change) {
    GraphBuilder b = word_count();
    change(b);
    const Result<JobGraph> job = fuse(b.graph);
    EXPECT_TRUE(job.ok()) << job.status().to_string();
    return job->fingerprint;
  };
  const std::uint64_t plain = with([](auto&) {});
  EXPECT_NE(plain, with([](auto& b) { b.node(2).name = "split"; }));
  EXPECT_NE(plain, with([](auto& b) { b.node(4).uid = "totals"; }));
  EXPECT_NE(plain, with([](auto& b) { b.node(3).output_type = "tuple<text,i32>"; }));
  EXPECT_NE(plain, with([](auto& b) { b.node(4).key_groups = 512; }));
  EXPECT_NE(plain, with([](auto& b) { b.node(2).stateful = true; }));
  EXPECT_NE(plain, with([](auto& b) { b.node(2).captured_hash = 7; }));
  EXPECT_NE(plain, with([](auto& b) { b.graph.edges[2].routing = Routing::rebalance; }));
  EXPECT_NE(plain, with([](auto& b) { b.graph.edges[3].routing = Routing::rebalance; }));
  EXPECT_NE(plain, with([](auto& b) { b.edge(3, 4, Routing::hash); }));

  EXPECT_EQ(plain, with([](auto& b) {
              for (StreamNode& node : b.graph.nodes) node.parallelism = 2;
            }));
  EXPECT_EQ(plain, with([](auto& b) {
              for (StreamNode& node : b.graph.nodes) node.resource_group = "blue";
            }));
  EXPECT_EQ(plain, with([](auto& b) { b.graph.edges[2].network.credits = 4; }));
  EXPECT_EQ(plain, with([](auto& b) {
              for (StreamNode& node : b.graph.nodes) node.id += 100;
              for (StreamEdge& edge : b.graph.edges) edge.from += 100, edge.to += 100;
            }));
}

TEST(Fingerprint, NamesTheFirstOperatorThatDiffers) {
  const auto job = [](auto change) {
    GraphBuilder b = word_count();
    change(b);
    return *fuse(b.graph);
  };
  const JobGraph plain = job([](auto&) {});
  const std::vector<std::uint64_t> expected = operator_hashes(plain);
  EXPECT_EQ(expected.size(), 5u);
  const JobGraph captured = job([](auto& b) { b.node(2).captured_hash = 7; });
  EXPECT_NE(first_difference(captured, expected).find("'flat_map' differs (in what its function"),
            std::string::npos);
  const JobGraph longer = job([](auto& b) {
    b.op("filter").output_type = "text";
    b.edge(1, 6);
    b.sink("print");
    b.edge(6, 7);
  });
  EXPECT_EQ(first_difference(longer, expected), "it has 7 operators instead of 5");
  const JobGraph routed = job([](auto& b) { b.node(2).chain_with_downstream = false; });
  EXPECT_EQ(first_difference(routed, expected), "its edges differ");
}

}  // namespace
}  // namespace hummer::job_graph_test
