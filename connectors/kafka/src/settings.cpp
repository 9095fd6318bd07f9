#include <hummer/kafka/settings.hpp>

#include <regex>
#include <string>
#include <vector>

#include "broker_options.hpp"
#include "client.hpp"
#include "sink_options.hpp"
#include "source_options.hpp"

namespace hummer::kafka {
namespace {

Status invalid(std::string what) { return {ErrorCode::invalid_configuration, std::move(what)}; }

std::vector<std::string> texts_of(const Connection& connection) {
  std::vector<std::string> texts{connection.brokers, connection.token_file};
  for (const auto& [name, value] : connection.options) {
    texts.push_back(name);
    texts.push_back(value);
  }
  return texts;
}

std::vector<std::int64_t> numbers_of(const Offsets& offsets) {
  std::vector<std::int64_t> numbers{static_cast<std::int64_t>(offsets.kind), offsets.time_ms};
  for (const auto& [partition, offset] : offsets.offsets) {
    numbers.push_back(partition.second);
    numbers.push_back(offset);
  }
  return numbers;
}

Status check(const Offsets& offsets) {
  for (const auto& [partition, offset] : offsets.offsets) {
    if (offset < 0) {
      return invalid("offset " + std::to_string(offset) + " of topic '" + partition.first +
                     "', partition " + std::to_string(partition.second) + " is negative");
    }
  }
  return {};
}

}  // namespace

Status SourceSettings::check() const {
  HUMMER_TRY(check_options(connection, fixed_source_options(*this)));
  if (topics.empty() == topic_pattern.empty()) {
    return invalid("name either topics or a topic_pattern");
  }
  try {
    const std::regex pattern(topic_pattern);
  } catch (const std::regex_error& error) {
    return invalid("topic_pattern '" + topic_pattern + "': " + error.what());
  }
  HUMMER_TRY(kafka::check(start));
  if (end.has_value()) {
    HUMMER_TRY(kafka::check(*end));
    if (end->kind == Offsets::Kind::earliest) return invalid("it ends where it begins (end)");
  }
  const bool asks_group = start.kind == Offsets::Kind::committed ||
                          (end.has_value() && end->kind == Offsets::Kind::committed);
  if (asks_group && group.empty())
    return invalid("committed offsets are those of a group: name it");
  if (discovery_interval_ms < 0) return invalid("discovery_interval_ms is negative");
  return {};
}

CapturedValues SourceSettings::captured() const {
  std::vector<std::string> texts = texts_of(connection);
  texts.insert(texts.end(), topics.begin(), topics.end());
  texts.push_back(topic_pattern);
  texts.push_back(group);
  for (const Offsets* offsets : {&start, end.has_value() ? &*end : nullptr}) {
    if (offsets == nullptr) continue;
    for (const auto& [partition, offset] : offsets->offsets) texts.push_back(partition.first);
  }
  return encoded_values(texts, numbers_of(start),
                        end.has_value() ? numbers_of(*end) : std::vector<std::int64_t>(),
                        static_cast<std::uint8_t>(lost_offsets), discovery_interval_ms);
}

Status SinkSettings::check() const {
  HUMMER_TRY(check_options(connection, fixed_sink_options(*this)));
  if (guarantee != Guarantee::at_least_once && transactional_id.empty()) {
    return invalid(
        "exactly_once needs a transactional_id, which no other sink of the Kafka cluster has");
  }
  return guarantee == Guarantee::exactly_once_open ? check_broker_options(connection) : Status();
}

CapturedValues SinkSettings::captured() const {
  std::vector<std::string> texts = texts_of(connection);
  texts.push_back(topic);
  texts.push_back(transactional_id);
  return encoded_values(texts, static_cast<std::uint8_t>(guarantee),
                        static_cast<std::uint8_t>(lost_transactions),
                        static_cast<std::uint64_t>(held_bytes));
}

}  // namespace hummer::kafka
