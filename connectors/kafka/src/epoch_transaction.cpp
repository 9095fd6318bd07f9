#include "epoch_transaction.hpp"

#include <chrono>

namespace hummer::kafka {
namespace {

constexpr int commit_timeout_ms = 60'000;
constexpr int commit_step_ms = 1'000;
constexpr int abort_timeout_ms = 5'000;
constexpr int flush_step_ms = 200;

}  // namespace

Result<std::unique_ptr<EpochTransaction>> EpochTransaction::make(const SinkSettings& settings,
                                                                 std::uint32_t writer,
                                                                 std::uint32_t number,
                                                                 Coordinator& coordinator,
                                                                 int timeout_ms) {
  std::unique_ptr<EpochTransaction> made(new EpochTransaction(settings, writer, number));
  Result<std::unique_ptr<Producer>> producer =
      Producer::make(settings, {{"transactional.id", made->id()}});
  if (!producer.ok()) return producer.status();
  made->producer_ = std::move(*producer);
  if (Status status = made->producer_->init_transactions(made->id(), timeout_ms); !status.ok())
    return status;
  // librdkafka does not say as whom it writes. Should somebody else have come between, its epoch is
  // newer than that of our producer, whose records the brokers refuse.
  const Result<DescribedTransaction> now = coordinator.describe(made->id());
  if (!now.ok()) return now.status();
  made->identity_ = now->producer;
  return made;
}

Status EpochTransaction::begin() {
  if (has_begun_) return {};
  const ErrorHandle error(rd_kafka_begin_transaction(producer_->client().get()));
  if (error) return failure(error.get(), "beginning a transaction as '" + id() + "'");
  has_begun_ = true;
  return {};
}

Status EpochTransaction::write(const Outgoing& record) {
  HUMMER_TRY(begin());
  Status status = producer_->produce(record);
  if (status.ok() || status.code() == ErrorCode::limit_exceeded) return status;
  // The producer refuses all of them since something is wrong with its transaction.
  const Status why = producer_->transaction_failure();
  return why.ok() ? status : why.with_context("writing as '" + id() + "'");
}

Status EpochTransaction::flush() {
  while (rd_kafka_flush(producer_->client().get(), flush_step_ms) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    HUMMER_TRY(producer_->poll(0));
    HUMMER_TRY(producer_->transaction_failure());
  }
  HUMMER_TRY(producer_->poll(0));
  return producer_->transaction_failure();
}

Result<PreparedTransaction> EpochTransaction::prepare(const EpochName& name,
                                                      Coordinator& coordinator) {
  const std::string what =
      "the transaction of epoch " + std::to_string(name.epoch) + " (" + id() + ")";
  for (;;) {
    const Status noted = note_progress(*producer_, settings_, writer_, name);
    if (noted.ok()) break;
    if (noted.code() != ErrorCode::limit_exceeded) return noted.with_context(what);
    if (Status status = producer_->poll(flush_step_ms); !status.ok()) return status;
  }
  if (Status status = flush(); !status.ok()) return status.with_context(what);
  const Result<DescribedTransaction> now = coordinator.describe(id());
  if (!now.ok()) return now.status();
  if (now->state != "Ongoing" || now->producer != identity_) {
    return Status(ErrorCode::operator_failed,
                  what + " is no longer open (" + now->state +
                      ") ahead of its checkpoint: transaction.timeout.ms (" +
                      std::to_string(transaction_timeout_ms(settings_)) +
                      ") is shorter than an epoch, or another job writes with this "
                      "transactional_id");
  }
  return PreparedTransaction{.name = name,
                             .writer = writer_,
                             .number = number_,
                             .producer = identity_,
                             .start_ms = now->start_ms,
                             .partitions = name_partitions(*now, progress_topic(settings_))};
}

bool EpochTransaction::commit() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(commit_timeout_ms);
  for (;;) {
    const ErrorHandle error(rd_kafka_commit_transaction(producer_->client().get(), commit_step_ms));
    if (!error) {
      has_begun_ = false;
      return true;
    }
    // The same commit may be asked for again; it is not another one.
    if (!rd_kafka_error_is_retriable(error.get()) || std::chrono::steady_clock::now() > end) {
      return false;
    }
  }
}

void EpochTransaction::abort() {
  if (!has_begun_) return;
  const ErrorHandle ignored(
      rd_kafka_abort_transaction(producer_->client().get(), abort_timeout_ms));
  has_begun_ = false;
}

}  // namespace hummer::kafka
