// OpenTransactionsWriter: sends records as they come, into a transaction that stays open over the
// epoch and is committed when its checkpoint is complete.
//
// Each subtask has a few transactional ids, each with a producer: one for the epoch at hand, one
// for the next, and one each for the epochs that wait for their checkpoint or rest behind it.
// Making, preparing and committing wait for the brokers, and are done by a thread of the sink's
// own; what the task waits for wakes it.
//
// Lifecycle: restore*, open, (begin_batch add* | flush snapshot | commit)*, end, close. Thread:
// that of the task. State: the transactions that are prepared and not known to be committed, and
// how many ids there are. All subtasks are restored with all of it, and take what earlier subtasks
// of their number, modulo the parallelism, have left. Errors: those of the brokers, and a
// transaction of a complete checkpoint that is lost.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <hummer/kafka/record.hpp>
#include <hummer/kafka/settings.hpp>
#include <hummer/operator.hpp>

namespace hummer::kafka::detail {

class OpenTransactionsWriter {
 public:
  static constexpr bool takes_all_pieces = true;

  explicit OpenTransactionsWriter(const SinkSettings& settings);
  ~OpenTransactionsWriter();

  Status restore(OperatorContext& context, ByteReader& in);
  Status open(OperatorContext& context);
  Status begin_batch();
  // False: not taken, since the queue is full or the next producer is not there yet, or for a
  // reason that blocked() knows.
  bool add(const Message& message);
  OperatorResult blocked();
  OperatorResult flush();
  OperatorResult end();
  static std::vector<StateDescription> states() { return {}; }
  Status snapshot(ByteWriter& out);
  OperatorResult snapshot_rest(ByteWriter&) { return OperatorResult::done; }
  Status commit(std::uint64_t epoch);
  Status close();

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace hummer::kafka::detail
