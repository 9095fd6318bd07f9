#include "transactions.hpp"

#include <chrono>
#include <string>

namespace hummer::kafka {
namespace {

constexpr int commit_answer_ms = 60'000;
constexpr int full_queue_ms = 10;
constexpr int tries = 3;

}  // namespace

Status Transactions::open(int parallelism, const AttemptName& self) {
  self_ = self;
  Result<std::unique_ptr<Producer>> producer =
      Producer::make(settings_, {{"transactional.id", id()}});
  if (!producer.ok()) return producer.status();
  producer_ = std::move(*producer);
  HUMMER_TRY(make_progress_topic(producer_->client(), settings_, parallelism));
  return fence_and_read(settings_.connection.timeout_ms);
}

Status Transactions::require_topic() {
  return settings_.topic.empty()
             ? Status()
             : producer_->require_topic(settings_.topic, settings_.connection.timeout_ms);
}

Status Transactions::fence_and_read(int timeout_ms) {
  if (!producer_) {
    Result<std::unique_ptr<Producer>> producer =
        Producer::make(settings_, {{"transactional.id", id()}});
    if (!producer.ok()) return producer.status();
    producer_ = std::move(*producer);
  }
  HUMMER_TRY(refuse_beside_later(settings_, writer_, self_));
  HUMMER_TRY(producer_->init_transactions(id(), timeout_ms));
  Result<Progress> progress = read_progress(settings_, writer_);
  if (!progress.ok()) return progress.status();
  progress_ = std::move(*progress);
  return {};
}

Status Transactions::write(const EpochRecords& records, const EpochName& name) {
  Status status;
  for (int left = tries; left > 0; --left) {
    if (!fenced_.ok()) HUMMER_TRY(come_back());
    if (!producer_) HUMMER_TRY(fence_and_read(commit_answer_ms));
    if (progress_.has(name)) return {};
    status = try_write(records, name);
    if (status.ok()) {
      has_committed_ = true;
      progress_.add(name);
      return {};
    }
    if (!fenced_.ok()) continue;
    producer_.reset();
    HUMMER_TRY(fence_and_read(commit_answer_ms));
  }
  return progress_.has(name) ? Status() : status;
}

Status Transactions::come_back() {
  if (has_committed_ || has_come_back_) return fenced_;
  has_come_back_ = true;
  fenced_ = {};
  open_.reset();
  producer_.reset();
  return fence_and_read(commit_answer_ms);
}

Status Transactions::failed(const rd_kafka_error_t* error, const EpochName& name) {
  Status status =
      failure(error, "transaction of '" + id() + "' for epoch " + std::to_string(name.epoch));
  if (!says_fenced(rd_kafka_error_code(error))) return status;
  fenced_ = {ErrorCode::operator_failed, status.message() + why_fenced};
  return fenced_;
}

void Transactions::begin(const EpochRecords& records, const EpochName& name) {
  if (!producer_ || open_.has_value() || !fenced_.ok()) return;
  if (!try_begin(records, name).ok()) producer_.reset();
}

Status Transactions::try_begin(const EpochRecords& records, const EpochName& name) {
  rd_kafka_t* const client = producer_->client().get();
  if (const ErrorHandle error(rd_kafka_begin_transaction(client)); error) {
    return failed(error.get(), name);
  }
  Status produced = produce_all(records);
  if (produced.ok()) produced = note_progress(*producer_, settings_, writer_, name);
  // Only librdkafka knows whether the producer itself is at fault.
  char text[256];
  if (const auto fatal = rd_kafka_fatal_error(client, text, sizeof text); says_fenced(fatal)) {
    const ErrorHandle error(rd_kafka_error_new(fatal, "%s", text));
    return failed(error.get(), name);
  }
  if (produced.ok()) open_ = name;
  return produced;
}

Status Transactions::try_write(const EpochRecords& records, const EpochName& name) {
  if (open_ != name) HUMMER_TRY(try_begin(records, name));
  open_.reset();
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(commit_answer_ms);
  for (;;) {
    const ErrorHandle error(
        rd_kafka_commit_transaction(producer_->client().get(), commit_answer_ms));
    if (!error) return {};
    // The same commit may be asked for again; it is not another one.
    if (rd_kafka_error_is_retriable(error.get()) && std::chrono::steady_clock::now() < end)
      continue;
    return failed(error.get(), name);
  }
}

Status Transactions::produce_all(const EpochRecords& records) {
  std::string space;
  Outgoing record;
  for (std::size_t i = 0; i < records.chunks(); ++i) {
    Result<std::string_view> chunk = records.chunk(i, space);
    if (!chunk.ok()) return chunk.status();
    std::string_view bytes = *chunk;
    while (!bytes.empty()) {
      if (!decode(bytes, record)) {
        return {ErrorCode::corrupt_record, "a record of an epoch cannot be decoded"};
      }
      HUMMER_TRY(produce(record));
    }
    HUMMER_TRY(producer_->poll(0));
  }
  return {};
}

Status Transactions::produce(const Outgoing& record) {
  for (;;) {
    Status status = producer_->produce(record);
    if (status.code() != ErrorCode::limit_exceeded) return status;
    HUMMER_TRY(producer_->poll(full_queue_ms));
  }
}

}  // namespace hummer::kafka
