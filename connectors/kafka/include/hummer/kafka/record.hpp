// Record: one that was read from Kafka. Message: one to be written.
//
//   [](const kafka::Record& record) { return parse(record.value.value_or("")); }
//
//   [](const Total& total, kafka::Message& message) {
//     message.key(total.word);
//     message.value(std::to_string(total.count));
//   }
//
// A record's text is valid during the call. What the function returns of it is copied where it is a
// view. A message copies what it is given, and is empty again for each record.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hummer/batch.hpp>

namespace hummer::kafka {

struct Header {
  std::string_view name;
  std::optional<std::string_view> value;
};

struct Record {
  std::string_view topic;
  std::int32_t partition = 0;
  std::int64_t offset = 0;
  Timestamp time_ms = no_timestamp;  // the producer's or the broker's, as the topic is set
  std::optional<std::string_view> key;
  std::optional<std::string_view> value;  // none: a tombstone

  // In order; a name may come more than once. Parsed by each call.
  std::vector<Header> headers() const;

  const void* message = nullptr;  // librdkafka's
};

class Message {
 public:
  void key(std::string_view text) {
    key_.assign(text);
    has_key_ = true;
  }
  void value(std::string_view text) {
    value_.assign(text);
    has_value_ = true;
  }
  // No value: readers of a compacted topic forget the key. A message begins as one.
  void tombstone() { has_value_ = false; }
  // Instead of the sink's.
  void topic(std::string_view name) { topic_.assign(name); }
  // Instead of the one that the key's hash says (murmur2, as Java's clients do), or without a key
  // any one.
  void partition(std::int32_t number) { partition_ = number; }
  // Milliseconds since 1970; else the time of writing.
  void time(Timestamp time_ms) { time_ms_ = time_ms; }
  void header(std::string_view name, std::string_view value) { headers_.emplace_back(name, value); }

  void clear() {
    has_key_ = has_value_ = false;
    topic_.clear();
    partition_ = -1;
    time_ms_ = no_timestamp;
    if (!headers_.empty()) headers_.clear();
  }
  std::optional<std::string_view> key() const {
    return has_key_ ? std::optional<std::string_view>(key_) : std::nullopt;
  }
  std::optional<std::string_view> value() const {
    return has_value_ ? std::optional<std::string_view>(value_) : std::nullopt;
  }
  const std::string& topic() const { return topic_; }
  std::int32_t partition() const { return partition_; }
  Timestamp time() const { return time_ms_; }
  const std::vector<std::pair<std::string, std::string>>& headers() const { return headers_; }

 private:
  std::string key_;
  std::string value_;
  std::string topic_;
  bool has_key_ = false;
  bool has_value_ = false;
  std::int32_t partition_ = -1;
  Timestamp time_ms_ = no_timestamp;
  std::vector<std::pair<std::string, std::string>> headers_;
};

}  // namespace hummer::kafka
