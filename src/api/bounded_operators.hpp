// Operators that hold the whole of their input (hummer/detail/operators/bounded_operators.hpp):
// what a job with one of them must be like. Pure.
#pragma once

#include <hummer/status.hpp>

#include "graph/stream_graph.hpp"

namespace hummer {

bool is_bounded_operator(const StreamNode& node);

// invalid_graph where a source above one of them does not end, invalid_configuration where the job
// takes checkpoints: both name the operator, and what to do.
Status check_bounded_operators(const StreamGraph& graph, bool checkpoints);

}  // namespace hummer
