#include <hummer/kafka/detail/write_ahead_writer.hpp>

#include <algorithm>
#include <utility>

#include "background.hpp"
#include "epoch_records.hpp"
#include "sink_state.hpp"
#include "transactions.hpp"

namespace hummer::kafka::detail {
namespace {

// Gathered, and not yet librdkafka's: while the thread is busy, and while it waits for a
// checkpoint.
constexpr std::size_t most_unsent_bytes = 8 << 20;
constexpr std::size_t most_waiting_bytes = 32 << 20;
constexpr std::int64_t most_waiting_ns = 1'000'000'000;

}  // namespace

WriteAheadWriter::WriteAheadWriter(const SinkSettings& settings) : settings_(settings) {}

WriteAheadWriter::~WriteAheadWriter() = default;

std::shared_ptr<EpochRecords> WriteAheadWriter::make_records() const {
  return std::make_shared<EpochRecords>(context_->spill_directory(), settings_.held_bytes);
}

Status WriteAheadWriter::restore(OperatorContext& context, ByteReader& in) {
  context_ = &context;
  SinkStateHead head;
  HUMMER_TRY(read_head(in, head));
  for (const std::uint32_t writer : head.writers) {
    transactions_.try_emplace(writer, std::make_unique<Transactions>(settings_, writer));
  }
  std::vector<std::uint32_t> chunks;
  const std::size_t first = pending_.size();
  while (chunks.size() < head.epochs) {
    std::uint32_t& count = chunks.emplace_back();
    Pending& pending = pending_.emplace_back();
    if (!in.get_value(pending.run) || !in.get_value(pending.attempt) ||
        !in.get_value(pending.writer) || !in.get_value(pending.epoch) || !in.get_value(count) ||
        !transactions_.contains(pending.writer)) {
      return undecodable_sink_state();
    }
  }
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    pending_[first + i].records = make_records();
    for (std::uint32_t left = chunks[i]; left > 0; --left) {
      std::string_view bytes;
      if (!in.get_text(bytes)) return undecodable_sink_state();
      HUMMER_TRY(pending_[first + i].records->add_chunk(bytes));
      in.let_go();
    }
  }
  return {};
}

Status WriteAheadWriter::open(OperatorContext& context) {
  context_ = &context;
  last_barrier_ = context_->epoch();
  open_ = make_records();
  const auto self = static_cast<std::uint32_t>(context_->subtask());
  transactions_.try_emplace(self, std::make_unique<Transactions>(settings_, self));
  for (auto& [writer, transactions] : transactions_) {
    HUMMER_TRY(transactions->open(std::max(context_->parallelism(), static_cast<int>(writer) + 1),
                                  {context_->run(), context_->attempt()}));
  }
  std::erase_if(pending_, [&](const Pending& each) {
    return transactions_.at(each.writer)->has_written({each.run, each.attempt, each.epoch});
  });
  std::stable_sort(pending_.begin(), pending_.end(),
                   [](const Pending& a, const Pending& b) { return a.epoch < b.epoch; });
  // Of the others only those are needed that have something to write.
  std::erase_if(transactions_, [&](const auto& each) {
    return each.first != self &&
           std::none_of(pending_.begin(), pending_.end(),
                        [&](const Pending& one) { return one.writer == each.first; });
  });
  HUMMER_TRY(transactions_.at(self)->require_topic());
  background_ = std::make_unique<Background>([this] { context_->wake(); });
  return {};
}

Transactions& WriteAheadWriter::own() {
  return *transactions_.at(static_cast<std::uint32_t>(context_->subtask()));
}

Status WriteAheadWriter::begin_batch() { return take_news(); }

// An epoch that waits for its checkpoint holds the transaction. What is posted behind its commit
// comes when that is done.
bool WriteAheadWriter::has_transaction() const {
  return std::all_of(pending_.begin(), pending_.end(),
                     [](const Pending& each) { return each.is_committing; });
}

void WriteAheadWriter::send_ahead() {
  if (!has_transaction()) return;
  for (; posted_ < open_->complete_chunks(); ++posted_) {
    const EpochChunk& chunk = open_->chunks()[posted_];
    posted_bytes_ += chunk.size_bytes();
    sending_bytes_ += chunk.size_bytes();
    background_->post([this, to = &own(), index = posted_, chunk]() -> Status {
      to->send(index, chunk);
      sending_bytes_ -= chunk.size_bytes();
      return {};
    });
  }
}

void WriteAheadWriter::begin(const Pending& sealed) {
  background_->post([to = transactions_.at(sealed.writer).get(), records = sealed.records,
                     name = EpochName{sealed.run, sealed.attempt, sealed.epoch}]() -> Status {
    to->begin(*records, name);
    return {};
  });
}

bool WriteAheadWriter::has_room() {
  send_ahead();
  const std::size_t unsent = open_->size_bytes() - posted_bytes_ + sending_bytes_;
  if (unsent < most_unsent_bytes) return true;
  if (background_->is_busy()) return false;
  // A checkpoint may never be complete, and the barrier of the next one is behind these records: it
  // is not waited for for long.
  return unsent < most_waiting_bytes || context_->now() - sealed_at_ > most_waiting_ns;
}

