// EpochTransaction: a producer with a transactional id of its own, and the transaction that it has
// open over an epoch. One after the other: once it is committed the next may begin.
//
//   Result<std::unique_ptr<EpochTransaction>> made =
//       EpochTransaction::make(settings, writer, number, coordinator, timeout_ms);      // fences
//   (*made)->write(record);                                                  // begins it
//   Result<PreparedTransaction> prepared = (*made)->prepare(name, coordinator);
//   if (!(*made)->commit()) …    // it is not clear: conclude(prepared), and never use this again
//
// Thread: one at a time; make, prepare and commit wait for the brokers. Errors: a record that could
// not be delivered, being fenced, a transaction whose time is up: then nothing of it counts, and
// the job goes back to its checkpoint.
#pragma once

#include <cstdint>
#include <memory>

#include "coordinator.hpp"
#include "prepared_transaction.hpp"
#include "producer.hpp"

namespace hummer::kafka {

class EpochTransaction {
 public:
  static Result<std::unique_ptr<EpochTransaction>> make(const SinkSettings& settings,
                                                        std::uint32_t writer, std::uint32_t number,
                                                        Coordinator& coordinator,
                                                        int timeout_ms = 60'000);

  // E3004 (limit_exceeded): the queue is full.
  Status write(const Outgoing& record);
  Status poll(int timeout_ms) { return producer_->poll(timeout_ms); }
  bool has_begun() const { return has_begun_; }
  // When it answers, all records are in Kafka, and the coordinator will take its end.
  Result<PreparedTransaction> prepare(const EpochName& name, Coordinator& coordinator);
  bool commit();
  // As far as the brokers answer at once: else its time will be up some time.
  void abort();

  std::uint32_t number() const { return number_; }
  Producer& producer() { return *producer_; }

 private:
  EpochTransaction(const SinkSettings& settings, std::uint32_t writer, std::uint32_t number)
      : settings_(settings), writer_(writer), number_(number) {}
  Status begin();
  Status flush();
  std::string id() const { return transactional_id(settings_, writer_, number_); }

  const SinkSettings settings_;
  const std::uint32_t writer_;
  const std::uint32_t number_;
  std::unique_ptr<Producer> producer_;
  ProducerIdentity identity_;
  bool has_begun_ = false;
};

}  // namespace hummer::kafka
