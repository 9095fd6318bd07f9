#include "protocol/graph_messages.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "graph/fingerprint.hpp"
#include "graph/graph_builder_for_test.hpp"

namespace hummer::graph_messages_test {
namespace {

JobGraph rich_graph() {
  GraphBuilder b = word_count();
  b.node(1).replayable = false;
  b.node(4).max_parallelism = 16;
  b.node(5).chain_with_upstream = false;
  b.node(5).resource_group = "sinks";
  b.node(5).parallelism = 2;
  b.graph.edges[2].network.credits = 9;
  b.graph.edges[2].is_custom = true;
  b.graph.edges[2].network.interface_or_address = "eth1";
  b.graph.edges[3].routing = Routing::rebalance;
  Result<JobGraph> graph = fuse(b.graph);
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  return std::move(*graph);
}

TEST(GraphMessages, RoundTrip) {
  const JobGraph graph = rich_graph();
  wire::JobGraph message;
  to_message(graph, message);
  const Result<JobGraph> back = job_graph_from(message);
  ASSERT_TRUE(back.ok()) << back.status().to_string();
  EXPECT_EQ(back->fingerprint, graph.fingerprint);
  EXPECT_EQ(back->job_name, graph.job_name);
  ASSERT_EQ(back->vertices.size(), graph.vertices.size());
  for (std::size_t i = 0; i < graph.vertices.size(); ++i) {
    EXPECT_EQ(back->vertices[i].range, graph.vertices[i].range);
    EXPECT_EQ(back->vertices[i].parallelism, graph.vertices[i].parallelism);
    EXPECT_EQ(back->vertices[i].resource_group, graph.vertices[i].resource_group);
    EXPECT_EQ(back->vertices[i].bounded, graph.vertices[i].bounded);
    EXPECT_EQ(back->vertices[i].name, graph.vertices[i].name);
    EXPECT_EQ(back->vertices[i].chain[0].replayable, graph.vertices[i].chain[0].replayable);
  }
  ASSERT_EQ(back->edges.size(), graph.edges.size());
  for (std::size_t i = 0; i < graph.edges.size(); ++i) {
    EXPECT_EQ(back->edges[i].network, graph.edges[i].network);
    EXPECT_EQ(back->edges[i].routing, graph.edges[i].routing);
    EXPECT_EQ(back->edges[i].key_groups, graph.edges[i].key_groups);
    EXPECT_EQ(back->edges[i].is_custom, graph.edges[i].routing == Routing::hash);
  }
}

struct Hostile {
  const char* name;
  std::function<void(wire::JobGraph&)> change;
};

TEST(GraphMessages, HostileGraphsAreRefused) {
  const std::vector<Hostile> all = {
      {"no vertex", [](auto& g) { g.clear_vertices(); }},
      {"empty chain", [](auto& g) { g.mutable_vertices(0)->clear_chain(); }},
      {"edge to nowhere", [](auto& g) { g.mutable_edges(0)->set_to(77); }},
      {"edge from nowhere", [](auto& g) { g.mutable_edges(0)->set_from(4'000'000'000u); }},
      {"cycle", [](auto& g) { g.mutable_edges(0)->set_from(g.edges(0).to()); }},
      {"routing", [](auto& g) { g.mutable_edges(0)->set_routing(4); }},
      {"transport", [](auto& g) { g.mutable_edges(0)->mutable_network()->set_transport(5); }},
      {"credits", [](auto& g) { g.mutable_edges(0)->mutable_network()->set_credits(0); }},
      {"no settings", [](auto& g) { g.mutable_edges(0)->clear_network(); }},
      {"buffer",
       [](auto& g) { g.mutable_edges(0)->mutable_network()->set_buffer_size_bytes(UINT64_MAX); }},
      {"interface",
       [](auto& g) { g.mutable_edges(0)->mutable_network()->set_interface_or_address("eth1\n"); }},
      {"key groups of a hash edge", [](auto& g) { g.mutable_edges(0)->set_key_groups(0); }},
      {"parallelism 0", [](auto& g) { g.mutable_vertices(0)->set_parallelism(0); }},
      {"parallelism", [](auto& g) { g.mutable_vertices(0)->set_parallelism(UINT32_MAX); }},
      {"minimum 0", [](auto& g) { g.mutable_vertices(0)->set_min_parallelism(0); }},
      {"range",
       [](auto& g) {
         g.mutable_vertices(0)->set_min_parallelism(9);
         g.mutable_vertices(0)->set_max_parallelism(8);
       }},
      {"kind", [](auto& g) { g.mutable_vertices(0)->mutable_chain(0)->set_kind("root"); }},
      {"no uid", [](auto& g) { g.mutable_vertices(0)->mutable_chain(0)->clear_uid(); }},
      {"long name",
       [](auto& g) {
         g.mutable_vertices(0)->set_name(std::string(max_graph_text_bytes + 1, 'x'));
       }},
      {"many vertices",
       [](auto& g) {
         while (g.vertices_size() <= max_job_vertices) *g.add_vertices() = g.vertices(0);
       }},
      {"many edges",
       [](auto& g) {
         while (g.edges_size() <= max_job_edges) *g.add_edges() = g.edges(0);
       }},
      {"many operators",
       [](auto& g) {
         wire::JobVertex& vertex = *g.mutable_vertices(0);
         while (vertex.chain_size() <= max_job_operators) *vertex.add_chain() = vertex.chain(0);
       }},
      {"fingerprint", [](auto& g) { g.set_fingerprint(g.fingerprint() ^ 1); }},
      {"another graph's fingerprint",
       [](auto& g) { g.mutable_vertices(0)->mutable_chain(0)->set_output_type("u64"); }},
  };
  for (const Hostile& hostile : all) {
    wire::JobGraph message;
    to_message(rich_graph(), message);
    hostile.change(message);
    const Result<JobGraph> graph = job_graph_from(message);
    EXPECT_FALSE(graph.ok()) << hostile.name;
  }
}

TEST(GraphMessages, FailuresKeepCodeAndText) {
  wire::Failure message;
  to_message(Status(ErrorCode::corrupt_record, "line 7: \xff"), message);
  const Status back = status_from(message);
  EXPECT_EQ(back.code(), ErrorCode::corrupt_record);
  EXPECT_EQ(back.message(), "line 7: \xff");
  EXPECT_TRUE(status_from(wire::Failure()).ok());
  message.set_code(123456);
  EXPECT_EQ(status_from(message).code(), ErrorCode::internal);
}

TEST(GraphMessages, OptionsHaveLimits) {
  wire::JobOptions options;
  EXPECT_TRUE(validate(options).ok());
  options.set_spin_us(-2);
  EXPECT_FALSE(validate(options).ok());
  options.set_spin_us(-1);
  EXPECT_TRUE(validate(options).ok());
  options.set_parallelism(UINT32_MAX);
  EXPECT_FALSE(validate(options).ok());
  options.set_parallelism(0);
  options.set_total_slots(UINT32_MAX);
  EXPECT_FALSE(validate(options).ok());
  options.set_total_slots(0);
  EXPECT_TRUE(validate(options).ok());
  options.set_window_strategy(3);
  EXPECT_FALSE(validate(options).ok());
  options.set_window_strategy(2);
  options.mutable_checkpointing()->set_alignment_timeout_ms(-1);
  EXPECT_FALSE(validate(options).ok());
}

}  // namespace
}  // namespace hummer::graph_messages_test
