// Builds stream graphs in tests: one line per operator and edge.
#pragma once

#include <string>
#include <utility>

#include "graph/job_graph.hpp"

namespace hummer {

class GraphBuilder {
 public:
  // The returned reference is good until the next call.
  StreamNode& add(OperatorKind kind, std::string name) {
    StreamNode node;
    node.id = static_cast<int>(graph.nodes.size()) + 1;
    node.name = std::move(name);
    node.kind = kind;
    node.bounded = kind == OperatorKind::source;
    graph.nodes.push_back(std::move(node));
    return graph.nodes.back();
  }
  StreamNode& source(std::string name) { return add(OperatorKind::source, std::move(name)); }
  StreamNode& op(std::string name) { return add(OperatorKind::operator_, std::move(name)); }
  StreamNode& sink(std::string name) { return add(OperatorKind::sink, std::move(name)); }

  StreamEdge& edge(int from, int to, Routing routing = Routing::forward) {
    graph.edges.push_back({from, to, 0, routing, {}, {}});
    return graph.edges.back();
  }
  StreamNode& node(int id) { return graph.nodes[id - 1]; }

  StreamGraph graph;
};

// from_file(1) → flat_map(2) → partial_count(3) ⇒hash⇒ count(4) → print(5)
inline GraphBuilder word_count() {
  GraphBuilder b;
  b.graph.job_name = "wordcount";
  b.source("from_file").output_type = "text";
  b.op("flat_map").output_type = "text";
  b.op("partial_count").output_type = "tuple<text,i64>";
  StreamNode& count = b.op("count");
  count.uid = "counts";
  count.stateful = true;
  count.output_type = "tuple<text,i64>";
  b.sink("print");
  b.edge(1, 2);
  b.edge(2, 3);
  b.edge(3, 4, Routing::hash);
  b.edge(4, 5);
  return b;
}

}  // namespace hummer
