// Status and Result: how an expected failure travels.
//
// Expected failures on data and I/O paths are values of these types. An
// exception thrown by a user function ends the job, not the worker. Assertions
// (HUMMER_ASSERT) are for our own mistakes and stay on in release builds.
//
// Success is a null pointer, so passing a Status through costs one test.
// Every code is stable and searchable: tests assert the number, users look it
// up in docs/errors.md. Codes are grouped by thousand: 1000 what was asked,
// 2000 the graph, 3000 running it, 4000 files and disks, 5000 the network,
// 9000 our own mistakes.
//
// Thread: values; use one from one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace hummer {

enum class ErrorCode : std::uint16_t {
  ok = 0,
  invalid_argument = 1000,
  invalid_configuration = 1001,
  unknown_option = 1002,
  invalid_graph = 2000,
  not_enough_slots = 2001,
  user_function_failed = 3000,
  cancelled = 3001,
  operator_failed = 3002,
  corrupt_record = 3003,
  limit_exceeded = 3004,
  peer_gone = 3005,
  timed_out = 3006,
  not_found = 4000,
  permission_denied = 4001,
  not_a_file = 4002,
  corrupt_file = 4003,
  file_changed = 4004,
  disk_full = 4005,
  io_error = 4006,
  connection_refused = 5000,
  connection_lost = 5001,
  address_in_use = 5002,
  name_not_resolved = 5003,
  protocol_error = 5004,
  tls_failed = 5005,
  internal = 9000,
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  // Cold: a way to a failure is unlikely, and need not be fast.
  [[gnu::cold]] Status(ErrorCode code, std::string message);
  [[gnu::cold]] Status(ErrorCode code, const char* message);
  Status(const Status& other) : failure_(other.failure_ ? other.copied() : nullptr) {}
  Status& operator=(const Status& other) {
    if (this != &other) *this = Status(other);
    return *this;
  }
  Status(Status&&) noexcept = default;
  Status& operator=(Status&&) noexcept = default;

  bool ok() const { return failure_ == nullptr; }
  ErrorCode code() const { return failure_ ? failure_->code : ErrorCode::ok; }
  const std::string& message() const;

  // The same failure with `context` and ": " before its message.
  Status with_context(std::string_view context) const;

  // "E4000: message", or "ok".
  std::string to_string() const;

 private:
  struct Failure {
    ErrorCode code;
    std::string message;
  };
  [[gnu::cold]] std::unique_ptr<Failure> copied() const;
  std::unique_ptr<Failure> failure_;
};

// A value or the Status that says why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T success) : value_(std::move(success)) {}      // NOLINT: implicit on purpose
  Result(Status status) : status_(std::move(status)) {}  // NOLINT: implicit on purpose

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }

  // REQUIRES: ok().
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return std::move(*value_); }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

[[noreturn]] void assertion_failed(const char* what, const char* file, int line);

}  // namespace hummer

#define HUMMER_ASSERT(condition) \
  ((condition) ? void(0) : ::hummer::assertion_failed(#condition, __FILE__, __LINE__))

// Returns from the enclosing function when `expression` (a Status) is a failure.
#define HUMMER_TRY(expression)                                   \
  do {                                                           \
    if (::hummer::Status s_ = (expression); !s_.ok()) return s_; \
  } while (false)
