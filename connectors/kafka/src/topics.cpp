#include "topics.hpp"

#include <chrono>
#include <regex>
#include <thread>

namespace hummer::kafka {
namespace {

using MetadataHandle =
    std::unique_ptr<const rd_kafka_metadata_t, DestroyedBy<rd_kafka_metadata_destroy>>;

constexpr int tries_for_new_topics = 20;
constexpr std::chrono::milliseconds between_tries{250};

Status explained(rd_kafka_resp_err_t error, const Client& client, const std::string& what) {
  return failure(error, what, client.events->last_error());
}

// One topic, or all of them.
Result<MetadataHandle> ask(const Client& client, rd_kafka_topic_t* topic, int timeout_ms) {
  const rd_kafka_metadata_t* metadata = nullptr;
  const rd_kafka_resp_err_t error =
      rd_kafka_metadata(client.get(), topic == nullptr ? 1 : 0, topic, &metadata, timeout_ms);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return explained(error, client, "the brokers do not say which topics there are");
  }
  return MetadataHandle(metadata);
}

void add(const rd_kafka_metadata_topic_t& topic, std::vector<TopicPartition>& found) {
  for (int i = 0; i < topic.partition_cnt; ++i) {
    found.emplace_back(topic.topic, topic.partitions[i].id);
  }
}

Status add_topic(const Client& client, const std::string& name, int timeout_ms,
                 std::vector<TopicPartition>& found) {
  const TopicHandle topic(rd_kafka_topic_new(client.get(), name.c_str(), nullptr));
  rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;
  for (int left = tries_for_new_topics; left > 0; --left) {
    const Result<MetadataHandle> metadata = ask(client, topic.get(), timeout_ms);
    if (!metadata.ok()) return metadata.status();
    const rd_kafka_metadata_t& all = **metadata;
    error = all.topic_cnt == 1 ? all.topics[0].err : RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
      add(all.topics[0], found);
      return {};
    }
    if (error != RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART &&
        error != RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE) {
      break;
    }
    std::this_thread::sleep_for(between_tries);
  }
  return failure(error, "topic '" + name + "'");
}

Result<std::int64_t> end_of(const Client& client, const TopicPartition& partition, int timeout_ms) {
  std::int64_t low = 0, high = 0;
  const rd_kafka_resp_err_t error = rd_kafka_query_watermark_offsets(
      client.get(), partition.first.c_str(), partition.second, &low, &high, timeout_ms);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return explained(error, client,
                     "where partition " + std::to_string(partition.second) + " of topic '" +
                         partition.first + "' ends");
  }
  return high;
}

Result<std::vector<std::int64_t>> by_time(const Client& client,
                                          const std::vector<TopicPartition>& partitions,
                                          std::int64_t time_ms, int timeout_ms) {
  const PartitionList list = list_of(partitions);
  for (int i = 0; i < list->cnt; ++i) list->elems[i].offset = time_ms;
  const rd_kafka_resp_err_t error =
      rd_kafka_offsets_for_times(client.get(), list.get(), timeout_ms);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return explained(error, client, "which offsets belong to a time");
  }
  std::vector<std::int64_t> found;
  for (int i = 0; i < list->cnt; ++i) {
    std::int64_t offset = list->elems[i].offset;
    if (offset < 0) {  // no record is so late
      const Result<std::int64_t> end =
          end_of(client, partitions[static_cast<std::size_t>(i)], timeout_ms);
      if (!end.ok()) return end.status();
      offset = *end;
    }
    found.push_back(offset);
  }
  return found;
}

Result<std::vector<std::int64_t>> by_group(const Client& client,
                                           const std::vector<TopicPartition>& partitions,
                                           int timeout_ms) {
  const PartitionList list = list_of(partitions);
  const rd_kafka_resp_err_t error = rd_kafka_committed(client.get(), list.get(), timeout_ms);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return explained(error, client, "which offsets the group has committed");
  }
  std::vector<std::int64_t> found;
  for (int i = 0; i < list->cnt; ++i) {
    const std::int64_t offset = list->elems[i].offset;
    found.push_back(offset >= 0 ? offset : RD_KAFKA_OFFSET_BEGINNING);
  }
  return found;
}

}  // namespace

PartitionList list_of(const std::vector<TopicPartition>& partitions) {
  PartitionList list(rd_kafka_topic_partition_list_new(static_cast<int>(partitions.size())));
  for (const auto& [topic, number] : partitions) {
    rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), number);
  }
  return list;
}

Result<std::vector<TopicPartition>> find_partitions(const Client& client,
                                                    const SourceSettings& settings,
                                                    int timeout_ms) {
  std::vector<TopicPartition> found;
  for (const std::string& topic : settings.topics) {
    HUMMER_TRY(add_topic(client, topic, timeout_ms, found));
  }
  if (!settings.topic_pattern.empty()) {
    const std::regex pattern(settings.topic_pattern);
    const Result<MetadataHandle> metadata = ask(client, nullptr, timeout_ms);
    if (!metadata.ok()) return metadata.status();
    for (int i = 0; i < (*metadata)->topic_cnt; ++i) {
      const rd_kafka_metadata_topic_t& topic = (*metadata)->topics[i];
      if (std::regex_match(topic.topic, pattern)) add(topic, found);
    }
  }
  return found;
}

Result<std::vector<std::int64_t>> find_offsets(const Client& client,
                                               const std::vector<TopicPartition>& partitions,
                                               const Offsets& offsets, int timeout_ms) {
  switch (offsets.kind) {
    case Offsets::Kind::time: return by_time(client, partitions, offsets.time_ms, timeout_ms);
    case Offsets::Kind::committed: return by_group(client, partitions, timeout_ms);
    case Offsets::Kind::earliest: break;
    case Offsets::Kind::latest: {
      std::vector<std::int64_t> found;
      for (const TopicPartition& partition : partitions) {
        const Result<std::int64_t> end = end_of(client, partition, timeout_ms);
        if (!end.ok()) return end.status();
        found.push_back(*end);
      }
      return found;
    }
    case Offsets::Kind::each: {
      std::vector<std::int64_t> found;
      for (const TopicPartition& partition : partitions) {
        const auto named = offsets.offsets.find(partition);
        found.push_back(named == offsets.offsets.end() ? unset_offset : named->second);
      }
      return found;
    }
  }
  return std::vector<std::int64_t>(partitions.size(), RD_KAFKA_OFFSET_BEGINNING);
}

}  // namespace hummer::kafka
