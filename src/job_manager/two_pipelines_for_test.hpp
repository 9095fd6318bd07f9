// A job of two regions for tests of the JobManager, and what its tasks say.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include <hummer/codec.hpp>

#include "graph/graph_builder_for_test.hpp"
#include "protocol/graph_messages.hpp"
#include "state/checkpoint_store.hpp"

namespace hummer {

// Two pipelines, each in a slot of its own: regions 0 and 1.
inline wire::SubmitJob two_pipelines(const CheckpointOptions& checkpoints,
                                     const RestartStrategy& restart) {
  GraphBuilder b;
  b.graph.job_name = "two";
  for (const char* group : {"left", "right"}) {
    const std::string name(group);
    b.source(name + " source").output_type = "i64";
    b.graph.nodes.back().resource_group = group;
    b.sink(name + " sink").resource_group = group;
  }
  b.edge(1, 2, Routing::hash);
  b.edge(3, 4, Routing::hash);
  wire::SubmitJob request;
  request.set_submission_id(0xabc);
  const Result<JobGraph> graph = fuse(b.graph);
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  to_message(*graph, *request.mutable_graph());
  request.mutable_options()->set_parallelism(1);
  to_message(checkpoints, *request.mutable_options()->mutable_checkpointing());
  to_message(restart, *request.mutable_options()->mutable_restarting());
  return request;
}

inline CheckpointOptions every_100_ms() {
  CheckpointOptions options;
  options.directory = "/d";
  options.interval_ms = 100;
  return options;
}

// What a task says that has saved its state.
inline void add_saved(wire::AttemptReport& report, std::uint32_t task, std::uint64_t checkpoint) {
  CheckpointFile file;
  file.name = "f";
  std::string bytes;
  ByteWriter out(bytes);
  Codec<CheckpointFile>::encode(file, out);
  wire::SnapshotReport& saved = *report.add_snapshots();
  saved.set_checkpoint(checkpoint);
  saved.set_task(task);
  saved.set_file(std::string(out.view()));
}

}  // namespace hummer
