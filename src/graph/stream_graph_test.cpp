#include "graph/stream_graph.hpp"

#include <functional>

#include <gtest/gtest.h>

#include "graph/graph_builder_for_test.hpp"

namespace hummer::stream_graph_test {
namespace {

TEST(StreamGraph, AcceptsWordCount) { EXPECT_EQ(validate(word_count().graph).to_string(), "ok"); }

struct Refusal {
  const char* title;
  std::function<void(GraphBuilder&)> spoil;
  const char* message;
};

class StreamGraphRefusal : public testing::TestWithParam<Refusal> {};

TEST_P(StreamGraphRefusal, SaysWhatIsWrong) {
  GraphBuilder b = word_count();
  GetParam().spoil(b);
  const Status status = validate(b.graph);
  EXPECT_EQ(status.code(), ErrorCode::invalid_graph);
  EXPECT_EQ(status.message(), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    All, StreamGraphRefusal,
    testing::Values(
        Refusal{"empty", [](auto& b) { b.graph = {}; },
                "the job is empty; give it at least one source, such as env.from_file(...)"},
        Refusal{"same_id", [](auto& b) { b.node(3).id = 2; },
                "'flat_map' (node 2) and 'partial_count' (node 2) have the same node id; ids must "
                "be unique"},
        Refusal{"same_uid", [](auto& b) { b.node(2).uid = "counts"; },
                "'flat_map' (node 2) and 'count' (node 4) have the same uid \"counts\"; a uid "
                "names an operator's state, so give each its own"},
        Refusal{"unknown_node", [](auto& b) { b.edge(2, 9); }, "edge 2 -> 9: there is no node 9"},
        Refusal{"negative_port", [](auto& b) { b.edge(1, 2).from_port = -1; },
                "edge 'from_file' (node 1) -> 'flat_map' (node 2): output port -1 is negative"},
        Refusal{"cycle", [](auto& b) { b.edge(4, 2); },
                "the job has a cycle: 'flat_map' (node 2) -> 'partial_count' (node 3) -> 'count' "
                "(node 4) -> 'flat_map' (node 2); a stream must not lead back into itself"},
        Refusal{"self_loop", [](auto& b) { b.edge(2, 2); },
                "the job has a cycle: 'flat_map' (node 2) -> 'flat_map' (node 2); a stream must "
                "not lead back into itself"},
        Refusal{"sink_without_input", [](auto& b) { b.graph.edges.pop_back(); },
                "'print' (node 5) is a sink without input; connect a stream to it"},
        Refusal{"operator_without_input", [](auto& b) { b.op("map"); },
                "'map' (node 6) is an operator without input; connect a stream to it"},
        Refusal{"sink_with_output", [](auto& b) { b.edge(5, 2); },
                "'print' (node 5) is a sink and has no output, but 'flat_map' (node 2) reads from "
                "it"},
        Refusal{"source_with_input", [](auto& b) { b.edge(2, 1); },
                "'from_file' (node 1) is a source and takes no input, but 'flat_map' (node 2) "
                "writes to it"},
        Refusal{"forward_between_different_parallelism",
                [](auto& b) {
                  b.node(1).parallelism = 1;
                  b.node(2).parallelism = 4;
                },
                "'from_file' (node 1) has parallelism 1 and 'flat_map' (node 2) has 4, but a "
                "forward edge joins them, which connects subtask i to subtask i; use rebalance() "
                "between them or give both the same parallelism"},
        Refusal{"zero_parallelism", [](auto& b) { b.node(2).parallelism = 0; },
                "'flat_map' (node 2): parallelism is 0; it must be from 1 to 32768"},
        Refusal{"too_many_key_groups", [](auto& b) { b.node(4).key_groups = 32769; },
                "'count' (node 4): number of key groups is 32769; it must be from 1 to 32768"},
        Refusal{"min_above_max",
                [](auto& b) {
                  b.node(2).min_parallelism = 3;
                  b.node(2).max_parallelism = 2;
                },
                "'flat_map' (node 2): minimum parallelism 3 is above maximum parallelism 2"},
        Refusal{"below_min",
                [](auto& b) {
                  b.node(2).parallelism = 2;
                  b.node(2).min_parallelism = 3;
                },
                "'flat_map' (node 2): parallelism 2 is below its minimum 3"},
        Refusal{"above_max",
                [](auto& b) {
                  b.node(2).parallelism = 5;
                  b.node(2).max_parallelism = 4;
                },
                "'flat_map' (node 2): parallelism 5 is above its maximum 4"},
        Refusal{"more_subtasks_than_key_groups",
                [](auto& b) {
                  b.node(4).parallelism = 8;
                  b.node(4).key_groups = 4;
                },
                "'count' (node 4): parallelism 8 is above its 4 key groups, so some subtasks would "
                "never get a record; set more key groups or a lower parallelism"}),
    [](const auto& param_info) { return std::string(param_info.param.title); });

TEST(StreamGraph, NetworkSettingsOfAnEdgeAreRefusedByEdge) {
  GraphBuilder b = word_count();
  b.graph.edges[2].network.credits = 0;
  const Status status = validate(b.graph);
  EXPECT_EQ(status.code(), ErrorCode::invalid_configuration);
  EXPECT_EQ(status.message(),
            "edge 'partial_count' (node 3) -> 'count' (node 4): network settings: credits is 0; "
            "write a number from 1 to 65536 buffers");
}

TEST(StreamGraph, AStreamThatNobodyReadsIsRefusedByItsOperator) {
  GraphBuilder b = word_count();
  EXPECT_EQ(check_sinks(b.graph).to_string(), "ok");
  b.op("map");
  b.edge(2, 6);
  const Status status = check_sinks(b.graph);
  EXPECT_EQ(status.code(), ErrorCode::invalid_graph);
  EXPECT_EQ(status.message(),
            "nobody reads the stream of 'map' (node 6), so all that it gives would be lost; end it "
            "with a sink, such as print(), write_file(...), for_each(...) or add_sink(...)");
  b.sink("late");
  b.edge(6, 7).from_port = 1;  // a side output will do
  EXPECT_EQ(check_sinks(b.graph).to_string(), "ok");
}

TEST(StreamGraph, KeyGroupsComeFromTheNodeThenItsMaximumThenTheDefault) {
  StreamNode node;
  EXPECT_EQ(key_groups_of(node), 1024);
  node.max_parallelism = 64;
  EXPECT_EQ(key_groups_of(node), 64);
  node.key_groups = 256;
  EXPECT_EQ(key_groups_of(node), 256);
}

TEST(StreamGraph, TopologicalOrderKeepsTheOrderWritten) {
  GraphBuilder b;  // written downstream first
  b.sink("out");
  b.source("a");
  b.source("b");
  b.op("join");
  b.edge(4, 1);
  b.edge(3, 4);
  b.edge(2, 4);
  EXPECT_EQ(topological_order(b.graph), (std::vector<int>{1, 2, 3, 0}));
}

TEST(StreamGraph, AStreamMayJoinItselfTwice) {
  GraphBuilder b = word_count();
  b.edge(3, 4, Routing::hash);
  EXPECT_EQ(validate(b.graph).to_string(), "ok");
}

}  // namespace
}  // namespace hummer::stream_graph_test
