#include <hummer/status.hpp>

#include <cstdio>
#include <cstdlib>

namespace hummer {

Status::Status(ErrorCode code, std::string message)
    : failure_(std::make_unique<Failure>(Failure{code, std::move(message)})) {}
Status::Status(ErrorCode code, const char* message) : Status(code, std::string(message)) {}

std::unique_ptr<Status::Failure> Status::copied() const {
  return std::make_unique<Failure>(*failure_);
}

const std::string& Status::message() const {
  static const std::string empty;
  return failure_ ? failure_->message : empty;
}

Status Status::with_context(std::string_view context) const {
  if (ok()) return {};
  return {failure_->code, std::string(context) + ": " + failure_->message};
}

std::string Status::to_string() const {
  if (ok()) return "ok";
  return "E" + std::to_string(static_cast<unsigned>(failure_->code)) + ": " + failure_->message;
}

void assertion_failed(const char* what, const char* file, int line) {
  std::fprintf(stderr, "hummer: assertion failed: %s at %s:%d\n", what, file, line);
  std::abort();
}

}  // namespace hummer
