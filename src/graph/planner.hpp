// plan: of the graph as it was written, with its alternatives, the graph that a job's options ask
// for.
//
// Nodes that the plan does not want are passed over: the edge that leads out of one begins where
// the edge into it began. Factories make the operators of this plan, parallelism that depends on it
// is set, and the edges that were left to the engine are decided: forward where both ends have the
// same declared parallelism, else rebalance.
//
// Of operators that take part in a pre-aggregation it says what was chosen, and why.
//
// What is left is numbered anew in the order in which it was written: ids are positions, as if
// nothing else had been written. So the graph, its uids and its fingerprint depend on the options
// as the job is executed with, never on when they were set, and are the same on every worker.
//
// Pure. REQUIRES: node ids are positions; a node that may be passed over has one input.
#pragma once

#include "graph/stream_graph.hpp"

namespace hummer {

StreamGraph plan(const StreamGraph& written, const Plan& plan);

}  // namespace hummer
