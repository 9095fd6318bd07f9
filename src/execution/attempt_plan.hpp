// What the files of Attempt share: its plan, and the guarded call. Nobody else includes this.
#pragma once

#include <exception>
#include <string>

#include "execution/attempt.hpp"

namespace hummer {

// Between the job function and the deployment.
struct Attempt::Plan {
  StreamGraph stream;
  JobGraph job;
  ExecutionGraph execution;
  DeploymentOptions options;
};

// Calls what runs user code; an exception becomes the failure of `what`.
template <typename Function>
auto guarded(const std::string& what, Function&& function) -> decltype(function()) {
  std::string thrown;
  try {
    return function();
  } catch (const std::exception& error) {
    thrown = error.what();
  } catch (...) {
    thrown = "an exception that is no std::exception";
  }
  return Status(ErrorCode::user_function_failed, what + " failed: " + thrown);
}

}  // namespace hummer
