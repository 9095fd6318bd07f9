// JsonDocument: one JSON document, read; the counterpart of JsonWriter.
//
// A JsonValue is a view: whatever is missing, or of another type than asked for, is empty, 0 or
// nothing, so that a reader asks for what it knows and leaves the rest.
//
// Lifecycle: values are valid as long as their document. Errors of parse: protocol_error with the
// place; nesting deeper than 32 is one too. Thread: one. Parser: Boost.JSON (only in the .cpp).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <hummer/status.hpp>

namespace hummer {

class JsonValue {
 public:
  bool is_there() const { return value_ != nullptr; }
  std::string text() const;
  std::int64_t number() const;  // of a number without a fraction
  std::uint64_t count() const;  // the same, not negative
  double real() const;          // of any number; 0: there is none
  bool boolean() const;         // false: or no boolean
  std::size_t size() const;     // of an array
  JsonValue operator[](std::size_t index) const;
  JsonValue operator[](std::string_view member) const;

 private:
  friend class JsonDocument;
  explicit JsonValue(const void* value) : value_(value) {}

  const void* value_;  // null: missing
};

class JsonDocument {
 public:
  static Result<JsonDocument> parse(std::string_view text);
  JsonValue root() const { return JsonValue(value_.get()); }

 private:
  explicit JsonDocument(std::shared_ptr<const void> value) : value_(std::move(value)) {}

  std::shared_ptr<const void> value_;
};

}  // namespace hummer
