// Transactions: what one subtask number has written to Kafka, and how it writes more.
//
// open() fences whoever wrote as this number before: the brokers end what that had begun, and it
// can begin nothing any more. Then the notes say which epochs are written.
//
// begin() sends the records of an epoch ahead of its commit, whose checkpoint is on its way: should
// that never be complete, the transaction is never committed, and whoever comes next ends it.
//
// write() is one transaction, or the end of the one that begin() has left open. Whatever goes wrong
// in it, but for being fenced, is answered by a producer made anew, whose notes say whether the
// epoch is in Kafka after all: an answer that did not come is never guessed at. Fenced: another job
// has this transactional id, which fails this one. But an attempt that was given up may have opened
// its sink late, ahead of the first note of its successor; so who has committed nothing so far, and
// sees no note of a later attempt, comes back once.
//
// Thread: one; all calls wait for the brokers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "epoch_records.hpp"
#include "progress.hpp"

namespace hummer::kafka {

class Transactions {
 public:
  Transactions(const SinkSettings& settings, std::uint32_t writer)
      : settings_(settings), writer_(writer) {}

  // `parallelism`: the progress topic has at least so many partitions. `self`: who asks.
  Status open(int parallelism, const AttemptName& self);
  bool has_written(const EpochName& name) const { return progress_.has(name); }
  // Of one that is not written. What goes wrong is write()'s to deal with.
  void begin(const EpochRecords& records, const EpochName& name);
  // Nothing, when it is written already.
  Status write(const EpochRecords& records, const EpochName& name);
  // Of the sink's topic.
  Status require_topic();

 private:
  Status fence_and_read(int timeout_ms);
  Status come_back();
  Status try_begin(const EpochRecords& records, const EpochName& name);
  Status try_write(const EpochRecords& records, const EpochName& name);
  Status produce_all(const EpochRecords& records);
  Status produce(const Outgoing& record);
  Status failed(const rd_kafka_error_t* error, const EpochName& name);
  std::string id() const { return settings_.transactional_id + "-" + std::to_string(writer_); }

  const SinkSettings settings_;
  const std::uint32_t writer_;
  AttemptName self_;
  std::unique_ptr<Producer> producer_;
  Progress progress_;
  bool has_committed_ = false;
  bool has_come_back_ = false;
  Status fenced_;
  std::optional<EpochName> open_;  // all of its records have been handed to the producer
};

}  // namespace hummer::kafka