bool WriteAheadWriter::add(const Message& message) {
  if (open_->is_at_chunk() && !has_room()) {
    failure_ = {};
    return false;
  }
  Outgoing record = outgoing_of(message, settings_.topic);
  if (record.topic.empty()) {
    failure_ = {ErrorCode::invalid_argument,
                "a record names no topic, and neither does the sink: call message.topic(), or set "
                "SinkSettings::topic"};
  } else {
    failure_ = open_->add(record);
  }
  return failure_.ok();
}

OperatorResult WriteAheadWriter::blocked() {
  return failure_.ok() ? OperatorResult::blocked : context_->fail(failure_);
}

void WriteAheadWriter::seal(std::uint64_t epoch) {
  if (open_->empty()) return;
  const bool has_transaction = this->has_transaction();
  pending_.push_back({.run = context_->run(),
                      .attempt = context_->attempt(),
                      .writer = static_cast<std::uint32_t>(context_->subtask()),
                      .epoch = epoch,
                      .records = std::exchange(open_, make_records())});
  posted_ = posted_bytes_ = 0;
  sealed_at_ = context_->now();
  if (has_transaction) begin(pending_.back());
}

Status WriteAheadWriter::take_news() {
  const auto written = static_cast<std::ptrdiff_t>(written_.exchange(0));
  pending_.erase(pending_.begin(), pending_.begin() + written);
  // Who has nothing to write for them any more gives up the right to: a later subtask has it.
  if (pending_.empty() && transactions_.size() > 1) {
    const auto self = static_cast<std::uint32_t>(context_->subtask());
    std::erase_if(transactions_, [&](const auto& each) { return each.first != self; });
  }
  return background_->failure();
}

// An input that has become inactive is no barrier: what it left belongs to the next one.
OperatorResult WriteAheadWriter::flush() {
  if (context_->epoch() == last_barrier_) return OperatorResult::done;
  const bool waits = background_->is_busy();
  if (Status status = take_news(); !status.ok()) return context_->fail(std::move(status));
  if (waits && !pending_.empty()) return OperatorResult::blocked;
  last_barrier_ = context_->epoch();
  seal(last_barrier_);
  return OperatorResult::done;
}

OperatorResult WriteAheadWriter::end() {
  has_ended_ = true;
  seal(context_->epoch() + 1);
  return OperatorResult::done;
}

Status WriteAheadWriter::snapshot(ByteWriter& out) {
  SinkStateHead head;
  for (const auto& [writer, transactions] : transactions_) head.writers.push_back(writer);
  head.epochs = static_cast<std::uint32_t>(pending_.size());
  write_head(out, head);
  unsaved_.clear();
  saved_chunks_ = 0;
  for (const Pending& each : pending_) {
    out.put_value(each.run);
    out.put_value(each.attempt);
    out.put_value(each.writer);
    out.put_value(each.epoch);
    out.put_value(static_cast<std::uint32_t>(each.records->chunks().size()));
    unsaved_.push_back(each.records);
  }
  return {};
}

OperatorResult WriteAheadWriter::snapshot_rest(ByteWriter& out) {
  std::string space;
  for (const std::size_t begin = out.size(); !unsaved_.empty();) {
    const EpochRecords& records = *unsaved_.front();
    if (saved_chunks_ == records.chunks().size()) {
      unsaved_.erase(unsaved_.begin());
      saved_chunks_ = 0;
      continue;
    }
    if (out.size() - begin >= context_->snapshot_step_bytes()) return OperatorResult::more;
    const Result<std::string_view> chunk = records.chunks()[saved_chunks_++].bytes(space);
    if (!chunk.ok()) return context_->fail(chunk.status());
    out.put_text(*chunk);
  }
  return OperatorResult::done;
}

Status WriteAheadWriter::commit(std::uint64_t epoch) {
  HUMMER_TRY(take_news());
  for (Pending& each : pending_) {
    if (each.is_committing) continue;
    if (each.epoch > epoch) {
      begin(each);
      break;
    }
    each.is_committing = true;
    background_->post([this, to = transactions_.at(each.writer).get(), records = each.records,
                       name = EpochName{each.run, each.attempt, each.epoch}]() -> Status {
      Status status = to->write(*records, name);
      if (status.ok()) ++written_;
      return status;
    });
  }
  send_ahead();
  if (!has_ended_ || !has_transaction()) return {};
  // Nobody asks any more what has become of it.
  HUMMER_TRY(background_->finish());
  return take_news();
}

Status WriteAheadWriter::close() {
  if (!background_) return {};
  own().hurry();
  background_->post([to = &own()]() -> Status {
    to->abort();
    return {};
  });
  const Status status = background_->finish();
  background_.reset();
  transactions_.clear();
  return status;
}

}  // namespace hummer::kafka::detail
