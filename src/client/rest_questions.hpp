// Requests of clients as HTTP requests of the REST API, and its answers back: what the table of
// routes (rest/rest_routes.cpp) is to the JobManager.
//
// Pure. Errors of rest_answer: protocol_error when it is no answer of a JobManager's. What the
// JobManager refused is the failure inside the answer.
#pragma once

#include "http/http_answer.hpp"
#include "protocol/control.pb.h"

namespace hummer {

HttpQuestion rest_question(const wire::ClientRequest& request);
Result<wire::ClientAnswer> rest_answer(const wire::ClientRequest& request, HttpAnswer answer);

}  // namespace hummer
