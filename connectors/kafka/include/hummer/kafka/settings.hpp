// What the Kafka connector is told: the cluster, where to begin and to end, what to guarantee.
//
//   kafka::SourceSettings orders{.connection = {.brokers = "kafka-1:9092,kafka-2:9092"},
//                                .topics = {"orders"},
//                                .start = kafka::Offsets::at_time(1'700'000'000'000)};
//   kafka::SinkSettings totals{.connection = orders.connection, .topic = "totals"};
//
// `options` are those of librdkafka by their names (security.protocol, compression.type,
// client.rack, queued.max.messages.kbytes, …); they count above what the connector sets itself, but
// for the few that its guarantees stand on, which are refused.
//
// Values. Errors: an unknown option, or settings that contradict each other, come back from
// execute() before anything is opened, as E2000 with the stream's name.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <hummer/detail/captured_values.hpp>
#include <hummer/status.hpp>

namespace hummer::kafka {

struct Connection {
  std::string brokers;  // host:port of some of them, comma-separated
  std::map<std::string, std::string> options = {};
  // With sasl.mechanism=OAUTHBEARER: holds the token, alone. Read when a connection asks for it,
  // and every few minutes again, so that whoever renews it writes a new file over the old one.
  std::string token_file = {};
  int timeout_ms = 30'000;  // what a source or a sink that is opened waits for them
};

using TopicPartition = std::pair<std::string, std::int32_t>;

// A place in each partition.
struct Offsets {
  enum class Kind : std::uint8_t { earliest, latest, committed, time, each };
  Kind kind = Kind::earliest;
  std::int64_t time_ms = 0;
  // Of `each`: partitions that it does not name are read from their beginning, or to their end.
  std::map<TopicPartition, std::int64_t> offsets = {};

  static Offsets earliest() { return {}; }
  // As it is when the source is opened.
  static Offsets latest() { return {.kind = Kind::latest}; }
  // What the group has committed; where it has not, the beginning.
  static Offsets committed() { return {.kind = Kind::committed}; }
  // The first record with this timestamp or a later one; the end where there is none.
  static Offsets at_time(std::int64_t time_ms) { return {.kind = Kind::time, .time_ms = time_ms}; }
  static Offsets at(std::map<TopicPartition, std::int64_t> offsets) {
    return {.kind = Kind::each, .offsets = std::move(offsets)};
  }
};

// What becomes of a partition whose next offset is gone: expired, or cut off.
enum class LostOffsets : std::uint8_t {
  fail,      // the job, which names partition and offset
  earliest,  // it is read on from its beginning; said on standard error, and counted
  latest,    // from its end; likewise
};

struct SourceSettings {
  Connection connection;
  std::vector<std::string> topics = {};
  std::string topic_pattern = {};   // instead: a regular expression (ECMAScript) of whole names
  Offsets start = {};               // where no earlier state says so
  std::optional<Offsets> end = {};  // the stream is bounded, by what this is when it is opened
  LostOffsets lost_offsets = LostOffsets::fail;
  // Offsets of complete checkpoints are committed to this group, for monitoring; what a restart
  // goes on from is in the checkpoint. Empty: nowhere.
  std::string group = {};
  // How often topics and partitions are looked for that are new: these are read from their
  // beginning. 0: never.
  std::int64_t discovery_interval_ms = 60'000;

  Status check() const;
  CapturedValues captured() const;
};

enum class Guarantee : std::uint8_t {
  // Records are written as they come, and are in Kafka when their checkpoint is complete. After a
  // restart some are written twice.
  at_least_once,
  // Records are kept in the checkpoint, and written in one transaction, which is committed when it
  // is complete; should it be lost meanwhile, they are written again.
  // Readers with isolation.level=read_committed see each once.
  exactly_once,
  // Records are written as they come, into a transaction that is open over the epoch and is
  // committed when its checkpoint is complete. The same readers see each once, at less cost; but a
  // job that is down for longer than transaction.timeout.ms (15 minutes, unless it is set) has lost
  // the transactions of its newest checkpoint: see LostTransactions.
  exactly_once_open,
};

// What becomes of a job whose newest checkpoint has a transaction that Kafka has aborted meanwhile.
enum class LostTransactions : std::uint8_t {
  fail,   // it fails, and names epoch and partitions
  go_on,  // without the records; said on standard error, and counted
};

struct SinkSettings {
  Connection connection;
  std::string topic = {};  // of records that name none
  Guarantee guarantee = Guarantee::exactly_once;
  // Of both exactly-once guarantees: names this sink among all that write to the cluster. Subtask k
  // writes as the transactional id NAME-k, or as NAME-k-0, NAME-k-1, … with open transactions; what
  // it has committed is noted in the topic NAME-progress.
  std::string transactional_id = {};
  // Of exactly_once_open.
  LostTransactions lost_transactions = LostTransactions::fail;
  // Of exactly_once: records of an epoch that are held in memory, per subtask; more go to a file.
  std::size_t held_bytes = 64 << 20;

  Status check() const;
  CapturedValues captured() const;
};

}  // namespace hummer::kafka
