// Client requests: what the JobManager answers, one function per request.
//
// Pure: a request that has to wait for a change (long poll) is not answered yet, and asked again
// when something changed or its time is over. No request changes anything twice.
#pragma once

#include "job_manager/cluster_state.hpp"

namespace hummer {

// False: not yet. With `time_is_over` there always is an answer.
bool answer_request(ClusterState& cluster, const wire::ClientRequest& request, bool time_is_over,
                    Moment at, wire::ClientAnswer& answer);

// How long the request may wait.
Nanoseconds patience(const wire::ClientRequest& request);

}  // namespace hummer
