#include <hummer/kafka/detail/partition_counts.hpp>

#include <chrono>
#include <unordered_map>
#include <utility>

#include "topics.hpp"

namespace hummer::kafka::detail {
namespace {

constexpr std::chrono::minutes told_again{5};
constexpr int told_again_timeout_ms = 1'000;

}  // namespace

struct PartitionCounts::Impl {
  struct Told {
    std::int32_t count = 0;
    std::chrono::steady_clock::time_point at;
  };

  Connection connection;
  Client client;
  std::unordered_map<std::string, Told> told;
  // Of the last batches, as a rule: one look at the clock for a thousand records.
  const std::string* last_topic = nullptr;
  const Told* last = nullptr;
  std::uint32_t calls = 0;
};

PartitionCounts::PartitionCounts(Connection connection) : impl_(std::make_unique<Impl>()) {
  impl_->connection = std::move(connection);
}

PartitionCounts::~PartitionCounts() = default;

Result<std::int32_t> PartitionCounts::of(const std::string& topic) {
  constexpr std::uint32_t calls_per_look = 1'024;
  Impl& impl = *impl_;
  if (impl.last != nullptr && topic == *impl.last_topic && ++impl.calls % calls_per_look != 0) {
    return impl.last->count;
  }
  const auto now = std::chrono::steady_clock::now();
  auto found = impl.told.find(topic);
  const bool known = found != impl.told.end();
  if (!known || now - found->second.at > told_again) {
    if (impl.client.get() == nullptr) {
      // Options of consumers alone would be warned of, and do no harm.
      Result<Client> made =
          make_client(RD_KAFKA_PRODUCER, impl.connection, {{"log_level", "3"}}, {});
      if (!made.ok()) return made.status();
      impl.client = std::move(*made);
    }
    const Result<std::vector<TopicPartition>> partitions =
        find_partitions(impl.client, {.connection = {}, .topics = {topic}},
                        known ? told_again_timeout_ms : impl.connection.timeout_ms);
    // Brokers that are away for now have told it before.
    if (!partitions.ok() && !known) return partitions.status();
    if (!known) found = impl.told.emplace(topic, Impl::Told{}).first;
    if (partitions.ok()) found->second.count = static_cast<std::int32_t>(partitions->size());
    found->second.at = now;
  }
  impl.last_topic = &found->first;
  impl.last = &found->second;
  return impl.last->count;
}

}  // namespace hummer::kafka::detail
