#include "transactions.hpp"

#include <string>
#include <utility>

#include "prepared_transaction.hpp"

namespace hummer::kafka {
namespace {

constexpr int commit_answer_ms = 60'000;
constexpr int abort_answer_ms = 5'000;
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
    if (has_begun_ && (open_ != name || is_old())) drop_producer();
    if (!producer_) HUMMER_TRY(fence_and_read(commit_answer_ms));
    if (progress_.has(name)) return {};
    status = try_write(records, name);
    if (status.ok()) {
      has_committed_ = true;
      progress_.add(name);
      return {};
    }
    if (!fenced_.ok()) continue;
    drop_producer();
    HUMMER_TRY(fence_and_read(commit_answer_ms));
  }
  return progress_.has(name) ? Status() : status;
}

Status Transactions::come_back() {
  if (has_committed_ || has_come_back_) return fenced_;
  has_come_back_ = true;
  fenced_ = {};
  drop_producer();
  return fence_and_read(commit_answer_ms);
}

// What it has open is ended by the next one of its id.
void Transactions::drop_producer() {
  producer_.reset();
  has_ended();
}

void Transactions::has_ended() {
  has_begun_ = false;
  sent_ = 0;
  open_.reset();
  sender_.let_go();
}

Status Transactions::failed(const rd_kafka_error_t* error) {
  Status status = failure(error, "transaction of '" + id() + "'");
  if (!says_fenced(rd_kafka_error_code(error))) return status;
  fenced_ = {ErrorCode::operator_failed, status.message() + why_fenced};
  return fenced_;
}

// Only librdkafka knows whether the producer itself is at fault.
Status Transactions::unless_fenced(Status status) {
  char text[256];
  const auto fatal = rd_kafka_fatal_error(producer_->client().get(), text, sizeof text);
  if (!says_fenced(fatal)) return status;
  const ErrorHandle error(rd_kafka_error_new(fatal, "%s", text));
  return failed(error.get());
}

bool Transactions::is_old() const {
  const std::chrono::milliseconds most(transaction_timeout_ms(settings_) / 2);
  return has_begun_ && std::chrono::steady_clock::now() - begun_ > most;
}

void Transactions::send(std::size_t index, const EpochChunk& chunk) {
  if (hurries_ || !producer_ || open_.has_value() || !fenced_.ok() || index != sent_) return;
  if (is_old()) sends_ahead_ = false;
  if (!sends_ahead_) return abort();
  if (!unless_fenced(try_send(chunk, true)).ok()) give_up();
}

void Transactions::begin(const EpochRecords& records, const EpochName& name) {
  if (is_old()) abort();
  if (!producer_ || open_.has_value() || !fenced_.ok()) return;
  if (!try_begin(records, name, true).ok()) give_up();
}

void Transactions::give_up() { return hurries_ ? abort() : drop_producer(); }

void Transactions::abort() {
  if (!has_begun_) return;
  const ErrorHandle error(rd_kafka_abort_transaction(producer_->client().get(), abort_answer_ms));
  if (error) return drop_producer();
  has_ended();
}

Status Transactions::begin_transaction() {
  if (has_begun_) return {};
  if (const ErrorHandle error(rd_kafka_begin_transaction(producer_->client().get())); error) {
    return failed(error.get());
  }
  has_begun_ = true;
  begun_ = std::chrono::steady_clock::now();
  return {};
}

Status Transactions::try_send(const EpochChunk& chunk, bool may_hurry) {
  HUMMER_TRY(begin_transaction());
  HUMMER_TRY(sender_.send(chunk, *producer_, may_hurry ? &hurries_ : nullptr));
  ++sent_;
  return {};
}

Status Transactions::try_note(const EpochName& name) {
  for (;;) {
    Status status = note_progress(*producer_, settings_, writer_, name);
    if (status.code() != ErrorCode::limit_exceeded) return status;
    HUMMER_TRY(producer_->poll(full_queue_ms));
  }
}

Status Transactions::try_begin(const EpochRecords& records, const EpochName& name, bool may_hurry) {
  HUMMER_TRY(begin_transaction());
  Status status;
  while (status.ok() && sent_ < records.chunks().size()) {
    status = try_send(records.chunks()[sent_], may_hurry);
  }
  if (status.ok()) status = try_note(name);
  HUMMER_TRY(unless_fenced(std::move(status)));
  open_ = name;
  return {};
}

Status Transactions::try_write(const EpochRecords& records, const EpochName& name) {
  if (open_ != name) HUMMER_TRY(try_begin(records, name, false));
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(commit_answer_ms);
  for (;;) {
    const ErrorHandle error(
        rd_kafka_commit_transaction(producer_->client().get(), commit_answer_ms));
    if (!error) {
      has_ended();
      return {};
    }
    // The same commit may be asked for again; it is not another one.
    if (rd_kafka_error_is_retriable(error.get()) && std::chrono::steady_clock::now() < end)
      continue;
    return failed(error.get());
  }
}

}  // namespace hummer::kafka
