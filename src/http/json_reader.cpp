#include "http/json_reader.hpp"

#include <cmath>

#include <boost/json/src.hpp>

namespace hummer {
namespace {

namespace json = boost::json;

const json::value* value_of(const void* value) { return static_cast<const json::value*>(value); }

}  // namespace

Result<JsonDocument> JsonDocument::parse(std::string_view text) {
  json::parser parser;
  boost::system::error_code error;
  const std::size_t read = parser.write(text.data(), text.size(), error);
  if (error) {
    return Status(ErrorCode::protocol_error,
                  "no JSON document: " + error.message() + ", at byte " + std::to_string(read));
  }
  return JsonDocument(std::make_shared<const json::value>(parser.release()));
}

std::string JsonValue::text() const {
  const json::string* text = value_ == nullptr ? nullptr : value_of(value_)->if_string();
  return text == nullptr ? std::string() : std::string(text->data(), text->size());
}

std::int64_t JsonValue::number() const {
  if (value_ == nullptr) return 0;
  if (const std::int64_t* number = value_of(value_)->if_int64()) return *number;
  return 0;
}

std::uint64_t JsonValue::count() const {
  if (value_ == nullptr) return 0;
  if (const std::uint64_t* number = value_of(value_)->if_uint64()) return *number;
  const std::int64_t* number = value_of(value_)->if_int64();
  return number != nullptr && *number > 0 ? static_cast<std::uint64_t>(*number) : 0;
}

double JsonValue::real() const {
  if (value_ == nullptr || !value_of(value_)->is_number()) return 0;
  const auto number = value_of(value_)->to_number<double>();
  return std::isfinite(number) ? number : 0;
}

bool JsonValue::boolean() const {
  const bool* truth = value_ == nullptr ? nullptr : value_of(value_)->if_bool();
  return truth != nullptr && *truth;
}

std::size_t JsonValue::size() const {
  const json::array* array = value_ == nullptr ? nullptr : value_of(value_)->if_array();
  return array == nullptr ? 0 : array->size();
}

JsonValue JsonValue::operator[](std::size_t index) const {
  const json::array* array = value_ == nullptr ? nullptr : value_of(value_)->if_array();
  return JsonValue(array == nullptr ? nullptr : array->if_contains(index));
}

JsonValue JsonValue::operator[](std::string_view member) const {
  const json::object* object = value_ == nullptr ? nullptr : value_of(value_)->if_object();
  if (object == nullptr) return JsonValue(nullptr);
  return JsonValue(object->if_contains({member.data(), member.size()}));
}

}  // namespace hummer
