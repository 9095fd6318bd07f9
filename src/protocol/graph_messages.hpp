// Graphs, failures and options as messages, and back.
//
// What comes from a wire is held against every rule that the graph module relies on: indexes in
// range, known enums, upstream before downstream, ranges that are not empty, settings that
// validate() accepts, limits on counts and texts, and a fingerprint that agrees. So what
// job_graph_from() returns may be given to resolve_parallelism() and place() without further ado.
// A JobGraph loses its fusion decisions on the way: they are for the author's --explain only.
//
// Pure. Errors: protocol_error that says which vertex or edge is wrong; invalid_configuration from
// validate(NetworkSettings).
#pragma once

#include <hummer/checkpointing.hpp>

#include "graph/job_graph.hpp"
#include "protocol/control.pb.h"

namespace hummer {

inline constexpr int max_job_vertices = 1000;
inline constexpr int max_job_edges = 10'000;
inline constexpr int max_job_operators = 10'000;
inline constexpr std::size_t max_graph_text_bytes = 16 * 1024;  // of one name, uid or type
inline constexpr int max_job_arguments = 10'000;
inline constexpr std::size_t max_job_argument_bytes = std::size_t{1} << 20;  // in all

void to_message(const JobGraph& graph, wire::JobGraph& message);
Result<JobGraph> job_graph_from(const wire::JobGraph& message);

// An ok() status is code 0.
void to_message(const Status& status, wire::Failure& message);
// A code that this engine doesn't know becomes `internal`.
Status status_from(const wire::Failure& message);

void to_message(const CheckpointOptions& options, wire::Checkpointing& message);
void to_message(const RestartStrategy& strategy, wire::Restarting& message);
CheckpointOptions checkpoint_options_from(const wire::Checkpointing& message);
RestartStrategy restart_strategy_from(const wire::Restarting& message);

// Whether the options are within their limits. 0 stands for "not set" everywhere.
Status validate(const wire::JobOptions& options);

}  // namespace hummer
