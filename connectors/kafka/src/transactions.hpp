// Transactions: what one subtask number has written to Kafka, and how it writes more.
//
// open() fences whoever wrote as this number before: the brokers end what that had begun, and it
// can begin nothing any more. Then the notes say which epochs are written.
//
// send() takes chunks of an epoch that is still gathered, the first one first, into a transaction;
// begin() sends what is left of it at its barrier, whose checkpoint is on its way: should that
// never be complete, the transaction is never committed, and whoever comes next ends it. Nothing
// has to come of it: a transaction in which something went wrong, or that is older than half of
// transaction.timeout.ms, is given up, and the epoch sent again.
//
// write() is one transaction, or the end of the one that begin() has left open. Whatever goes wrong
// in it, but for being fenced, is answered by a producer made anew, whose notes say whether the
// epoch is in Kafka after all: an answer that did not come is never guessed at. Fenced: another job
// has this transactional id, which fails this one. But an attempt that was given up may have opened
// its sink late, ahead of the first note of its successor; so who has committed nothing so far, and
// sees no note of a later attempt, comes back once.
//
//   transactions.send(0, chunk);  transactions.send(1, chunk);  …
//   transactions.begin(records, name);
//   Status status = transactions.write(records, name);
//
// Thread: one, but for hurry(); all other calls wait for the brokers.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "chunk_sender.hpp"
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
  // Of the epoch that begin() is told of next; all before it are written. What goes wrong in these
  // two is write()'s to deal with.
  void send(std::size_t index, const EpochChunk& chunk);
  void begin(const EpochRecords& records, const EpochName& name);
  // Nothing, when it is written already.
  Status write(const EpochRecords& records, const EpochName& name);
  // Of the sink's topic.
  Status require_topic();
  // Ends what is open, as far as the brokers answer at once: else its time will be up some time.
  void abort();
  // From any thread: send() and begin() do not wait any more.
  void hurry() { hurries_ = true; }

 private:
  Status fence_and_read(int timeout_ms);
  Status come_back();
  Status try_begin(const EpochRecords& records, const EpochName& name, bool may_hurry);
  Status try_write(const EpochRecords& records, const EpochName& name);
  Status begin_transaction();
  Status try_send(const EpochChunk& chunk, bool may_hurry);
  Status try_note(const EpochName& name);
  Status unless_fenced(Status status);
  bool is_old() const;
  void give_up();
  void drop_producer();
  void has_ended();
  Status failed(const rd_kafka_error_t* error);
  std::string id() const { return settings_.transactional_id + "-" + std::to_string(writer_); }

  const SinkSettings settings_;
  const std::uint32_t writer_;
  AttemptName self_;
  std::unique_ptr<Producer> producer_;
  Progress progress_;
  bool has_committed_ = false;
  bool has_come_back_ = false;
  Status fenced_;
  bool has_begun_ = false;  // a transaction is open
  std::chrono::steady_clock::time_point begun_;
  std::size_t sent_ = 0;           // chunks that are in it
  std::optional<EpochName> open_;  // all of its records have been handed to the producer
  bool sends_ahead_ = true;
  std::atomic<bool> hurries_{false};
  ChunkSender sender_;
};

}  // namespace hummer::kafka
